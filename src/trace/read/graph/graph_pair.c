/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs the work of a launched graph with the calls that were captured, by the names of kernels. A
 * pair is marked ambiguous if the names allow another one.
 */
#include "trace/read/graph/graph_internal.h"

#include "base/sort.h"

/* One of LOST_PER calls may be without work, because profilers lose records. A capture of another
 * graph differs more: by 3 of 15 calls in real traces. */
#define LOST_PER 30
#define LOST_MIN 10 /* calls; a shorter capture must be complete */

struct pair_state {
	const struct pairing_request *request;
	struct graph_pairing *out;
	struct arena *a;
};

static uint32_t call_token(const struct pair_state *x, size_t i)
{
	return x->request->calls[i].token;
}

static void reset(struct pair_state *x)
{
	memset(x->out->call, 0, x->request->n * sizeof *x->out->call);
	memset(x->out->ambiguous, 0, x->request->n * sizeof *x->out->ambiguous);
}

/* ---- in order ---- */

/* The work of a stream, in order. */
struct stream_queue {
	uint32_t *work;
	size_t n, at;
};

static struct stream_queue *make_queues(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	struct stream_queue *q = ARENA_ARRAY(x->a, request->n_streams, struct stream_queue);

	for (size_t i = 0; i < request->n; i++)
		q[request->streams[i]].n++;
	for (size_t s = 0; s < request->n_streams; s++) {
		q[s].work = ARENA_ARRAY(x->a, q[s].n, uint32_t);
		q[s].n = 0;
	}
	for (uint32_t i = 0; i < request->n; i++) {
		struct stream_queue *to = &q[request->streams[i]];
		to->work[to->n++] = i;
	}
	return q;
}

/* Returns the number of consecutive calls whose names equal the names of the next work of a
 * stream. */
static size_t in_step(const struct pair_state *x, const struct stream_queue *q, size_t call)
{
	size_t k = 0;

	while (q->at + k < q->n && call + k < x->request->m &&
	        x->request->work[q->work[q->at + k]] == call_token(x, call + k))
		k++;
	return k;
}

/* Marks the work whose name is on several streams. */
static void mark_shared_names(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	struct imap stream_of;
	uint32_t stream;

	imap_init(&stream_of, x->a);
	for (size_t i = 0; i < request->n; i++)
		if (imap_get(&stream_of, request->work[i], &stream) &&
		        stream != request->streams[i])
			imap_put(&stream_of, request->work[i], (uint32_t)request->n_streams, true);
		else
			imap_put(&stream_of, request->work[i], request->streams[i], false);
	for (size_t i = 0; i < request->n; i++)
		x->out->ambiguous[i] |= imap_get(&stream_of, request->work[i], &stream) &&
		                        stream == request->n_streams && x->out->call[i];
}

/* Assigns each call to the stream whose next work has the call's name; among several, to the stream
 * that agrees with the calls longest. Returns false if there is none. */
static bool pair_in_order(struct pair_state *x)
{
	struct stream_queue *q = make_queues(x);
	bool choice = false;

	for (size_t i = 0; i < x->request->m; i++) {
		size_t best = 0, stream = 0, options = 0;
		for (size_t s = 0; s < x->request->n_streams; s++) {
			size_t k = in_step(x, &q[s], i);
			options += k > 0;
			stream = k > best ? s : stream;
			best = k > best ? k : best;
		}
		if (!best)
			return false;
		choice |= options > 1;
		x->out->call[q[stream].work[q[stream].at++]] = (uint32_t)i + 1;
	}
	if (choice)
		mark_shared_names(x);
	return true;
}

/* ---- by name ---- */

static int by_token(const void *v, uint32_t a, uint32_t b)
{
	const uint32_t *token = v;

	return token[a] != token[b] ? (token[a] < token[b] ? -1 : 1) : (a > b) - (a < b);
}

/* Pairs the n-th work with a name with the n-th call of that name. Returns false if a name has more
 * work than calls. */
static bool pair_by_name(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	uint32_t *tokens = ARENA_ARRAY(x->a, request->m, uint32_t);
	const uint32_t *work = sort_order(x->a, request->n, by_token, request->work);

	for (size_t i = 0; i < request->m; i++)
		tokens[i] = call_token(x, i);
	const uint32_t *calls = sort_order(x->a, request->m, by_token, tokens);
	for (size_t i = 0, k = 0; i < request->n;) {
		uint32_t token = request->work[work[i]];
		while (k < request->m && tokens[calls[k]] < token)
			k++;
		size_t end = k;
		while (end < request->m && tokens[calls[end]] == token)
			end++;
		bool several = end - k > 1;
		for (; i < request->n && request->work[work[i]] == token; i++, k++) {
			if (k == end)
				return false;
			x->out->call[work[i]] = calls[k] + 1;
			x->out->ambiguous[work[i]] = several;
		}
		k = end;
	}
	return true;
}

/* ---- lost kernels ---- */

/* Finds the earliest and the latest calls with the names of the work, in order. */
static bool pair_with_gaps(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	size_t k = 0;

	for (size_t i = 0; i < request->n; i++, k++) {
		while (k < request->m && call_token(x, k) != request->work[i])
			k++;
		if (k == request->m)
			return false;
		x->out->call[i] = (uint32_t)k + 1;
	}
	k = request->m;
	for (size_t i = request->n; i-- > 0;) {
		while (call_token(x, --k) != request->work[i])
			;
		x->out->ambiguous[i] = k + 1 != x->out->call[i];
	}
	return true;
}

