/* SPDX-License-Identifier: Apache-2.0
 *
 * The answer of "why" as text and as a document.
 */
#include "export/table/why_out.h"

#include "base/demangle.h"
#include "export/summary_out.h"
#include "export/table/table.h"
#include "trace/pass/step_guess.h"

#define INDENT 10 /* columns of the label before a text */

#define UNKNOWN_PARTS 100 /* text leaves out unknown time below this fraction of the step */
#define PARTS         10  /* differences below 1 / 10 are not mentioned */
#define UNEQUAL       2   /* lengths of steps are printed if the longest is this much longer */
#define KERNEL_ROOM   80  /* maximum width of a name in the verdict */
#define PLACE_ROOM    180 /* maximum bytes of a place's name, unless one cause is requested */

struct why_text {
	const struct why_page *p;
	struct sink *to;
	struct arena *a;
	const struct origin *from;
	unsigned columns;
	bool terminal; /* true: the output is a terminal with this number of columns, so names are
	                  shortened */
	bool md;
	bool full_names; /* true: names of C++ functions are not reduced */
};

static const struct trace *trace_of(const struct why *x)
{
	return x->x->depend.t;
}

static void put_time(struct sb *b, const struct why *x, int64_t ticks)
{
	table_put_time(b, trace_ns(trace_of(x), ticks));
}

static void put_share(struct sb *b, int64_t part, int64_t all)
{
	double share = all > 0 ? (double)part * 100 / (double)all : 0;

	if (share > 0 && share < 0.05)
		sb_fmt(b, "below 0.1%%");
	else
		sb_fmt(b, "%.1f%%", share);
}

/* Returns " per step" if times are means of several steps, otherwise an empty text. */
static const char *per_step(const struct why *x)
{
	return why_is_per_step(x) && x->x->n_chosen > 1 ? " per step" : "";
}

/* ---- the verdict ---- */

struct str why_verdict_id(const struct why *x)
{
	if (x->no_verdict.p)
		return S("unknown");
	return x->reported ? str_of(why_rows[x->found.v[0].id].id) : S("none");
}

/* Appends the saved time: " by up to 62.1ms (35.3%): rank 1". */
static void put_saved(struct sb *b, const struct why *x, const struct why_finding *f)
{
	sb_fmt(b, " by %s", f->bound ? "up to " : "");
	put_time(b, x, f->saved);
	sb_fmt(b, " (");
	put_share(b, f->saved, x->step);
	sb_fmt(b, ")%s%.*s", f->at.p ? ": " : "", STR(f->at));
}

static void put_healthy(struct sb *b, const struct why *x)
{
	sb_fmt(b, "No cause above %.0f%% of ", WHY_LEAST_SHARE * 100);
	why_put_window(b, x);
	sb_fmt(b, "; devices are busy for %.1f%% of it", x->busy * 100);
	if (x->matrix > 0)
		sb_fmt(b,
		        "; %.1f%% of their work is matrix products and attention, known for %.1f%% "
		        "of it",
		        x->matrix * 100, x->matrix_known * 100);
}

/* Appends the parts of the step, and the small part of the first cause. */
static void put_compute_bound(struct sb *b, const struct why *x, const struct why_finding *f)
{
	sb_fmt(b, "Compute-bound: devices compute for %.1f%% of ", x->compute * 100);
	why_put_window(b, x);
	if (x->main_kernel.p)
		sb_fmt(b, ", mostly in %.*s",
		        STR(table_shorten(b->a,
		                demangle_reduce(b->a, x->main_kernel, REDUCED_ARGUMENTS),
		                KERNEL_ROOM)));
	sb_fmt(b, "; %s lengthens it", why_rows[f->id].subject);
	put_saved(b, x, f);
}

/* Appends the first calls, which a longer run does not repeat, and the longest of them. */
static void put_start_up(struct sb *b, const struct why *x, const struct why_finding *f)
{
	const struct why_place *most = &f->places.v[0];
	int64_t all = 0;

	for (size_t i = 0; i < f->places.n; i++)
		if (f->places.v[i].start_up > most->start_up)
			most = &f->places.v[i];
	for (size_t i = 0; i < x->reported; i++)
		all = num_add(all, x->found.v[i].start_up);
	sb_fmt(b, "Start-up: first calls take ");
	put_time(b, x, all);
	sb_fmt(b, " of ");
	why_put_window(b, x);
	sb_fmt(b, ", %s%.*s", most->start_up < all ? "" : "all in ",
	        STR(table_shorten(b->a, most->name, KERNEL_ROOM)));
	if (most->start_up >= all)
		return;
	sb_fmt(b, " alone ");
	put_time(b, x, most->start_up);
}

struct str why_verdict(const struct why *x, struct arena *a)
{
	const struct why_finding *f = x->reported ? &x->found.v[0] : NULL;
	struct sb b = { .a = a };

