/* SPDX-License-Identifier: Apache-2.0
 *
 * Python pickles of plain data, protocols 0 to 5: numbers, texts, lists, dicts and tuples. Nothing
 * in a pickle is executed: opcodes that import names, call functions or build objects are refused,
 * without exceptions, because no supported file needs them.
 *
 * No list and no dict is built. When the pickler has stored a container in the one around it, its
 * items are passed to the caller, which returns a value that represents the container from then
 * on, including later references in the pickle:
 *
 *   {"action": "alloc", "addr": 4096}    close(DICT, "action" "alloc" "addr" 4096) -> object 17
 *   [17, 18, 19]                         close(LIST, objects 17 to 19)             -> object 0
 */
#ifndef TFPROF_IO_PICKLE_H
#define TFPROF_IO_PICKLE_H

#include "base/map.h"
#include "base/note.h"
#include "io/src.h"

#define PICKLE_TEXT_MAX  ((size_t)1 << 20) /* limit for a text; longer texts are refused */
#define PICKLE_OPEN_MAX  16384u            /* containers that are not stored in another one yet */
#define PICKLE_STACK_MAX ((size_t)1 << 20) /* maximum number of values on the stack */
#define PICKLE_DEPTH_MAX 1000u             /* maximum number of MARKs on the stack */

enum pickle_type {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_INT,
	PICKLE_REAL,
	PICKLE_TEXT,
	PICKLE_BYTES, /* their content is skipped */
	PICKLE_OBJECT,
	PICKLE_TUPLE,
	PICKLE_LIST,
	PICKLE_DICT
};

/* A value. In a list, equal objects of the caller with consecutive ids are stored as one value. */
struct pickle_value {
	uint8_t type; /* enum pickle_type */
	uint8_t kind; /* for an object: the caller's kind */
	uint32_t n;   /* for an object: number of consecutive objects, at least 1 */
	union {
		int64_t i; /* also for PICKLE_BOOL; unsigned numbers above INT64_MAX wrap */
		double real;
		uint64_t id; /* for a text: id among the interned texts; for an object: below
		                2^48 */
	};
};

/* Items of a container. */
struct pickle_items {
	struct pickle_value *v;
	size_t n, cap;
};
/* Appends an item, or extends the last item if the new object continues it and the index of the
 * last item is at least `from`. */
void pickle_add_item(
        struct arena *a, struct pickle_items *to, size_t from, const struct pickle_value *v);

/* A container whose items are complete. */
struct pickle_container {
	enum pickle_type type;
	bool whole;                   /* false: the file ends inside the container */
	uint64_t around;              /* number of the container in which it is stored; 0:
	                                 unknown */
	const struct pickle_value *v; /* keys and values of a dict alternate */
	size_t n;
};

struct pickle_caller {
	/* Replaces a container by *out: a text, an object or nothing (PICKLE_NONE, the initial
	 * value). Returning false ends the reading (*e of the src is filled). */
	bool (*close)(void *user, const struct pickle_container *c, struct pickle_value *out);
	void *user;
	struct intern *texts;
	struct notes *notes; /* receives notes about flaws of JSON */
	const char *what;    /* kind of the file, for messages: "snapshot" */
};

/* Reads one pickle. *root becomes its value. Returns false with *e of the src filled. With *cut,
 * the file ended early and recover is set for the src: all data before the end has been closed, and
 * the result is true. */
bool pickle_read(struct src *s, const struct pickle_caller *caller, struct pickle_value *root,
        bool *cut, struct arena *a);

/* Reads a pickle like pickle_read, or a JSON file with the same values, in which tuples are
 * lists. */
bool pickle_read_either(struct src *s, const struct pickle_caller *caller,
        struct pickle_value *root, bool *cut, struct arena *a);

/* True if the bytes begin like a JSON object. */
bool pickle_is_json(struct str head);
/* True if the bytes begin like a pickle of a dict, in any protocol. */
bool pickle_begins_dict(struct str head);

#endif
