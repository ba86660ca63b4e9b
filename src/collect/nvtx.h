/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges and marks of the program, through our own injection library, without CUPTI.
 */
#ifndef TFPROF_COLLECT_NVTX_H
#define TFPROF_COLLECT_NVTX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "collect/ring.h"

/* ---- nvtx abi ----
 *
 * The binary interface of NVTX 2 and 3 for an injection library: how a module exports its function
 * table, the position of each function, and the event attributes of ranges and marks.
 */

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

/* Functions that the collector implements: table, position, and name. */
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
/* The value that a push returns if depths are not counted. */
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

/* ---- nvtx ---- */

nvtx_init InitializeInjectionNvtx2; /* from inject.c */

/* A function that the collector implements: its module, and its position in the table of the
 * module. */
struct nvtx_row {
	int module;
	unsigned place;
	nvtx_function *function;
};
extern const struct nvtx_row nvtx_rows[NVTX_FUNCTIONS_N];

/* Functions for nvtx_chain, where the program holds handles and ranges of another library. */
bool nvtx_has_domain(const void *);
/* Returns the number of a domain of the collector; 0: the default domain, or NULL. */
uint16_t nvtx_domain_number(const void *);
/* nvtx_domain and nvtx_string return the collector's domain and string for the event's message. */
const void *nvtx_domain(const struct nvtx_event *);
const void *nvtx_string(const struct nvtx_event *);
/* Records an event of the calling thread; value: id of a range or thread. Returns the id, which is
 * created here for a start without one. */
uint64_t nvtx_say(enum ring_kind, uint16_t domain, const struct nvtx_event *, uint64_t value);

/* ---- domains ---- */

/* Domains of NVTX ranges. The program holds addresses in one table, rings hold numbers. Any thread
 * may add a domain. */

/* Returns the domain with a name, and creates it if needed. Returns the default domain if the table
 * is full. */
void *domains_add(const struct name *);
/* True if a pointer from the program is a domain. */
bool domains_has(const void *);
/* Returns the number of a domain; 0: the default domain, or NULL. */
uint16_t domains_number(const void *);
/* Returns the name of a domain as names_number; 0: the default domain, or an unknown one. */
uint32_t domains_name(uint16_t number);

/* ---- nvtx chain ---- */

/* Chains to another injection library for ranges, named by COLLECT_ENV_CHAIN. The program then has
 * that library's handles of domains and strings, so functions that the collector does not implement
 * work as usual. */

/* Installs the collector's functions in the table of one module of the program. Returns false if
 * the module has no such table. */
bool nvtx_fill(nvtx_get_table *);
/* Passes the table of a module to the next NVTX library, which fills it. Returns the result of that
 * library, or 0 if there is none. */
int nvtx_chain_init(nvtx_get_table *);

#endif