	if (x->no_verdict.p) {
		sb_fmt(&b, "No verdict: %.*s", STR(x->no_verdict));
		return sb_str(&b);
	} else if (!f) {
		put_healthy(&b, x);
	} else if (why_is_compute_bound(x)) {
		put_compute_bound(&b, x, f);
	} else if (why_is_start_up(f)) {
		put_start_up(&b, x, f);
	} else {
		if (why_is_unnamed(f))
			sb_fmt(&b,
			        "Host-bound, cause unknown: host work, most of it outside of all "
			        "slices,");
		else
			sb_fmt(&b, "%s: %s", why_rows[f->id].label, why_rows[f->id].subject);
		sb_fmt(&b, " lengthens ");
		why_put_window(&b, x);
		put_saved(&b, x, f);
	}
	if (x->exposed) {
		sb_fmt(&b, "; communication that no compute hides takes ");
		put_time(&b, x, x->exposed);
		sb_fmt(&b, "%s, but cannot be judged", per_step(x));
	}
	return sb_str(&b);
}

/* ---- evidence ---- */

/* Evidence: a row of another answer. Its command prints the numbers in the text. */
struct evidence {
	struct str id, text, command;
};

static struct str command_of(
        const struct why_text *t, const char *name, const char *option, enum why_id id)
{
	struct sb b = { .a = t->a };

	sb_fmt(&b, "tfprof %s", name);
	for (size_t i = 0; i < t->from->n; i++) {
		sb_fmt(&b, " ");
		sb_put_word(&b, t->from->v[i].path);
	}
	if (id != WHY_IDS)
		sb_fmt(&b, " %s%s", option, why_rows[id].id);
	if (t->p->x->x->marks->by == STEPS_BY_GUESS)
		sb_fmt(&b, " --guess-steps");
	if (t->p->steps.p)
		sb_fmt(&b, " -step %.*s", STR(t->p->steps));
	return sb_str(&b);
}

/* Appends a change: "11.2ms becomes 3.96ms". */
static void put_change(struct sb *b, const struct why *x, int64_t saved)
{
	struct sb before = { .a = b->a }, after = { .a = b->a };

	put_time(&before, x, x->step);
	put_time(&after, x, x->step - saved);
	if (!str_eq(sb_str(&before), sb_str(&after))) {
		sb_fmt(b, "%.*s becomes %.*s", STR(sb_str(&before)), STR(sb_str(&after)));
		return;
	}
	put_time(b, x, saved);
	sb_fmt(b, " of %.*s are saved", STR(sb_str(&before)));
}

static struct evidence replay_evidence(const struct why_text *t, const struct why_finding *f)
{
	const struct why *x = t->p->x;
	struct sb b = { .a = t->a };

	sb_fmt(&b, "without it, ");
	put_change(&b, x, f->saved);
	if ((double)f->unknown > (double)(x->step - f->saved) * WHY_UNKNOWN_SHARE) {
		sb_fmt(&b, ", of which ");
		put_time(&b, x, f->unknown);
		sb_fmt(&b, " are waits whose cause is not in the file");
		if (f->unknown / UNEQUAL > x->unknown)
			sb_fmt(&b, ", hidden by this work now");
	}
	if (f->assumed.p)
		sb_fmt(&b, "; %.*s", STR(f->assumed));
	if (f->replayed && x->unlaunched) {
		sb_fmt(&b, "; ");
		put_time(&b, x, x->unlaunched);
		sb_fmt(&b, " of device work in this replay has no launch in the file");
	}
	return (struct evidence){ str_fmt(t->a, "%s.replay", why_rows[f->id].id), sb_str(&b),
		!f->replayed || x->job->n_replays > 1 ? command_of(t, "why", "--cause=", f->id)
		                                      : command_of(t, "what-if", "cause:", f->id) };
}

/* Explains the difference between the times of the places and the saved time. */
static void put_sum(struct sb *b, const struct why_finding *f)
{
	int64_t apart = num_sub(f->cost, f->saved);

	if (apart > f->saved / PARTS)
		sb_fmt(b, "; more than it saves, because part of it overlaps other work");
	else if (-apart > f->saved / PARTS)
		sb_fmt(b, "; it saves more, because work that waited for it starts earlier");
}

/* Notes that the cost adds up work that ran at the same time. */
static void put_tracks(struct sb *b, const struct why_finding *f)
{
	if (f->threads < 2 && f->devices < 2)
		return;
	sb_fmt(b, ", summed over ");
	if (f->threads)
		sb_fmt(b, "%zu thread%s", f->threads, f->threads == 1 ? "" : "s");
	if (f->devices)
		sb_fmt(b, "%s%zu device%s", f->threads ? " and " : "", f->devices,
		        f->devices == 1 ? "" : "s");
}

static struct evidence places_evidence(const struct why_text *t, const struct why_finding *f)
{
	struct sb b = { .a = t->a };

	put_time(&b, t->p->x, f->cost);
	sb_fmt(&b, "%s in %zu place%s", per_step(t->p->x), f->places.n,
	        f->places.n == 1 ? "" : "s");
	put_tracks(&b, f);
	if (f->start_up) {
		sb_fmt(&b, ", of which first calls take ");
		put_time(&b, t->p->x, f->start_up);
	}
	if (f->again) {
		sb_fmt(&b, "; allocations after memory was freed take ");
		put_time(&b, t->p->x, f->again);
	}
	if (f->detail.p)
		sb_fmt(&b, "; %.*s", STR(f->detail));
	put_sum(&b, f);
	return (struct evidence){ str_fmt(t->a, "%s.places", why_rows[f->id].id), sb_str(&b),
		command_of(t, "why", "--cause=", f->id) };
}

/* Returns the times that a rank waits for late ranks and transfers data; for communication among
 * ranks that are all loaded. */
