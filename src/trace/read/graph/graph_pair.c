/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs the work of a launched graph with the calls that were captured, by the names of kernels. A
 * pair is marked ambiguous if the names allow another one.
 */
#include "trace/read/graph/graph_internal.h"

#include "base/sort.h"

/* One of this many calls may be without work, because profilers lose records. A capture of another
 * graph differs more: in 3 of 15 calls on real traces. */
#define LOST_PER 30
#define LOST_MIN 10 /* calls; a shorter capture has to be complete */

struct pair_state {
	const struct pair_ask *ask;
	struct graph_pairing *out;
	struct arena *a;
};

static uint32_t call_token(const struct pair_state *x, size_t i)
{
	return x->ask->calls[i].token;
}

static void reset(struct pair_state *x)
{
	memset(x->out->call, 0, x->ask->n * sizeof *x->out->call);
	memset(x->out->ambiguous, 0, x->ask->n * sizeof *x->out->ambiguous);
}

/* ---- in order ---- */

/* The work of a stream, in order. */
struct stream_queue {
	uint32_t *work;
	size_t n, at;
};

static struct stream_queue *make_queues(struct pair_state *x)
{
	const struct pair_ask *ask = x->ask;
	struct stream_queue *q = ARENA_ARRAY(x->a, ask->n_streams, struct stream_queue);

	for (size_t i = 0; i < ask->n; i++)
		q[ask->streams[i]].n++;
	for (size_t s = 0; s < ask->n_streams; s++) {
		q[s].work = ARENA_ARRAY(x->a, q[s].n, uint32_t);
		q[s].n = 0;
	}
	for (uint32_t i = 0; i < ask->n; i++) {
		struct stream_queue *to = &q[ask->streams[i]];
		to->work[to->n++] = i;
	}
	return q;
}

/* Returns how many of the next calls are the next work of a stream. */
static size_t in_step(const struct pair_state *x, const struct stream_queue *q, size_t call)
{
	size_t k = 0;

	while (q->at + k < q->n && call + k < x->ask->m &&
	        x->ask->work[q->work[q->at + k]] == call_token(x, call + k))
		k++;
	return k;
}

/* Marks the work whose name is on several streams. */
static void mark_shared_names(struct pair_state *x)
{
	const struct pair_ask *ask = x->ask;
	struct imap stream_of;
	uint32_t stream;

	imap_init(&stream_of, x->a);
	for (size_t i = 0; i < ask->n; i++)
		if (imap_get(&stream_of, ask->work[i], &stream) && stream != ask->streams[i])
			imap_put(&stream_of, ask->work[i], (uint32_t)ask->n_streams, true);
		else
			imap_put(&stream_of, ask->work[i], ask->streams[i], false);
	for (size_t i = 0; i < ask->n; i++)
		x->out->ambiguous[i] |= imap_get(&stream_of, ask->work[i], &stream) &&
		                        stream == ask->n_streams && x->out->call[i];
}

/* Assigns each call to the stream whose next work has its name; if there are several, to the stream
 * that agrees with the calls longest. Returns false if there is none. */