static bool pair_lost(struct pair_state *x)
{
	size_t lost = x->request->m - x->request->n, most = x->request->m / LOST_PER;

	if (x->request->m < LOST_MIN || lost > (most ? most : 1))
		return false;
	return x->request->n_streams == 1 ? pair_with_gaps(x) : pair_by_name(x);
}

/* ---- without names ---- */

/* Pairs by position alone: without names, only kernels, copies and memsets are distinguished. */
static bool pair_count(struct pair_state *x)
{
	uint32_t *work = ARENA_ARRAY(x->a, x->request->n, uint32_t);
	uint32_t *streams = ARENA_ARRAY(x->a, x->request->n, uint32_t);
	struct capture_call *calls = ARENA_ARRAY(x->a, x->request->m, struct capture_call);
	struct pairing_request plain = { work, streams, NULL, x->request->n, 1, calls,
		x->request->m, .named = true };
	struct pair_state y = { &plain, x->out, x->a };

	for (size_t i = 0; i < x->request->n; i++)
		work[i] = x->request->work[i] < TOKEN_KERNEL ? TOKEN_KERNEL : x->request->work[i];
	for (size_t i = 0; i < x->request->m; i++)
		calls[i].token = call_token(x, i) < TOKEN_KERNEL ? TOKEN_KERNEL : call_token(x, i);
	if (pair_in_order(&y))
		return true;
	reset(x);
	return pair_by_name(&y);
}

/* ---- graph nodes ---- */

static int by_node(const void *v, uint32_t a, uint32_t b)
{
	const int64_t *node = v;

	return node[a] != node[b] ? (node[a] < node[b] ? -1 : 1) : (a > b) - (a < b);
}

/* Orders the work by its graph nodes, whose ids ascend in the order of their capture. Returns NULL
 * if a piece of work has no node, or two pieces have the same node. */
static const uint32_t *order_by_node(const struct pair_state *x)
{
	const int64_t *nodes = x->request->nodes;
	size_t n = x->request->n;
	const uint32_t *order;

	for (size_t i = 0; i < n; i++)
		if (!nodes || !nodes[i])
			return NULL;
	order = sort_order(x->a, n, by_node, nodes);
	for (size_t i = 1; i < n; i++)
		if (nodes[order[i]] == nodes[order[i - 1]])
			return NULL;
	return order;
}

/* Pairs the work in the order of its graph nodes, which does not depend on streams and times. */
static enum pair_how pair_by_node(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	const uint32_t *order = order_by_node(x);
	size_t n = request->n;
	struct graph_pairing out = { .call = ARENA_ARRAY(x->a, n, uint32_t),
		.ambiguous = ARENA_ARRAY(x->a, n, bool) };
	uint32_t *work = ARENA_ARRAY(x->a, n, uint32_t), *streams = ARENA_ARRAY(x->a, n, uint32_t);
	struct pairing_request sorted = { work, streams, NULL, n, 1, request->calls, request->m,
		request->cut, request->named };
	struct pair_state y = { &sorted, &out, x->a };
	enum pair_how how = PAIR_NONE;

	if (!order)
		return PAIR_NONE;
	for (size_t i = 0; i < n; i++)
		work[i] = request->work[order[i]];
	if (!request->named)
		how = n == request->m && pair_count(&y) ? PAIR_COUNT : PAIR_NONE;
	else if (n < request->m)
		how = pair_lost(&y) ? PAIR_LOST : PAIR_NONE;
	else if (n == request->m || (request->cut && request->m))
		how = !pair_in_order(&y) ? PAIR_NONE : n > request->m ? PAIR_CUT : PAIR_NODES;
	for (size_t i = 0; how != PAIR_NONE && i < n; i++) {
		x->out->call[order[i]] = out.call[i];
		x->out->ambiguous[order[i]] = out.ambiguous[i];
	}
	return how;
}

/* ---- all ---- */

static enum pair_how pair(struct pair_state *x)
{
	const struct pairing_request *request = x->request;
	enum pair_how how = request->n_streams > 1 || !request->named ? pair_by_node(x) : PAIR_NONE;

	if (how != PAIR_NONE)
		return how;
	if (!request->named)
		return request->n == request->m && pair_count(x) ? PAIR_COUNT : PAIR_NONE;
	if (request->m && (request->n == request->m || (request->cut && request->n > request->m)) &&
	        pair_in_order(x))
		return request->n > request->m   ? PAIR_CUT
		       : request->n_streams == 1 ? PAIR_ORDER
		                                 : PAIR_STREAMS;
	reset(x);
	if (request->n == request->m && pair_by_name(x))
		return PAIR_NAMES;
	reset(x);
	return request->n < request->m && pair_lost(x) ? PAIR_LOST : PAIR_NONE;
}

void graph_pair(const struct pairing_request *request, struct graph_pairing *out, struct arena *a)
{
	struct pair_state x = { request, out, a };
	size_t least = request->n < request->m ? request->n : request->m;

	*out = (struct graph_pairing){ .call = ARENA_ARRAY(a, request->n, uint32_t),
		.ambiguous = ARENA_ARRAY(a, request->n, bool),
		.missing = (request->n > request->m ? request->n : request->m) - least };
	out->how = pair(&x);
	if (out->how == PAIR_NONE)
		reset(&x);
	while (out->differ < least && request->work[out->differ] == call_token(&x, out->differ))
		out->differ++;
}