static struct evidence ranks_evidence(const struct why_text *t, const struct why_finding *f)
{
	const struct why *x = t->p->x;
	const struct rank_group *job = x->job;
	int64_t n = (int64_t)(job->ranks.n * x->x->n_windows);
	struct sb b = { .a = t->a };

	sb_fmt(&b, "a rank waits for late ranks for ");
	put_time(&b, x, job->waiting / n);
	sb_fmt(&b, " and transfers for ");
	put_time(&b, x, job->transferring / n);
	sb_fmt(&b, why_is_per_step(x) ? " per step, the mean of all steps" : "");
	return (struct evidence){ str_fmt(t->a, "%s.ranks", why_rows[f->id].id), sb_str(&b),
		command_of(t, "why", "--cause=", f->id) };
}

#define EVIDENCE_MAX 3

/* Fills v. Returns the number of pieces of evidence. */
static size_t find_evidence(
        const struct why_text *t, const struct why_finding *f, struct evidence *v)
{
	size_t n = 0;

	v[n++] = replay_evidence(t, f);
	v[n++] = places_evidence(t, f);
	if (f->id == WHY_exposed_communication && t->p->x->job->collectives.n)
		v[n++] = ranks_evidence(t, f);
	return n;
}

/* Returns the advice about the longest place, a call: "cudaMemcpyAsync in aten::copy_" as in
 * "cudaMemcpyAsync: ...". */
static struct str call_advice(const struct why_finding *f, struct arena *a)
{
	struct str name = f->places.v[0].name;
	struct str call = str_sub(name, 0, str_find(name, S(" in ")));

	return str_fmt(a, "%.*s: %s", STR(table_shorten(a, call, KERNEL_ROOM)),
	        why_rows[f->id].calls(call));
}

/* Returns the advice of a cause in the words of the framework that wrote the file. */
static struct str framework_advice(const struct why *x, const struct why_row *row)
{
	switch (trace_of(x)->source) {
	case TRACE_KINETO: return str_of(row->pytorch ? row->pytorch : row->advice);
	case TRACE_XSPACE: return str_of(row->tensorflow ? row->tensorflow : row->advice);
	default: return str_of(row->advice);
	}
}

/* Returns the advice about first calls, and about the part that steady steps repeat. */
static struct str start_up_advice(const struct why *x, const struct why_finding *f, struct arena *a)
{
	const struct why_row *row = &why_rows[f->id];

	if ((double)f->again <= (double)x->step * WHY_LEAST_SHARE)
		return str_of(row->start_up);
	return str_fmt(a, "%s For the rest: %.*s", row->start_up, STR(framework_advice(x, row)));
}

/* Returns how to record host time that is outside of all slices. */
static struct str unnamed_advice(const struct why *x, const struct why_finding *f, struct arena *a)
{
	const struct trace *t = trace_of(x);
	double share = (double)f->places.v[0].ticks * 100 / (double)f->cost;
	bool stacks = false;

	for (size_t i = 0; i < t->events.n; i++)
		stacks |= t->events.v[i].category == CATEGORY_FRAME;
	if (stacks)
		return str_fmt(a,
		        "Record native code (perf record -g, nsys profile --sample=process-tree): "
		        "the file has Python stacks, but they do not say what %.0f%% of this work "
		        "is.",
		        share);
	return str_fmt(a, "%s: the file does not say what %.0f%% of this work is.",
	        t->source == TRACE_KINETO ? "Profile with with_stack=True"
	                                  : "Record stacks or ranges of the host",
	        share);
}

/* Returns the advice about a finding. */
static struct str advice_of(const struct why *x, const struct why_finding *f, struct arena *a)
{
	const struct why_row *row = &why_rows[f->id];

	if (why_is_start_up(f))
		return start_up_advice(x, f, a);
	if (f->advice)
		return str_of(f->advice);
	if (row->calls && f->places.n && str_eq(str_of(f->places.v[0].kind), S("call")))
		return call_advice(f, a);
	if (f->id == WHY_input_pipeline && f->places.n &&
	        str_contains(f->places.v[0].name, S("SingleProcessDataLoaderIter")))
		return S("The DataLoader has num_workers=0: it loads in the main process. Set "
		         "num_workers, prefetch_factor and persistent_workers=True.");
	if (f->id == WHY_host_work && f->places.n &&
	        str_eq(str_of(f->places.v[0].kind), S(WHY_OUTSIDE)))
		return unnamed_advice(x, f, a);
	return framework_advice(x, row);
}

/* ---- text ---- */

static void put_line(const struct why_text *t, const char *word, struct str text)
{
	if (t->md) {
		sink_fmt(t->to, "   - %s%s%.*s\n", word, *word ? ": " : "", STR(text));
		return;
	}
	sink_fmt(t->to, "   %-*s", INDENT - 1, word);
	sink_wrap(t->to, text, t->columns, INDENT + 2);
}

#define NAME_LEAST 20 /* columns of a name on a narrow terminal */

/* Returns the start of a long name: the first words of a kernel's name describe it, and the rest
 * are its types. */
static struct str start_of(struct str name, size_t room, struct arena *a)
{
	size_t n = room - 3;

	if (name.n <= room)
		return name;
	while (n && ((unsigned char)name.p[n] & 0xc0) == 0x80)
		n--;
	return str_fmt(a, "%.*s...", STR(str_sub(name, 0, n)));
}

