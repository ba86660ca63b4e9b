/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the files of the causes.
 */
#ifndef TFPROF_WHY_WHY_INTERNAL_H
#define TFPROF_WHY_WHY_INTERNAL_H

#include "why/why.h"

/* The steps that are examined, and the owners of time. */
struct peak;
struct why_scene {
	const struct rank_group *job;
	uint32_t index; /* index of the replay in the job */
	const struct replay *x;
	const struct depend *d;
	const struct trace *t;
	const struct critical_window *windows; /* the chosen windows, sorted by start; their member
	                                          step is the index of the window */
	const struct peak **peaks;             /* of each device; NULL: unknown */
	uint8_t *owners;                       /* indexed by context: enum why_id, or WHY_IDS */
	int64_t *launched;  /* indexed by node: ticks of the device work that the node launched */
	uint32_t *launches; /* indexed by node: number of pieces of this work */
	bool *late;         /* indexed by node: true if the device work waited only for its
	                       launch */
	uint32_t *handed;   /* indexed by node: next launch of a thread that waited for the node, or
	                       ID_NONE */
	int64_t *overhead;  /* indexed by node: ticks of the profiler's own work; may be NULL */
	int64_t *last_launch;    /* indexed by window: start of its last launch, or INT64_MIN */
	struct why_calls *calls; /* calls of each op and function */
	uint32_t *call_of;       /* indexed by context: index in calls, or ID_NONE */
	int64_t first_work;      /* start of the first device work; INT64_MAX: none */
	struct arena *a;
};

/* A change of the recorded times, and its cost. */
struct why_change {
	struct replay_plan plan;
	struct str reason; /* reason why the cause cannot be judged; p is NULL if it can */
	struct str assumed;
	struct str
	        detail; /* what the places have in common; p is NULL if there is nothing to say */
	bool bound;
	int64_t cost;  /* summed over the chosen windows */
	int64_t again; /* part of the cost that steady steps are known to repeat */
	bool *tracks;  /* indexed by track: true if it has a part of the cost; NULL: no track has */
	int64_t saved; /* the saving of a cause that needs no replay; INT64_MIN: the replay computes
	                  it */
	const char *advice; /* advice for this file, which replaces the advice of the cause; NULL:
	                       none */
	struct str at;      /* text before the names of places; p is NULL if there is none */
	struct intern names;
	VEC(struct why_place) places;
	struct arena *a;
};

/* Opens a scene, allocated in a. */
void why_scene_open(
        struct why_scene *s, const struct rank_group *job, uint32_t index, struct arena *a);

/* Finds the first call of each op and function, for the scene. */
void why_find_first_calls(struct why_scene *s);

/* True if a node with this time is part of a first call that takes far longer than the later calls.
 * If there is only one call, it must lie before all device work. */
bool why_is_start_up_call(const struct why_scene *s, uint32_t node, int64_t ticks);

/* Returns the cause of each node, or WHY_IDS, in a: the owner of host time, otherwise the first
 * cause that at least halves the node. of: flags, indexed by cause, for the latter causes; NULL:
 * all causes. */
uint8_t *why_node_owners(const struct why_scene *s, const bool *of, struct arena *a);

/* Returns the host time of the critical path that belongs to no reported cause. The name is a
 * string of the trace. */
struct why_rest why_rest_of_path(const struct why_scene *s, const bool *reported, struct arena *a);

/* Returns the change that removes a cause, in a. */
struct why_change why_change_of(const struct why_scene *s, enum why_id id, struct arena *a);

/* Returns the chosen window in which a node starts, an element of the scene's windows, or NULL. */
const struct critical_window *why_window_around(const struct why_scene *s, uint32_t node);

/* Returns the index of the window in which a node starts among the replay's windows, or ID_NONE. */
uint32_t why_window(const struct why_scene *s, uint32_t node);

/* Returns the owner of a node of a thread, or WHY_IDS. */
enum why_id why_owner(const struct why_scene *s, uint32_t node);

/* Changes the length of a node, but keeps the time of the profiler's own work; the removed time is
 * added to the place. */
void why_shorten(const struct why_scene *s, struct why_change *c, uint32_t node, int64_t length);

/* Multiplies the length of a node by a factor, which may be above 1. Otherwise like why_shorten. */
void why_scale(const struct why_scene *s, struct why_change *c, uint32_t node, double factor);

/* Changes the length of a node like why_shorten, but also removes the time of the profiler's own
 * work. */
void why_shorten_all(
        const struct why_scene *s, struct why_change *c, uint32_t node, int64_t length);

/* Removes the waits for devices from a node of a thread; the wait before the node is added to its
 * place. */
void why_unblock(const struct why_scene *s, struct why_change *c, uint32_t node);

/* Removes all time of threads that a cause owns, with its waits. */
void why_remove_owned(const struct why_scene *s, struct why_change *c, enum why_id id);

/* True if a synchronisation edge leads to the node. */
bool why_waits_for_device(const struct why_scene *s, uint32_t node);

/* Assigns the time of threads before launches that no cause owns to launch_bound or host_work,
 * whether or not a device waited for it. owners: the owner of each node. */
void why_own_launches(const struct why_scene *s, uint8_t *owners);

/* Returns what people do about a call of the driver that takes long; continues "NAME: ". */
const char *why_call_advice(struct str name);

/* True if a node is a call that launches a graph. */
bool why_launches_graph(const struct why_scene *s, uint32_t node);

/* True if the launch of some work is known. */
bool why_has_launches(const struct why_scene *s);

/* True if the file shows that devices wait for at least half of the communication time, through
 * events or later work on the same stream. */
bool why_streams_wait(const struct why_scene *s, struct arena *a);

/* Returns "; X records it with ...", how to record which streams wait for work of other streams;
 * empty if the format cannot say it. */
const char *why_wait_cure(const struct why_scene *s);

/* Returns a time as text, such as "1.25ms"; in a. */
struct str why_time(const struct why_scene *s, int64_t ticks, struct arena *a);

/* Returns the name of an event. */
struct str why_name(const struct why_scene *s, uint32_t event);

/* True if a name contains one of the words. */
bool why_has(struct str name, const char *const *words, size_t n);

/* Returns the share of the multiprocessors for which a kernel has blocks, at most 1; 0: unknown. */
double why_grid_share(const struct why_scene *s, const struct depend_node *n);

/* Device work, and the parts of it that are known to be matrix products (which attention and
 * convolutions are, too) and other work; ticks. */
struct why_matrix {
	int64_t matrix, other, all;
};
struct why_matrix why_matrix_work(const struct why_scene *s, struct arena *a);

/* True if a kernel converts the layout of tensors. */
bool why_converts_layout(const struct why_scene *s, const struct depend_node *n);

#define CAUSE(name, ...)                                                                           \
	void why_find_##name(const struct why_scene *s, struct why_change *out);                   \
	bool why_owns_##name(const struct why_scene *s, uint32_t event);
#include "why/cause.def"
#undef CAUSE

#endif