static bool pair_in_order(struct pair_state *x)
{
	struct stream_queue *q = make_queues(x);
	bool choice = false;

	for (size_t i = 0; i < x->ask->m; i++) {
		size_t best = 0, stream = 0, options = 0;
		for (size_t s = 0; s < x->ask->n_streams; s++) {
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

/* Pairs the n-th work of a name with its n-th call. Returns false if a name has more work than
 * calls. */
static bool pair_by_name(struct pair_state *x)
{
	const struct pair_ask *ask = x->ask;
	uint32_t *tokens = ARENA_ARRAY(x->a, ask->m, uint32_t);
	const uint32_t *work = sort_order(x->a, ask->n, by_token, ask->work);

	for (size_t i = 0; i < ask->m; i++)
		tokens[i] = call_token(x, i);
	const uint32_t *calls = sort_order(x->a, ask->m, by_token, tokens);
	for (size_t i = 0, k = 0; i < ask->n;) {
		uint32_t token = ask->work[work[i]];
		while (k < ask->m && tokens[calls[k]] < token)
			k++;
		size_t end = k;
		while (end < ask->m && tokens[calls[end]] == token)
			end++;
		bool several = end - k > 1;
		for (; i < ask->n && ask->work[work[i]] == token; i++, k++) {
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
	const struct pair_ask *ask = x->ask;
	size_t k = 0;

	for (size_t i = 0; i < ask->n; i++, k++) {
		while (k < ask->m && call_token(x, k) != ask->work[i])
			k++;
		if (k == ask->m)
			return false;
		x->out->call[i] = (uint32_t)k + 1;
	}
	k = ask->m;
	for (size_t i = ask->n; i-- > 0;) {
		while (call_token(x, --k) != ask->work[i])
			;
		x->out->ambiguous[i] = k + 1 != x->out->call[i];
	}
	return true;
}

static bool pair_lost(struct pair_state *x)
{
	size_t lost = x->ask->m - x->ask->n, most = x->ask->m / LOST_PER;

	if (x->ask->m < LOST_MIN || lost > (most ? most : 1))
		return false;
	return x->ask->n_streams == 1 ? pair_with_gaps(x) : pair_by_name(x);
}

/* ---- without names ---- */

/* Without names there are kernels, copies and sets. */
static bool pair_count(struct pair_state *x)
{
	uint32_t *work = ARENA_ARRAY(x->a, x->ask->n, uint32_t);
	uint32_t *streams = ARENA_ARRAY(x->a, x->ask->n, uint32_t);
	struct capture_call *calls = ARENA_ARRAY(x->a, x->ask->m, struct capture_call);
	struct pair_ask plain = { work, streams, x->ask->n, 1, calls, x->ask->m, .named = true };
	struct pair_state y = { &plain, x->out, x->a };

	for (size_t i = 0; i < x->ask->n; i++)
		work[i] = x->ask->work[i] < TOKEN_KERNEL ? TOKEN_KERNEL : x->ask->work[i];
	for (size_t i = 0; i < x->ask->m; i++)
		calls[i].token = call_token(x, i) < TOKEN_KERNEL ? TOKEN_KERNEL : call_token(x, i);
	if (pair_in_order(&y))
		return true;
	reset(x);
	return pair_by_name(&y);
}

/* ---- all ---- */

static enum pair_how pair(struct pair_state *x)
{
	const struct pair_ask *ask = x->ask;

	if (!ask->named)
		return ask->n == ask->m && pair_count(x) ? PAIR_COUNT : PAIR_NONE;
	if (ask->m && (ask->n == ask->m || (ask->cut && ask->n > ask->m)) && pair_in_order(x))
		return ask->n > ask->m ? PAIR_CUT : ask->n_streams == 1 ? PAIR_ORDER : PAIR_STREAMS;
	reset(x);
	if (ask->n == ask->m && pair_by_name(x))
		return PAIR_NAMES;
	reset(x);
	return ask->n < ask->m && pair_lost(x) ? PAIR_LOST : PAIR_NONE;
}

void graph_pair(const struct pair_ask *ask, struct graph_pairing *out, struct arena *a)
{
	struct pair_state x = { ask, out, a };
	size_t least = ask->n < ask->m ? ask->n : ask->m;

	*out = (struct graph_pairing){ .call = ARENA_ARRAY(a, ask->n, uint32_t),
		.ambiguous = ARENA_ARRAY(a, ask->n, bool),
		.missing = (ask->n > ask->m ? ask->n : ask->m) - least };
	out->how = pair(&x);
	if (out->how == PAIR_NONE)
		reset(&x);
	while (out->differ < least && ask->work[out->differ] == call_token(&x, out->differ))
		out->differ++;
}