/* Returns the name of a place, shortened to a line of `columns` columns, of which `around` are used
 * otherwise. */
static struct str place_name(const struct why_text *t, const struct why_place *place, size_t around)
{
	size_t columns = t->columns < WRAP_COLUMNS ? t->columns : WRAP_COLUMNS;
	size_t room = around + NAME_LEAST < columns ? columns - around : NAME_LEAST;

	if (t->full_names)
		return place->name;
	struct str name = demangle_reduce(t->a, place->name, REDUCED_ARGUMENTS);
	if (!t->terminal)
		return t->p->cause == WHY_IDS ? start_of(name, PLACE_ROOM, t->a) : name;
	return str_eq(str_of(place->kind), S("kernel")) ? start_of(name, room, t->a)
	                                                : table_shorten(t->a, name, room);
}

static void put_place(const struct why_text *t, const struct why_place *place, bool first)
{
	struct sb b = { .a = t->a }, after = { .a = t->a };

	put_time(&b, t->p->x, place->ticks);
	sb_fmt(&b, " %s ", place->kind);
	if (place->start_up) {
		sb_fmt(&after, ": first call ");
		put_time(&after, t->p->x, place->longest);
		sb_fmt(&after, place->longest > place->ticks ? " in one step" : "");
	}
	size_t around = INDENT + 2 + sb_str(&b).n + sb_str(&after).n;
	sb_put_name(&b, place_name(t, place, around));
	sb_fmt(&b, "%.*s", STR(sb_str(&after)));
	put_line(t, first || t->md ? "where" : "", sb_str(&b));
}

static void put_places(const struct why_text *t, const struct why_finding *f)
{
	size_t shown = t->p->cause == WHY_IDS ? WHY_PLACES : t->p->top;
	int64_t rest = 0;

	for (size_t i = 0; i < f->places.n; i++)
		if (!shown || i < shown)
			put_place(t, &f->places.v[i], i == 0);
		else
			rest = num_add(rest, f->places.v[i].ticks);
	if (!shown || f->places.n <= shown)
		return;
	struct sb b = { .a = t->a };
	put_time(&b, t->p->x, rest);
	sb_fmt(&b, " in %zu more place%s", f->places.n - shown,
	        f->places.n - shown == 1 ? "" : "s");
	put_line(t, "", sb_str(&b));
}

/* Prints the command of a piece of evidence. The command of this answer is not printed again: it
 * gets --top=0 if this answer leaves places out. */
static void put_command(const struct why_text *t, const struct why_finding *f, struct str command)
{
	if (t->p->cause == f->id && str_eq(command, command_of(t, "why", "--cause=", f->id))) {
		if (!t->p->top || f->places.n <= t->p->top)
			return;
		command = str_fmt(t->a, "%.*s --top=0", STR(command));
	}
	put_line(
	        t, t->md ? "command" : "", t->md ? str_fmt(t->a, "`%.*s`", STR(command)) : command);
}

static void put_finding(const struct why_text *t, const struct why_finding *f, size_t number)
{
	const struct why *x = t->p->x;
	struct evidence v[EVIDENCE_MAX];
	struct sb b = { .a = t->a };
	size_t n;

	sb_fmt(&b, "%s: saves %s", why_rows[f->id].id, f->bound ? "at most " : "");
	put_time(&b, x, f->saved);
	sb_fmt(&b, "%s (", per_step(x));
	put_share(&b, f->saved, x->step);
	sb_fmt(&b, ")");
	sink_fmt(t->to, "%zu. %.*s\n", number, STR(sb_str(&b)));
	put_places(t, f);
	n = find_evidence(t, f, v);
	for (size_t i = 0; i < n; i++) {
		put_line(t, i && !t->md ? "" : "evidence", v[i].text);
		if (i + 1 < n && str_eq(v[i].command, v[i + 1].command))
			continue;
		put_command(t, f, v[i].command);
	}
	put_line(t, "advice", advice_of(x, f, t->a));
}

/* True if text lists a cause that is not judged: few files have the data for quiet causes. Host
 * time may consist of threads without a CPU. */
static bool is_listed(const struct why *x, enum why_id id)
{
	bool listed = !why_rows[id].quiet;

	for (size_t i = 0; id == WHY_host_contention && i < x->reported; i++)
		listed |= x->found.v[i].id == WHY_host_work || x->found.v[i].id == WHY_launch_bound;
	return listed;
}

/* Prints the causes that are not judged. Prints a reason that several causes share only once. */
static void put_gaps(const struct why_text *t)
{
	const struct why *x = t->p->x;
	bool any = false;

	/* without device work, no cause matters */
	for (size_t i = 0; x->busy > 0 && i < x->gaps.n; i++) {
		struct sb b = { .a = t->a };
		bool told = !is_listed(x, x->gaps.v[i].id);
		for (size_t k = 0; k < i; k++)
			told |= str_eq(x->gaps.v[k].reason, x->gaps.v[i].reason);
		if (told)
			continue;
		if (!any)
			sink_fmt(t->to, "%sNot judged\n%s", x->reported ? "\n" : "",
			        t->md ? "\n" : "");
		any = true;
		for (size_t k = i; k < x->gaps.n; k++)
			if (str_eq(x->gaps.v[k].reason, x->gaps.v[i].reason) &&
			        is_listed(x, x->gaps.v[k].id))
				sb_fmt(&b, "%s%s", k == i ? "" : ", ",
				        why_rows[x->gaps.v[k].id].id);
		sb_fmt(&b, ": %.*s", STR(x->gaps.v[i].reason));
		sink_fmt(t->to, t->md ? "- " : "   ");
		sink_wrap(t->to, sb_str(&b), t->md ? 0 : t->columns, 5);
	}
}

