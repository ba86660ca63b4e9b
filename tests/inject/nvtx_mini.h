/* SPDX-License-Identifier: Apache-2.0
 *
 * A small NVTX for programs: each file that includes this header is a module with a table of its
 * own. When the first function is called, the library that NVTX_INJECTION64_PATH names fills the
 * table. Written from the published interface.
 */
#ifndef INJECT_NVTX_MINI_H
#define INJECT_NVTX_MINI_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void (*mini_function)(void);

static mini_function mini_core_slot[16], mini_core2_slot[16];
static mini_function *mini_core[16], *mini_core2[16];

static inline int mini_module(int module, mini_function ***table, unsigned *count)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? mini_core : mini_core2;
	*count = 16;
	return 1;
}

static const struct {
	size_t size;
	int (*module)(int, mini_function ***, unsigned *);
} mini_callbacks = { sizeof mini_callbacks, mini_module };

static inline const void *mini_export(uint32_t id)
{
	return id == 1 ? &mini_callbacks : NULL;
}

static inline void mini_init(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *h = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*begin)(const void *(*)(uint32_t)) =
	        h ? (int (*)(const void *(*)(uint32_t)))dlsym(h, "InitializeInjectionNvtx2") : NULL;

	for (int i = 0; i < 16; i++) {
		mini_core[i] = &mini_core_slot[i];
		mini_core2[i] = &mini_core2_slot[i];
	}
	if (begin && !begin(mini_export))
		dlclose(h);
}

static inline void mini_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, mini_init);
}

struct mini_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t message_type;
	const void *message;
};

#define MINI_EVENT(type, text)                                                                     \
	(&(struct mini_event){ .version = 3,                                                       \
	        .size = sizeof(struct mini_event),                                                 \
	        .category = 4,                                                                     \
	        .payload_type = 1,                                                                 \
	        .payload = 42,                                                                     \
	        .message_type = (type),                                                            \
	        .message = (text) })
#define MINI_CALL(table, place, type, otherwise, ...)                                              \
	(mini_once(), table[place] ? ((type)table[place])(__VA_ARGS__) : (otherwise))
#define MINI_DO(table, place, type, ...)                                                           \
	do {                                                                                       \
		mini_once();                                                                       \
		if (table[place])                                                                  \
			((type)table[place])(__VA_ARGS__);                                         \
	} while (0)

#define mini_push(text)   MINI_CALL(mini_core_slot, 9, int (*)(const char *), -2, text)
#define mini_push_w(text) MINI_CALL(mini_core_slot, 10, int (*)(const wchar_t *), -2, text)
#define mini_push_ex(e)   MINI_CALL(mini_core_slot, 8, int (*)(const struct mini_event *), -2, e)
#define mini_pop()        MINI_CALL(mini_core_slot, 11, int (*)(void), -2)
#define mini_start(text)  MINI_CALL(mini_core_slot, 5, uint64_t (*)(const char *), 0, text)
#define mini_end(id)      MINI_DO(mini_core_slot, 7, void (*)(uint64_t), id)
#define mini_mark(text)   MINI_DO(mini_core_slot, 2, void (*)(const char *), text)
#define mini_thread(id, text)                                                                      \
	MINI_DO(mini_core_slot, 14, void (*)(uint32_t, const char *), id, text)
#define mini_domain(text) MINI_CALL(mini_core2_slot, 12, void *(*)(const char *), NULL, text)
#define mini_string(domain, text)                                                                  \
	MINI_CALL(mini_core2_slot, 10, void *(*)(void *, const char *), NULL, domain, text)
#define mini_domain_push(domain, e)                                                                \
	MINI_CALL(mini_core2_slot, 4, int (*)(void *, const struct mini_event *), -2, domain, e)
#define mini_domain_pop(domain) MINI_CALL(mini_core2_slot, 5, int (*)(void *), -2, domain)

#endif
