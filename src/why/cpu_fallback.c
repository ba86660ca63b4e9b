/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes of ONNX Runtime that its CPU provider executes although the session has another provider,
 * and the nodes that copy tensors between the providers. The executor runs the nodes one after
 * another, so the run would be shorter by their time.
 */
#include "why/why_internal.h"

#define HAS(name, words) why_has(name, words, sizeof(words) / sizeof *(words))

/* Returns an argument that all slices of an event share. */
static struct str text_of(const struct why_scene *s, uint32_t event, uint32_t key)
{
	const struct slice slice = { .event = event };

	return slice_text(s->t, &slice, key);
}

/* True if a node copies tensors between providers. */
static bool copies_tensors(const struct why_scene *s, uint32_t event)
{
	static const char *const words[] = { "MemcpyToHost", "MemcpyFromHost" };

	return HAS(text_of(s, event, ARG_OP_TYPE), words);
}

bool why_owns_cpu_fallback(const struct why_scene *s, uint32_t event)
{
	return s->t->source == TRACE_ONNXRUNTIME &&
	       (copies_tensors(s, event) || str_starts(text_of(s, event, ARG_PROVIDER), S("CPU")));
}

/* Removes copies that devices execute. Returns the number of all copies in the chosen runs. */
static size_t remove_copies(const struct why_scene *s, struct why_change *out)
{
	size_t copies = 0;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->event == ID_NONE || why_window(s, i) == ID_NONE ||
		        !copies_tensors(s, n->event))
			continue;
		copies++;
		if (!n->host)
			why_shorten(s, out, i, 0);
	}
	return copies;
}

void why_find_cpu_fallback(const struct why_scene *s, struct why_change *out)
{
	if (s->t->source != TRACE_ONNXRUNTIME)
		return;
	why_remove_owned(s, out, WHY_cpu_fallback);
	size_t copies = remove_copies(s, out);
	if (copies)
		out->detail =
		        str_fmt(out->a, "%zu of the nodes copy tensors between providers", copies);
	else if (out->cost)
		out->detail = S("the CPU provider executes them");
	out->bound = true;
}