/* Prints that the requested cause saves nothing, or the reason why it is not judged. */
static void put_nothing(const struct why_text *t)
{
	const struct why *x = t->p->x;
	struct str reason = why_gap_of(x, t->p->cause);
	struct sb b = { .a = t->a };

	sb_fmt(&b, "%s %s%.*s", why_rows[t->p->cause].id,
	        reason.p ? "is not judged: " : "saves nothing", STR(reason));
	sink_wrap(t->to, sb_str(&b), t->md ? 0 : t->columns, 2);
}

/* Appends "; 4 ranks with 32 collectives in common, whose ends differ by 12us (median) after the
 * clocks were aligned". */
static void put_ranks(struct sb *b, const struct why *x)
{
	const struct rank_group *job = x->job;

	/* without collectives, the processes of one trace need not be ranks */
	if (job->ranks.n < 2 || (job->n_replays < 2 && !job->collectives.n))
		return;
	if (!job->collectives.n) {
		sb_fmt(b, "; the files have no collective in common");
		return;
	}
	sb_fmt(b, "; %zu ranks with %zu collectives in common, whose ends differ by ", job->ranks.n,
	        job->collectives.n);
	put_time(b, x, job->spread);
	sb_fmt(b, " (median) after the clocks were aligned");
	if (job->unmatched)
		sb_fmt(b, ", %llu pieces of communication outside of them",
		        (unsigned long long)job->unmatched);
}

/* Appends the host time without a cause, and its largest part. */
static void put_rest(struct sb *b, const struct why *x)
{
	sb_fmt(b, "; ");
	put_time(b, x, x->rest.ticks);
	sb_fmt(b, " of host time on the critical path belong to no cause above %.0f%%",
	        WHY_LEAST_SHARE * 100);
	if (!x->rest.name.p)
		return;
	sb_fmt(b, ", ");
	put_time(b, x, x->rest.named);
	sb_fmt(b, " of them in ");
	sb_put_name(b, table_shorten(b->a, x->rest.name, KERNEL_ROOM));
}

/* True if the first cause is time of the host that the recording of Python stacks lengthens. */
static bool has_longer_host_times(const struct why *x)
{
	return x->stacks && x->reported &&
	       (x->found.v[0].id == WHY_host_work || x->found.v[0].id == WHY_launch_bound) &&
	       !why_is_start_up(&x->found.v[0]);
}

/* Appends what limits the accuracy of the replay of a trace with device work. */
static void put_trust(struct sb *b, const struct why *x)
{
	bool estimated = x->reported || (!x->no_verdict.p && 1 - x->compute > WHY_LEAST_SHARE);

	if (estimated && x->error > REPLAY_ROUGH)
		sb_fmt(b, "; rough estimate: the error of the replay is %.1f%%", x->error * 100);
	else if (estimated && replay_is_rough(x->x, x->error))
		sb_fmt(b, "; rough estimate: the file does not name the events that streams wait "
		          "for");
	put_ranks(b, x);
	if (has_longer_host_times(x))
		sb_fmt(b, "; Python stacks were recorded, which lengthens the time of the host: "
		          "record without them to measure it");
	if (x->left_out.p)
		sb_fmt(b, "; left out: %.*s", STR(x->left_out));
	if (x->unknown > x->step / UNKNOWN_PARTS) {
		sb_fmt(b, "; for ");
		put_time(b, x, x->unknown);
		sb_fmt(b, " of the critical path, the cause is not in the file");
	}
	if (x->reported && (double)x->rest.ticks > (double)x->step * WHY_LEAST_SHARE)
		put_rest(b, x);
}

struct time_range {
	int64_t shortest, longest; /* ticks */
};

static void extend_range(struct time_range *r, int64_t length)
{
	r->shortest = length < r->shortest ? length : r->shortest;
	r->longest = length > r->longest ? length : r->longest;
}

static void put_range(struct sb *b, const struct why *x, struct time_range r, const char *by)
{
	sb_fmt(b, " from ");
	put_time(b, x, r.shortest);
	sb_fmt(b, " to ");
	put_time(b, x, r.longest);
	sb_fmt(b, "%s", by);
}

/* Appends how long the steps are, if their mean is like none of them. */
static void put_unequal(struct sb *b, const struct why *x)
{
	struct time_range marks = { INT64_MAX, 0 }, work = marks;

	if (!why_is_per_step(x))
		return;
	for (size_t i = 0; i < x->x->n_chosen; i++) {
		const struct critical_window *w = &x->x->recorded.windows[i];
		const struct trace_step *mark = &x->x->marks->steps.v[w->step];
		extend_range(&marks, num_sub(mark->end, mark->start));
		extend_range(&work, num_sub(w->to, w->from));
	}
	if (marks.longest / UNEQUAL <= marks.shortest && work.longest / UNEQUAL <= work.shortest)
		return;
	sb_fmt(b, "; the steps take");
	put_range(b, x, marks, x->busy > 0 ? " by marks," : "");
	if (x->busy > 0)
		put_range(b, x, work, " by the device's work");
	sb_fmt(b, ": -step N examines one");
}

