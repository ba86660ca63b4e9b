/* SPDX-License-Identifier: Apache-2.0
 *
 * Time of threads before launches that the device waited for, if no other cause owns it: of
 * launches one by one, with the latency of launches, or of other work of the host. Where the device
 * had other work meanwhile, the host was early enough.
 *
 *   thread  | launch a |  time  | launch b |       The time belongs to launch_bound if b launches
 *   device      | a |              | b |           less work than the thread took since a, and the
 *                                                  thread took less than PAUSE_US. A graph is not
 *                                                  launched kernel by kernel: this time is
 * host_work.
 */
#include "why/why_internal.h"

#define PAUSE_US 1000 /* a longer pause is work of the host; a launch takes 2 to 100 us in all */

/* The nodes of a thread from one launch to the next, or to a node for which another thread waited
 * before that thread's next launch. */
struct late_span {
	uint32_t first, n;
	int64_t host;     /* time of these nodes that no cause owns */
	int64_t launched; /* work of the launch at the end of the span; -1: none */
	bool late;        /* true: the device waited for this launch */
	bool graph;       /* true: the span launched a graph */
};

/* Finds the span that begins at a node of a track. */
static struct late_span next_span(const struct why_scene *s, uint32_t first, uint32_t end)
{
	struct late_span x = { .first = first, .launched = -1 };

	for (uint32_t i = first; i < end; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		x.n++;
		if (why_owner(s, i) == WHY_IDS)
			x.host = num_add(x.host, n->end - n->start);
		uint32_t launch = s->launches[i] ? i : s->handed[i];
		if (launch != ID_NONE) {
			x.launched = s->launched[launch];
			x.late = s->late[launch];
			x.graph = why_launches_graph(s, launch);
			break;
		}
	}
	return x;
}

static bool is_launching(const struct why_scene *s, const struct late_span *x)
{
	return x->launched >= 0 && x->launched < x->host && !x->graph &&
	       x->host < PAUSE_US * s->t->ticks_per_us;
}

/* Removes the unowned time from the spans of one kind. */
static void remove_spans(const struct why_scene *s, struct why_change *out, bool launching)
{
	for (size_t k = 0; k < s->t->tracks.n; k++) {
		const struct depend_track *track = &s->d->tracks[k];
		uint32_t end = track->first + track->n;
		for (uint32_t i = track->first; track->host && i < end;) {
			struct late_span x = next_span(s, i, end);
			for (uint32_t n = x.first; n < x.first + x.n; n++)
				if (x.late && is_launching(s, &x) == launching &&
				        why_owner(s, n) == WHY_IDS)
					why_shorten(s, out, n, 0);
			i += x.n;
		}
	}
}

void why_own_launches(const struct why_scene *s, uint8_t *owners)
{
	for (size_t k = 0; k < s->t->tracks.n; k++) {
		const struct depend_track *track = &s->d->tracks[k];
		uint32_t end = track->first + track->n;
		for (uint32_t i = track->first; track->host && i < end;) {
			struct late_span x = next_span(s, i, end);
			for (uint32_t n = x.first; n < x.first + x.n && x.launched >= 0; n++)
				if (owners[n] == WHY_IDS)
					owners[n] = is_launching(s, &x) ? WHY_launch_bound
					                                : WHY_host_work;
			i += x.n;
		}
	}
}

bool why_has_launches(const struct why_scene *s)
{
	for (size_t i = 0; i < s->d->nodes.n; i++)
		if (s->launches[i])
			return true;
	return false;
}

void why_find_launch_bound(const struct why_scene *s, struct why_change *out)
{
	if (!why_has_launches(s) || s->t->source == TRACE_ONNXRUNTIME) {
		out->reason = S("the file does not say which call launched which work");
		return;
	}
	remove_spans(s, out, true);
	out->plan.no_latency = out->cost > 0;
}

void why_find_host_work(const struct why_scene *s, struct why_change *out)
{
	remove_spans(s, out, false);
}

/* ---- advice ---- */

const char *why_call_advice(struct str name)
{
	static const struct {
		const char *word, *advice;
	} rows[] = {
		{ "Launch", "a launch takes long if it loads the code of its kernel, or waits for "
		            "another thread in the driver. Run each kernel once before the "
		            "measured steps, and launch from one thread." },
		{ "Memcpy", "the call blocks while it copies from or to pageable memory. Use "
		            "pinned memory and asynchronous copies (PyTorch: pin_memory=True, "
		            "non_blocking=True)." },
		{ "Module", "the call loads code. Load it before the measured steps." },
		{ "Library", "the call loads code. Load it before the measured steps." },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_contains(name, str_of(rows[i].word)))
			return rows[i].advice;
	return "make this call once before the steps and keep its result, or make it less often.";
}
