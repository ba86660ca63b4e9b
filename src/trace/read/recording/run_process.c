/* SPDX-License-Identifier: Apache-2.0
 *
 * Identifies the processes that wrote Kineto traces and execution traces, to distinguish the ranks
 * of a job. Reads only the beginning of a file. A rank or process id that is missing or damaged is
 * unknown.
 */
#include "trace/read/chrome/execution_trace.h"

#include "base/num.h"
#include "io/json_in.h"
#include "io/paths.h"

#define EVENTS_MAX 65536 /* maximum number of events searched for a record function id */

struct process_reader {
	struct json_in j;
	int64_t value;  /* value of the searched member; -1: not found */
	int64_t record; /* record function id of the current event */
	unsigned events;
};

int64_t run_rank_in_path(struct str path)
{
	const struct str word = S("rank");

	for (size_t i = path.n; i-- > 0;) {
		size_t k = 0, from, to;
		int64_t rank;
		while (k < word.n && i + k < path.n && char_lower(path.p[i + k]) == word.p[k])
			k++;
		if (k < word.n)
			continue;
		from = i + k;
		from += from < path.n && str_find_char(S("_-=."), path.p[from]) != SIZE_MAX;
		for (to = from; to < path.n && char_is_digit(path.p[to]);)
			to++;
		if (to > from && num_parse_i64(str_sub(path, from, to - from), &rank))
			return rank;
	}
	return -1;
}

static bool read_number(struct json_in *j, int64_t *out)
{
	struct json_value v;

	if (!json_in_scalar(j, &v))
		return false;
	if (v.type > JSON_ARRAY && json_decimal(v.text, 0, out) != JSON_NUMBER_GOOD)
		*out = -1;
	return true;
}

/* Reads a member of the object that is next. Skips a value that is not an object. */
static bool read_member_of(struct json_in *j, struct str name, int64_t *out)
{
	struct str key;

	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);)
		if (!(str_eq(key, name) ? read_number(j, out) : json_in_skip(j)))
			return false;
	return j->stop == JSON_STOP_NONE;
}

/* Reads an event. Returns false to end the search; then j->stop is not set. */
static bool read_event(void *reader)
{
	struct process_reader *x = reader;
	struct json_in *j = &x->j;
	struct str key;

	if (x->record > 0 || x->events == EVENTS_MAX)
		return false;
	x->value = -1;
	if (json_in_peek(j) != '{')
		return json_in_skip(j);
	for (json_in_enter(j); json_in_member(j, &key);)
		if (!(str_eq(key, S("pid")) ? read_number(j, &x->value)
		            : str_eq(key, S("args"))
		                    ? read_member_of(j, S("Record function id"), &x->record)
		                    : json_in_skip(j))) {
			x->record = 0;
			return false;
		}
	return j->stop == JSON_STOP_NONE || (x->record = 0);
}

static void take_event(void *reader)
{
	struct process_reader *x = reader;

	x->events++;
}

static void find_rank(struct process_reader *x)
{
	bool events, good;

	if (json_in_ahead(&x->j) != '{' ||
	        !json_in_find_either(&x->j, S("distributedInfo"), S("traceEvents"), &events) ||
	        events)
		return;
	do
		good = read_member_of(&x->j, S("rank"), &x->value);
	while (!good && json_in_more(&x->j));
}

static void find_pid(struct process_reader *x)
{
	if (json_in_ahead(&x->j) == '[' || json_in_find(&x->j, S("traceEvents")))
		json_in_each(&x->j, read_event, take_event, x);
	if (x->record <= 0)
		x->value = -1;
}

static void find_pid_of_calls(struct process_reader *x)
{
	bool nodes, good;

	if (!json_in_find_either(&x->j, S("pid"), S("nodes"), &nodes) || nodes)
		return;
	do
		good = read_number(&x->j, &x->value);
	while (!good && json_in_more(&x->j));
}

/* Searches a file with `find`. Returns the value, or -1. */
static int64_t search(struct str path, void (*find)(struct process_reader *x), struct work *work)
{
	struct process_reader x = { .value = -1 };
	struct scratch own;
	struct src *s;

	scratch_open(&own, work);
	struct err e = { .a = &own.a };
	/* a pipe can be opened only once */
	if (!path_is_special(&own.a, path) && src_open_file(&s, &own.a, path, &e)) {
		if (json_in_open(&x.j, s))
			find(&x);
		src_close(s);
	}
	scratch_close(&own);
	return x.value >= 0 ? x.value : -1;
}

struct run_process run_process_of_calls(struct str path, struct work *work)
{
	return (struct run_process){ run_rank_in_path(path),
		search(path, find_pid_of_calls, work) };
}

int64_t run_rank_in_header(struct str path, struct work *work)
{
	return search(path, find_rank, work);
}

struct run_process run_process_of_trace(struct str path, struct work *work)
{
	int64_t rank = run_rank_in_header(path, work);

	return (struct run_process){ rank >= 0 ? rank : run_rank_in_path(path),
		search(path, find_pid, work) };
}
