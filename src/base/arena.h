/* SPDX-License-Identifier: Apache-2.0
 *
 * Arenas: memory with a named lifetime, released all at once. An account counts the bytes that the
 * arenas of one session hold and enforces its limit. A work is the recovery point to which control
 * returns if memory is exhausted, so allocation functions never return NULL.
 *
 *   block:  | header | used ........ | red zone | used ... | free ...... |
 *
 * A request above ARENA_BIG gets a block of its own, which arena_grow can resize in place. Ordinary
 * blocks grow with the size of the arena, so large contents lie on few large pages.
 */
#ifndef TFPROF_BASE_ARENA_H
#define TFPROF_BASE_ARENA_H

#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARENA_BLOCK     ((size_t)64 << 10) /* size of the first ordinary blocks */
#define ARENA_BLOCK_MAX ((size_t)8 << 20)  /* size of the last ordinary blocks */
#define ARENA_BIG       ((size_t)16 << 10) /* requests above this have a block of their own */

/* Bytes held by all arenas of a session. Shared by the session's threads. */
struct account {
	atomic_size_t used, peak;
	size_t limit;   /* 0: no limit */
	size_t program; /* part of used: bytes the process held before the account began to count */
	/* If not NULL, the account that is charged. Its limit counts, and it keeps the spare
	 * blocks; this account then has only its own stop and cancel. A parent has no parent. */
	struct account *parent;
	/* If not NULL and set, the work ends at its next block or poll, in the same way as when
	 * memory is exhausted. */
	const atomic_bool *stop;
	/* May be NULL. When set, functions that wait give up and fail. */
	const atomic_bool *cancel;
	/* Mapped blocks kept for reuse (pages.c); not counted as used. */
	atomic_flag spare_busy; /* protects the list */
	struct arena_block *spare;
	unsigned spare_n;
	atomic_size_t spare_bytes;
};
void account_close(struct account *c); /* releases the blocks kept for reuse */
/* Counts the resident memory of the process as used, once. */
void account_add_program(struct account *c);

/* A guard: an object that must be closed, such as an open file, a temporary file or a compiled
 * pattern. A guard belongs to the arena that holds the object (arena_guard), or to one function
 * (work_guard). */
struct guard {
	struct guard *next;
	void (*drop)(void *what);
	void *what;
	uint64_t serial; /* serial number at registration, for guards of an arena */
};

/* One thread of work: the account it charges, and the point to which it returns when memory is
 * exhausted. Lives on the stack of the tfp_ call or of the par_run job. */
struct work {
	struct account *account;
	jmp_buf escape;
	struct guard *guards;  /* guards of functions that have not returned */
	uint64_t pattern_work; /* steps of pattern matching that count against the limit */
};

struct arena_block;
struct arena {
	struct work *work;              /* replaced by each call that uses the arena; never NULL */
	struct arena_block *head, *big; /* newest first */
	size_t ordinary;                /* bytes of ordinary blocks */
	uint64_t serial;      /* number of big blocks and guards created so far; orders them in
	                         time */
	struct guard *guards; /* newest first */
};
struct arena_mark {
	struct arena_block *head;
	uint64_t serial;
	size_t used;
};

void arena_init(struct arena *a, struct work *w);

/* Returns zeroed memory, never NULL, even for size 0. align is a power of two up to 16. Does not
 * return when the limit is reached or the system has no memory left: it then drops all guards of
 * the work and jumps to work->escape. */
void *arena_alloc(struct arena *a, size_t size, size_t align);

/* Returns a zeroed array of n elements. Treats overflow of n * size as exhaustion. */
void *arena_array(struct arena *a, size_t n, size_t size, size_t align);

/* Enlarges p from old to size bytes (contents kept, the rest zeroed). p may be NULL when old is 0;
 * old must be the size with which p was allocated or last grown. Big blocks are resized, the last
 * piece of the newest block grows in place, and all other pieces move. The result is aligned to 16
 * if it moves, otherwise like p. */
void *arena_grow(struct arena *a, void *p, size_t old, size_t size);

char *arena_copy(struct arena *a, const void *p, size_t n);

/* Returns a mark. Between a mark and its reset, memory allocated before the mark must not grow,
 * unless it has a block of its own (larger than ARENA_BIG): such a block survives the reset with
 * its growth. */
struct arena_mark arena_mark(const struct arena *a);
void arena_reset(
        struct arena *a, struct arena_mark m); /* drops everything allocated after the mark */

/* Registers an object that must be closed. drop(object) is called before the arena drops the memory
 * handed out at the time of registration, and (by arena_close) when a work that uses the arena is
 * abandoned. drop must not use the arena. *g may lie in the arena. */
void arena_guard(struct arena *a, struct guard *g, void (*drop)(void *), void *what);
void arena_unguard(struct arena *a, struct guard *g); /* does nothing if *g is not registered */
void arena_close(struct arena *a);                    /* drops all contents, keeps the memory */
void arena_check(struct arena *a); /* for tests: reads all guards and asserts their order */
void arena_clear(struct arena *a); /* keeps one block for the next use */
void arena_free(struct arena *a);

/* Ends the work in the same way as exhaustion. */
_Noreturn void work_escape(struct work *w);
static inline bool work_stopped(const struct work *w)
{
	return w->account->stop && atomic_load_explicit(w->account->stop, memory_order_relaxed);
}
static inline bool work_cancelled(const struct work *w)
{
	return work_stopped(w) || (w->account->cancel && atomic_load(w->account->cancel));
}
/* Checks for a cancel in long loops that allocate nothing. */
static inline void work_poll(struct work *w)
{
	if (work_stopped(w))
		work_escape(w);
}
/* Registers guards of objects on the stack. The function that owns the object must call
 * work_unguard on every path. */
void work_guard(struct work *w, struct guard *g, void (*drop)(void *), void *what);
void work_unguard(struct work *w, struct guard *g);
/* Ends a call or a job whose functions have all returned. Asserts that no guard is left. */
void work_end(struct work *w);

/* An arena of one function, freed at the function's end, or when the work ends early. */
struct scratch {
	struct arena a;
	struct guard guard;
};
void scratch_open(struct scratch *s, struct work *w);
void scratch_close(struct scratch *s);

#define ARENA_NEW(a, type)      ((type *)arena_alloc((a), sizeof(type), _Alignof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_array((a), (n), sizeof(type), _Alignof(type)))

/* ---- vectors ----
 *
 * Growing typed arrays in an arena. Elements are contiguous; a push may invalidate pointers to
 * them. Counts are size_t: the owner checks them against its index type.
 */

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *v;                                                                           \
		size_t n, cap;                                                                     \
	}

/* Grows v to at least `need` elements of `size` bytes, at least doubling it. Updates *cap. If need
 * does not exceed *cap, the caller's sum has overflowed, which is treated like an exhausted memory
 * limit. */
void *vec_grow(struct arena *a, void *v, size_t *cap, size_t need, size_t size);

/* Reserves space for m more elements. */
#define VEC_ROOM(a, x, m)                                                                          \
	((m) > (x)->cap - (x)->n ? (void)((x)->v = vec_grow((a), (x)->v, &(x)->cap, (x)->n + (m),  \
	                                          sizeof *(x)->v))                                 \
	                         : (void)0)
#define VEC_PUSH(a, x, value) (VEC_ROOM(a, x, 1), (x)->v[(x)->n++] = (value))

#endif
