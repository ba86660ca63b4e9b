/* SPDX-License-Identifier: Apache-2.0
 *
 * Decides by their names which calls and slices wait.
 */
#include "trace/pass/depend_internal.h"

/* True if a name contains a word that is not a part of a longer word; case is ignored. */
static bool has_word(struct str name, const char *word)
{
	size_t n = strlen(word);

	for (size_t i = 0; i + n <= name.n; i++) {
		size_t k = 0;
		while (k < n && (name.p[i + k] | 0x20) == word[k])
			k++;
		bool left = i == 0 || !char_is_letter(name.p[i - 1]);
		bool right = i + n == name.n || !char_is_letter(name.p[i + n]);
		if (k == n && left && right)
			return true;
	}
	return false;
}

static bool is_waiting(struct str name)
{
	static const char *const words[] = { "wait", "poll", "join", "acquire" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (has_word(name, words[i]))
			return true;
	return false;
}

static bool is_loader(struct str name)
{
	return str_contains(name, S("DataLoader")) &&
	       (str_contains(name, S("__next__")) || str_contains(name, S("_next_data")));
}

static enum depend_class class_of_call(struct str name)
{
	if (str_contains(name, S("DeviceSynchronize")) || str_contains(name, S("CtxSynchronize")))
		return DEPEND_ALL;
	if (str_contains(name, S("Synchronize")))
		return DEPEND_BLOCKS;
	if (str_contains(name, S("Async")))
		return str_contains(name, S("Memcpy")) ? DEPEND_COPIES : DEPEND_PLAIN;
	if (str_contains(name, S("Memcpy")))
		return DEPEND_COPIES;
	return str_ends(name, S("Free")) || str_ends(name, S("MemFree_v2")) ? DEPEND_BLOCKS
	                                                                    : DEPEND_PLAIN;
}

static enum depend_class class_of(const struct trace *t, const struct trace_event *e)
{
	struct str name = trace_str(t, e->name);
	bool work = trace_category_flags[e->category] & CATEGORY_WORK && e->category != CATEGORY_OP;

	if (is_loader(name))
		return DEPEND_LOADS;
	if (e->category == CATEGORY_OVERHEAD && str_contains(name, S("Command Buffer Full")))
		return DEPEND_FULL;
	if (e->category == CATEGORY_SYNC && t->source == TRACE_ONNXRUNTIME)
		return DEPEND_COPIES; /* the thread waits for the node that it launched */
	if (e->category == CATEGORY_CALL) {
		enum depend_class class = class_of_call(name);
		if (class != DEPEND_PLAIN)
			return class;
	}
	return !work && is_waiting(name) ? DEPEND_WAITS : DEPEND_PLAIN;
}

/* ---- copies ---- */

#define COPY_STAGED 65536 /* bytes of pageable memory that a call leaves to the driver */

static bool is_awaited(const struct trace *t, const struct slice *copy)
{
	int64_t bytes;

	return slice_is_pageable(t, copy) == 1 &&
	       (!str_contains(trace_str(t, copy->name), S("HtoD")) ||
	               !slice_has_int(t, copy, ARG_BYTES, &bytes) || bytes > COPY_STAGED);
}

void depend_find_copies(
        const struct trace *t, const struct trace_links *links, struct imap *out, struct arena *a)
{
	imap_init(out, a);
	for (uint32_t i = 0; i < t->tracks.n; i++) {
		struct slice_iter it = trace_slices_if(t, i, CATEGORY_BIT(CATEGORY_COPY));
		if (!track_is_device(&t->tracks.v[i]))
			continue;
		for (struct slice s; slice_next(&it, &s);) {
			const struct launch *l = s.category == CATEGORY_COPY && is_awaited(t, &s)
			                                 ? link_launch(links, &s)
			                                 : NULL;
			if (l && slice_end(&s) <= launch_end(links, l))
				imap_put(out, l->slice, 1, true);
		}
	}
}

bool depend_copy_waits(
        const struct trace *t, uint32_t event, uint32_t slice, const struct imap *copies)
{
	uint32_t found;

	return !str_contains(trace_str(t, t->events.v[event].name), S("Async")) ||
	       imap_get(copies, slice, &found);
}

/* ---- classes of events ---- */

uint8_t *depend_classes(const struct trace *t, struct arena *a)
{
	uint8_t *v = ARENA_ARRAY(a, t->events.n, uint8_t);

	for (size_t i = 0; i < t->events.n; i++)
		v[i] = (uint8_t)class_of(t, &t->events.v[i]);
	return v;
}