/* Appends that no steps are marked, and how to examine calls that repeat like steps. */
static void put_unmarked(struct sb *b, const struct why *x)
{
	const struct step_guess guess = step_guess_of(trace_of(x), b->a);

	sb_fmt(b, "; no steps are marked, so start-up counts");
	if (guess.calls)
		sb_fmt(b,
		        "; calls repeat %zu times: --guess-steps -step median examines one "
		        "repetition",
		        guess.times);
}

/* Appends the position of the examined part in a trace without steps. */
static void put_whole(struct sb *b, const struct why_page *p)
{
	const struct why *x = p->x;
	int64_t start, end;

	if (x->busy <= 0 || !why_is_part(x, b->a)) {
		sb_fmt(b, "%.*s: ", STR(p->of));
		table_put_time(b, p->wall);
		put_unmarked(b, x);
		return;
	}
	trace_window(trace_of(x), &start, &end);
	bool first = x->x->windows[0].from <= start;
	sb_fmt(b, "the window is %s", first ? "the first " : "");
	put_time(b, x, x->step);
	sb_fmt(b, " of the trace of ");
	table_put_time(b, p->wall);
	sb_fmt(b, first ? "," : ", from ");
	if (!first)
		put_time(b, x, num_sub(x->x->windows[0].from, start));
	sb_fmt(b, " until the device work and the waits for it end");
	put_unmarked(b, x);
}

/* Explains why the step times from marks and from device work differ. */
static void put_window(struct sb *b, const struct why_page *p)
{
	const struct replay *x = p->x->x;
	int64_t marks = p->wall, work = trace_ns(trace_of(p->x), p->x->step);
	bool from_mark = true;

	if (x->marks->by ==
	        STEPS_BY_SERVING) { /* the times of these marks are those of their work */
		sb_fmt(b, " by the device's work that %s mark%s launched",
		        x->n_chosen == 1 ? "its" : "their", x->n_chosen == 1 ? "" : "s");
		if (work == marks)
			return;
		sb_fmt(b, ", ");
	} else {
		sb_fmt(b, " by marks, ");
	}
	table_put_time(b, work);
	sb_fmt(b, " by the device's work");
	for (size_t i = 0; i < x->n_chosen; i++)
		from_mark &= x->windows[x->chosen[i]].mark;
	if ((work > marks ? num_sub(work, marks) : num_sub(marks, work)) > marks / PARTS)
		sb_fmt(b, ", which is from %s to the end of the step's last work",
		        from_mark ? "the mark's start" : "the end of the previous step's work");
}

static void put_head(const struct why_text *t)
{
	const struct why *x = t->p->x;
	struct sb b = { .a = t->a };

	sink_wrap(t->to, why_verdict(t->p->x, t->a), t->md ? 0 : t->columns, 2);
	if (why_is_per_step(x))
		sb_fmt(&b, "%.*s", STR(t->p->of));
	else
		put_whole(&b, t->p);
	if (t->p->marked) {
		sb_fmt(&b, ": ");
		table_put_time(&b, t->p->wall);
		if (x->busy > 0)
			put_window(&b, t->p);
	}
	put_unequal(&b, x);
	if (x->busy > 0)
		put_trust(&b, x);
	sink_wrap(t->to, sb_str(&b), t->md ? 0 : t->columns, 2);
	sink_fmt(t->to, "\n");
}

/* Prints the next command if there are no causes: the command that shows where the time is spent,
 * or the data that the file lacks. */
static void put_next(const struct why_text *t)
{
	const struct why *x = t->p->x;
	const struct table *host = t->p->host;

	if (x->reported || (!host && (x->busy <= 0 || x->job->n_replays > 1)) ||
	        t->p->cause != WHY_IDS)
		return;
	if (host && !t->md) {
		table_put_text(host, SUMMARY_ROWS, t->columns, t->to);
		sink_fmt(t->to, "\n");
	}
	const char *name = host ? "top" : x->no_verdict.p ? "critical" : "kernels";
	struct str command = command_of(t, name, "", WHY_IDS);
	bool apart = t->terminal && !t->md && command.n + 6 > t->columns;
	sink_fmt(t->to,
	        t->md   ? "Next: `%.*s`\n\n"
	        : apart ? "Next:\n  %.*s\n\n"
	                : "Next: %.*s\n\n",
	        STR(command));
}

/* Prints the verdict about each phase of a server. */
static void put_phases(const struct why_text *t)
{
	if (t->p->n_phases)
		sink_fmt(t->to, "%sBy phase\n%s", t->p->x->reported ? "\n" : "", t->md ? "\n" : "");
	for (size_t i = 0; i < t->p->n_phases; i++) {
		const struct why_phase *p = &t->p->phases[i];
		struct sb b = { .a = t->a };
		sb_fmt(&b, "%s, %zu step%s of ", serving_phases[p->phase], p->steps,
		        p->steps == 1 ? "" : "s");
		table_put_time(&b, p->wall);
		sb_fmt(&b, ": %.*s", STR(why_verdict(p->why, t->a)));
		sink_fmt(t->to, t->md ? "- " : "   ");
		sink_wrap(t->to, sb_str(&b), t->md ? 0 : t->columns, 5);
	}
	if (t->p->n_phases && !t->p->steps.p) { /* phases has no -step */
		struct str command = command_of(t, "phases", "", WHY_IDS);
		sink_fmt(t->to, t->md ? "\nTheir times: `%.*s`\n" : "   %.*s\n", STR(command));
		sink_fmt(t->to, t->p->x->reported ? "" : "\n");
	}
}

