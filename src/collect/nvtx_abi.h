/* SPDX-License-Identifier: Apache-2.0
 *
 * The binary interface of NVTX 2 and 3 for an injection library: how a module exports its function
 * table, the position of each function, and the event attributes of ranges and marks.
 */
#ifndef TFPROF_COLLECT_NVTX_ABI_H
#define TFPROF_COLLECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef const void *nvtx_get_table(uint32_t id);
typedef int nvtx_init(nvtx_get_table *);
typedef void nvtx_function(void);
enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_CORE = 1, NVTX_CORE2 = 5 };

struct nvtx_callbacks {
	size_t size;
	int (*module)(int module, void (****table)(void), unsigned *count);
};

/* Positions in the table of NVTX_CORE. */
enum {
	NVTX_MARK_EX = 1,
	NVTX_MARK_A,
	NVTX_MARK_W,
	NVTX_START_EX,
	NVTX_START_A,
	NVTX_START_W,
	NVTX_END,
	NVTX_PUSH_EX,
	NVTX_PUSH_A,
	NVTX_PUSH_W,
	NVTX_POP,
	NVTX_NAME_THREAD_A = 14,
	NVTX_NAME_THREAD_W,
};

/* Positions in the table of NVTX_CORE2. */
enum {
	NVTX_DOMAIN_MARK_EX = 1,
	NVTX_DOMAIN_START_EX,
	NVTX_DOMAIN_END,
	NVTX_DOMAIN_PUSH_EX,
	NVTX_DOMAIN_POP,
	NVTX_DOMAIN_REGISTER_A = 10,
	NVTX_DOMAIN_REGISTER_W,
	NVTX_DOMAIN_CREATE_A,
	NVTX_DOMAIN_CREATE_W,
};

/* Functions that we implement: table, position, and our name. */
#define NVTX_FUNCTIONS(F)                                                                          \
	F(NVTX_CORE, NVTX_MARK_EX, mark_ex)                                                        \
	F(NVTX_CORE, NVTX_MARK_A, mark_a)                                                          \
	F(NVTX_CORE, NVTX_MARK_W, mark_w)                                                          \
	F(NVTX_CORE, NVTX_START_EX, start_ex)                                                      \
	F(NVTX_CORE, NVTX_START_A, start_a)                                                        \
	F(NVTX_CORE, NVTX_START_W, start_w)                                                        \
	F(NVTX_CORE, NVTX_END, end_core)                                                           \
	F(NVTX_CORE, NVTX_PUSH_EX, push_ex)                                                        \
	F(NVTX_CORE, NVTX_PUSH_A, push_a)                                                          \
	F(NVTX_CORE, NVTX_PUSH_W, push_w)                                                          \
	F(NVTX_CORE, NVTX_POP, pop_core)                                                           \
	F(NVTX_CORE, NVTX_NAME_THREAD_A, name_thread_a)                                            \
	F(NVTX_CORE, NVTX_NAME_THREAD_W, name_thread_w)                                            \
	F(NVTX_CORE2, NVTX_DOMAIN_MARK_EX, domain_mark_ex)                                         \
	F(NVTX_CORE2, NVTX_DOMAIN_START_EX, domain_start_ex)                                       \
	F(NVTX_CORE2, NVTX_DOMAIN_END, domain_end)                                                 \
	F(NVTX_CORE2, NVTX_DOMAIN_PUSH_EX, domain_push_ex)                                         \
	F(NVTX_CORE2, NVTX_DOMAIN_POP, domain_pop)                                                 \
	F(NVTX_CORE2, NVTX_DOMAIN_REGISTER_A, register_a)                                          \
	F(NVTX_CORE2, NVTX_DOMAIN_REGISTER_W, register_w)                                          \
	F(NVTX_CORE2, NVTX_DOMAIN_CREATE_A, domain_create_a)                                       \
	F(NVTX_CORE2, NVTX_DOMAIN_CREATE_W, domain_create_w)
#define NVTX_INDEX(table, place, name) NVTX_I_##name,
enum nvtx_index { NVTX_FUNCTIONS(NVTX_INDEX) NVTX_FUNCTIONS_N };
#undef NVTX_INDEX

enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_WIDE = 2, NVTX_MESSAGE_REGISTERED = 3 };
/* Return value of a push if depths are not counted. */
enum { NVTX_NO_DEPTH = -2 };

struct nvtx_event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;     /* not recorded */
	int32_t message_type; /* 32 */
	union {
		const char *ascii;
		const wchar_t *wide;
		const void *registered;
	} message; /* 40 */
};

#endif