static void put_text(const struct why_text *t)
{
	const struct why *x = t->p->x;
	size_t shown = 0;

	put_head(t);
	put_next(t);
	for (size_t i = 0; i < x->found.n; i++) {
		bool asked = t->p->cause == x->found.v[i].id;
		if (!asked && (t->p->cause != WHY_IDS || i >= x->reported ||
		                      (t->p->top && shown >= t->p->top)))
			continue;
		put_finding(t, &x->found.v[i], ++shown);
	}
	if (t->p->cause == WHY_IDS && x->reported > shown)
		sink_fmt(t->to, "%zu more causes (--top=0)\n", x->reported - shown);
	if (t->p->cause != WHY_IDS && !shown)
		put_nothing(t);
	put_phases(t);
	put_gaps(t);
}

/* ---- the document ---- */

static void put_evidence(struct document *d, const struct evidence *v)
{
	json_object(&d->j);
	document_text(d, "id", v->id);
	document_text(d, "text", v->text);
	document_text(d, "command", v->command);
	json_object_end(&d->j);
}

static void put_cause(struct document *d, const struct why_text *t, const struct why_finding *f)
{
	const struct trace *trace = trace_of(t->p->x);
	struct evidence v[EVIDENCE_MAX];
	size_t n = find_evidence(t, f, v);

	json_object(&d->j);
	document_text(d, "id", str_of(why_rows[f->id].id));
	document_i64(d, "cost_ns", trace_ns(trace, f->cost));
	document_i64(d, "saved_ns", trace_ns(trace, f->saved));
	if (f->start_up)
		document_i64(d, "first_calls_ns", trace_ns(trace, f->start_up));
	document_key(d, "bound");
	json_literal(&d->j, f->bound ? S("true") : S("false"));
	document_text(d, "advice", advice_of(t->p->x, f, t->a));
	document_key(d, "where");
	json_array(&d->j);
	for (size_t i = 0; i < f->places.n; i++) {
		json_object(&d->j);
		document_text(d, "kind", str_of(f->places.v[i].kind));
		document_text(d, "name", f->places.v[i].name);
		document_i64(d, "ns", trace_ns(trace, f->places.v[i].ticks));
		document_i64(d, "pieces", num_from_u64(f->places.v[i].times));
		if (f->places.v[i].start_up)
			document_i64(d, "first_call_ns", trace_ns(trace, f->places.v[i].longest));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
	document_key(d, "evidence");
	json_array(&d->j);
	for (size_t i = 0; i < n; i++)
		put_evidence(d, &v[i]);
	json_array_end(&d->j);
	json_object_end(&d->j);
}

static void put_ranks_member(struct document *d, const struct why *x)
{
	const struct rank_group *job = x->job;

	document_key(d, "ranks");
	json_object(&d->j);
	document_i64(d, "ranks", num_from_u64(job->ranks.n));
	document_i64(d, "collectives", num_from_u64(job->collectives.n));
	document_i64(d, "unmatched", num_from_u64(job->unmatched));
	document_i64(d, "clock_spread_ns", trace_ns(trace_of(x), job->spread));
	document_i64(d, "waiting_ns", trace_ns(trace_of(x), job->waiting));
	document_i64(d, "transfer_ns", trace_ns(trace_of(x), job->transferring));
	json_object_end(&d->j);
}

static void put_phases_member(struct document *d, const struct why_page *page, struct arena *a)
{
	document_key(d, "phases");
	json_array(&d->j);
	for (size_t i = 0; i < page->n_phases; i++) {
		const struct why_phase *p = &page->phases[i];
		const struct why *x = p->why;
		json_object(&d->j);
		document_text(d, "phase", str_of(serving_phases[p->phase]));
		document_i64(d, "steps", num_from_u64(p->steps));
		document_i64(d, "step_ns", p->wall);
		document_text(d, "verdict", why_verdict(x, a));
		document_text(d, "cause", why_verdict_id(x));
		if (x->reported)
			document_i64(d, "saved_ns", trace_ns(trace_of(x), x->found.v[0].saved));
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

/* True if data outputs contain the finding with a given index. */
static bool in_data(const struct why_text *t, size_t i)
{
	const struct why *x = t->p->x;

	return t->p->cause == WHY_IDS ? i < x->reported : t->p->cause == x->found.v[i].id;
}

static const struct column row_columns[] = { TEXT_COLUMN("cause"), NUMBER_COLUMN("cost_ns", "ns"),
	NUMBER_COLUMN("saved_ns", "ns"), REAL_COLUMN("share", "percent"), TEXT_COLUMN("place_kind"),
	TEXT_COLUMN("place"), TEXT_COLUMN("advice") };

void why_no_rows(struct table *rows, struct arena *a)
{
	*rows = (struct table){ .a = a, TABLE_COLUMNS(row_columns, NULL) };
}

/* Makes a row for each cause, with the place that takes the most time. */
static void fill_rows(struct table *rows, const struct why_text *t)
{
	const struct why *x = t->p->x;

	why_no_rows(rows, t->a);
	for (size_t i = 0; i < x->found.n; i++) {
		const struct why_finding *f = &x->found.v[i];
		bool placed = f->places.n > 0;
		if (!in_data(t, i))
			continue;
		table_text(rows, str_of(why_rows[f->id].id));
		table_number(rows, trace_ns(trace_of(x), f->cost));
		table_number(rows, trace_ns(trace_of(x), f->saved));
		table_number(rows, table_share(f->saved, x->step));
		table_text_if(rows, placed, placed ? str_of(f->places.v[0].kind) : STR_NONE);
		table_text_if(rows, placed, placed ? f->places.v[0].name : STR_NONE);
		table_text(rows, advice_of(t->p->x, f, t->a));
		rows->rows++;
	}
}

static void put_document(struct document *d, const struct why_text *t)
{
	const struct why *x = t->p->x;

	document_text(d, "verdict", why_verdict(t->p->x, t->a));
	document_text(d, "cause", why_verdict_id(x));
	document_text(d, "of", t->p->of);
	document_i64(d, "step_ns", t->p->wall);
	document_i64(d, "window_ns", trace_ns(trace_of(x), x->step));
	document_fraction(
	        d, "busy", (struct fraction){ (int64_t)(x->busy * 1000000 + 0.5), 1000000 });
	document_i64(d, "not_known_ns", trace_ns(trace_of(x), x->unknown));
	document_i64(d, "no_cause_ns", trace_ns(trace_of(x), x->rest.ticks));
	if (x->rest.name.p)
		document_text(d, "no_cause_longest", x->rest.name);
	document_fraction(d, "model_error",
	        (struct fraction){ (int64_t)(x->error * 1000000 + 0.5), 1000000 });
	if (x->left_out.p)
		document_text(d, "left_out", x->left_out);
	document_key(d, "python_stacks");
	json_literal(&d->j, x->stacks ? S("true") : S("false"));
	if (x->job->ranks.n > 1)
		put_ranks_member(d, x);
	if (t->p->n_phases)
		put_phases_member(d, t->p, t->a);
	document_key(d, "causes");
	json_array(&d->j);
	for (size_t i = 0; i < x->found.n; i++)
		if (in_data(t, i))
			put_cause(d, t, &x->found.v[i]);
	json_array_end(&d->j);
	document_key(d, "not_judged");
	json_array(&d->j);
	for (size_t i = 0; i < x->gaps.n; i++) {
		json_object(&d->j);
		document_text(d, "id", str_of(why_rows[x->gaps.v[i].id].id));
		document_text(d, "reason", x->gaps.v[i].reason);
		json_object_end(&d->j);
	}
	json_array_end(&d->j);
}

/* ---- a full screen ---- */

static const char *const row_titles[] = { "cause", "", "saves", "share", "kind", "most of it is in",
	"" };

/* Writes the verdict, and the causes as a table. */
static void put_cells(struct why_text *t)
{
	struct table rows;

	put_head(t);
	put_next(t);
	fill_rows(&rows, t);
	rows.titles = row_titles;
	if (rows.rows)
		table_put_lines(&rows, 0, t->to);
	put_gaps(t);
}

/* ---- outputs ---- */

struct why_shown {
	const struct why_page *p;
	unsigned columns;
};

static struct why_text text_of(const struct exported *x, struct sink *s, struct emit *to)
{
	const struct why_shown *shown = x->of;

	return (struct why_text){ .p = shown->p,
		.to = s,
		.a = to->a,
		.from = &to->from,
		.columns = shown->columns ? shown->columns : WHY_PLAIN_COLUMNS,
		.terminal = shown->columns > 0,
		.full_names = x->output->full_names };
}

static bool as_text(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct why_text t = text_of(x, s, to);

	(void)e;
	if (to->cells && t.p->cause == WHY_IDS)
		put_cells(&t);
	else
		put_text(&t);
	return true;
}

static bool as_document(const struct exported *x, struct sink *s, struct emit *to, struct err *e)
{
	struct why_text t = text_of(x, s, to);
	struct document d;

	(void)e;
	document_open(&d, s, to, "tfprof/why", WHY_VERSION);
	put_document(&d, &t);
	if (!to->arrays) {
		struct table rows;
		fill_rows(&rows, &t);
		table_put_document_rows(&d, &rows, 0);
	}
	document_end(&d);
	return true;
}

/* Writes the whole answer as Markdown, and the causes in other row formats. */
static bool as_rows(const struct exported *x, enum sheet_form form, struct sink *s, struct emit *to,
        struct err *e)
{
	struct why_text t = text_of(x, s, to);

	(void)e;
	if (form == SHEET_MD) {
		t.md = true;
		put_text(&t);
		return true;
	}
	struct table rows;
	fill_rows(&rows, &t);
	table_put_sheet(&rows, 0, form, s);
	return true;
}

bool why_write(const struct why_page *p, const struct opts *o, unsigned columns, struct emit *to,
        struct err *e)
{
	const struct why_shown shown = { p, columns };
	struct exported x = { .kind = RESULT_GPU,
		.name = "why",
		.of = &shown,
		.output = &o->output,
		.text = as_text,
		.document = as_document,
		.rows = as_rows };

	return out_export(&x, to, e);
}
