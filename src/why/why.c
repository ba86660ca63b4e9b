/* SPDX-License-Identifier: Apache-2.0
 *
 * Removes each cause in a replay, and ranks the causes by the time that a step would save.
 */
#include "base/demangle.h"
#include "base/fmt.h"
#include "base/sort.h"
#include "trace/pass/work_function.h"
#include "why/why_internal.h"

#define CAUSE(name, ...) { .id = #name, __VA_ARGS__ },
const struct why_row why_rows[WHY_IDS] = {
#include "why/cause.def"
};
#undef CAUSE

enum why_id why_find_row(struct str id)
{
	for (int i = 0; i < WHY_IDS; i++)
		if (str_eq(id, str_of(why_rows[i].id)))
			return (enum why_id)i;
	return WHY_IDS;
}

struct str why_gap_of(const struct why *w, enum why_id id)
{
	for (size_t i = 0; i < w->gaps.n; i++)
		if (w->gaps.v[i].id == id)
			return w->gaps.v[i].reason;
	return STR_NONE;
}

/* ---- one cause ---- */

/* The traces of a job, and the changes of one cause in each of them. */
struct changed_job {
	const struct why_scene *scenes;
	struct why_change *changes;
	size_t n;
};

static struct changed_job change_all(
        const struct why_scene *scenes, size_t n, enum why_id id, struct arena *a)
{
	struct changed_job j = { scenes, ARENA_ARRAY(a, n, struct why_change), n };

	for (size_t i = 0; i < n; i++)
		j.changes[i] = why_change_of(&scenes[i], id, a);
	return j;
}

/* Returns the reason why no trace allows judging the cause; p is NULL if some trace does. */
static struct str reason_of(const struct changed_job *j)
{
	for (size_t i = 0; i < j->n; i++)
		if (!j->changes[i].reason.p)
			return STR_NONE;
	return j->changes[0].reason;
}

static int by_ticks(const void *v, uint32_t a, uint32_t b)
{
	const struct why_place *x = (const struct why_place *)v + a,
	                       *y = (const struct why_place *)v + b;

	return (x->ticks < y->ticks) - (x->ticks > y->ticks);
}

/* Returns the time of the longest piece of a place if that piece is start-up and takes most of the
 * place's time; otherwise 0. */
static int64_t start_up_of(const struct why_place *p)
{
	return p->first && p->longest > p->ticks - p->longest ? p->longest : 0;
}

/* Counts the threads and devices that have a part of the cost. */
static void count_tracks(struct why_finding *f, const struct why_scene *s,
        const struct why_change *c, struct arena *own)
{
	bool *devices = ARENA_ARRAY(own, s->t->devices.n, bool);
	size_t threads = 0, n = 0;

	for (size_t i = 0; c->tracks && i < s->t->tracks.n; i++) {
		uint32_t device = s->t->tracks.v[i].device;
		if (!c->tracks[i])
			continue;
		if (device == ID_NONE)
			threads++;
		else
			devices[device] = true;
	}
	for (size_t i = 0; i < s->t->devices.n; i++)
		n += devices[i];
	f->threads = threads > f->threads ? threads : f->threads;
	f->devices = n > f->devices ? n : f->devices;
}

/* Adds up the places of all traces, in the arena of the answer. Their times are means over the
 * chosen steps of the traces in which the cause takes time. */
static void add_places(
        struct why_finding *f, const struct changed_job *j, struct arena *a, struct arena *own)
{
	struct intern names;
	size_t costly = 0;

	intern_init(&names, own);
	for (size_t i = 0; i < j->n; i++)
		costly += j->changes[i].cost > 0;
	for (size_t i = 0; i < j->n; i++) {
		const struct why_change *c = &j->changes[i];
		int64_t n = (int64_t)(j->scenes[i].x->n_chosen * (costly ? costly : 1));
		if (costly == 1 && c->cost > 0 && c->at.p && f->id == WHY_slow_rank)
			f->at = str_copy(a, c->at);
		f->cost = num_add(f->cost, c->cost / n);
		f->again = num_add(f->again, c->again / n);
		count_tracks(f, &j->scenes[i], c, own);
		for (size_t k = 0; k < c->places.n; k++) {
			struct why_place place = c->places.v[k];
			uint32_t at = intern_add(&names, place.name);
			place.start_up = why_rows[f->id].start_up ? start_up_of(&place) / n : 0;
			place.ticks /= n;
			f->start_up = num_add(f->start_up, place.start_up);
			if (str_eq(str_of(place.kind), S(WHY_OUTSIDE)))
				f->outside = num_add(f->outside, place.ticks);
			if (at < f->places.n) {
				f->places.v[at].ticks += place.ticks;
				f->places.v[at].times += place.times;
				f->places.v[at].start_up += place.start_up;
				if (place.longest > f->places.v[at].longest)
					f->places.v[at].longest = place.longest;
				continue;
			}
			place.name = str_copy(a, place.name);
			VEC_PUSH(a, &f->places, place);
		}
	}
	sort_array(a, f->places.v, f->places.n, sizeof *f->places.v, by_ticks);
}

static void add_finding(struct why *out, const struct why_finding *made,
        const struct changed_job *j, struct arena *a, struct arena *own)
{
	struct why_finding f = *made;

	for (size_t i = 0; i < j->n; i++) {
		f.bound |= j->changes[i].bound && !out->unlaunched;
		f.replayed |= j->changes[i].saved == INT64_MIN;
		if (j->changes[i].advice)
			f.advice = str_z(a, str_of(j->changes[i].advice));
		if (j->changes[i].assumed.p)
			f.assumed = str_copy(a, j->changes[i].assumed);
		if (j->changes[i].detail.p)
			f.detail = str_copy(a, j->changes[i].detail);
	}
	add_places(&f, j, a, own);
	VEC_PUSH(a, &out->found, f);
}

/* Replays the job with the changes. The runs live in a. */
static struct replay_run *run_changed(
        const struct rank_group *job, const struct changed_job *j, struct arena *a)
{
	struct replay_run *runs = ARENA_ARRAY(a, j->n, struct replay_run);
	struct replay_plan *plans = ARENA_ARRAY(a, j->n, struct replay_plan);

	for (size_t i = 0; i < j->n; i++)
		plans[i] = j->changes[i].plan;
	if (job->collectives.n)
		rank_group_run(job, plans, runs, a);
	for (size_t i = 0; i < j->n && !job->collectives.n; i++)
		replay_plan_run(job->replays[i], &plans[i], &runs[i], a);
	return runs;
}

/* Returns the time on the critical path of a changed step for which the file shows no cause. */
static int64_t unknown_in(const struct replay *x, const struct replay_run *run)
{
	int64_t kinds[CRITICAL_KINDS];

	replay_sum_paths(x, run, kinds);
	return x->n_chosen ? kinds[CRITICAL_UNKNOWN] / (int64_t)x->n_chosen : 0;
}

/* Returns the time that the changes save, as the mean over all traces; 0 or less if they save
 * nothing. Sets *unknown to the time on the critical path of the changed step for which the file
 * shows no cause; 0 if the change is not replayed. */
static int64_t saved_by(const struct rank_group *job, const struct changed_job *j, int64_t *unknown,
        struct arena *a)
{
	const struct replay_run *runs = NULL;
	int64_t sum = 0;
	bool changed = false;

	for (size_t i = 0; i < j->n; i++)
		changed |= j->changes[i].plan.lengths || j->changes[i].plan.unblocked;
	if (changed)
		runs = run_changed(job, j, a);
	for (size_t i = 0; i < j->n; i++) {
		const struct why_change *c = &j->changes[i];
		if (c->saved != INT64_MIN)
			sum = num_add(sum, c->saved);
		else if (runs)
			sum = num_add(sum, num_sub(job->replays[i]->recorded.after, runs[i].after));
	}
	*unknown = 0;
	for (size_t i = 0; runs && sum > 0 && i < j->n; i++)
		*unknown = num_add(*unknown, unknown_in(job->replays[i], &runs[i]) / (int64_t)j->n);
	return sum / (int64_t)j->n; /* NOLINT: a job has replays */
}

static void examine(
        const struct why_scene *scenes, enum why_id id, struct why *out, struct arena *a)
{
	struct scratch own;

	scratch_open(&own, a->work);
	const struct changed_job j = change_all(scenes, out->job->n_replays, id, &own.a);
	struct str reason = reason_of(&j);
	struct why_finding f = { .id = id };
	if (!reason.p)
		f.saved = saved_by(out->job, &j, &f.unknown, &own.a);
	if (reason.p)
		VEC_PUSH(a, &out->gaps, ((struct why_gap){ id, str_copy(a, reason) }));
	else if (f.saved > 0)
		add_finding(out, &f, &j, a, &own.a);
	scratch_close(&own);
}

bool why_replay(const struct rank_group *job, enum why_id id, struct replay_run *out,
        struct arena *a, struct err *e)
{
	struct why_scene s;

	why_scene_open(&s, job, 0, a);
	const struct changed_job j = change_all(&s, 1, id, a);
	const struct why_change *c = &j.changes[0];
	if (c->reason.p || c->saved != INT64_MIN)
		return err_set(e, ERR_INVALID_ARGUMENT, "cause:%s cannot be replayed: %.*s",
		        why_rows[id].id,
		        STR(c->reason.p ? c->reason : S("its time is computed without a replay")));
	*out = *run_changed(job, &j, a);
	return true;
}

/* ---- all causes ---- */

#define STEP_SHARE 0.5 /* the last device work must end after this part of the step */

static int by_saved(const void *v, uint32_t a, uint32_t b)
{
	const struct why_finding *x = (const struct why_finding *)v + a,
	                         *y = (const struct why_finding *)v + b;

	return (x->saved < y->saved) - (x->saved > y->saved);
}

/* Moves slow first steps before the host time that makes them slow: if both save the same, up to
 * the error of the replay, all of that host time is in the first steps. */
static void prefer_warmup(struct why *out)
{
	struct why_finding *v = out->found.v;
	size_t at = 0;

	while (at < out->found.n && v[at].id != WHY_warmup)
		at++;
	for (; at > 0 && at < out->found.n; at--) {
		const struct why_finding f = v[at];
		double apart = (double)num_sub(v[at - 1].saved, f.saved);
		if ((v[at - 1].id != WHY_host_work && v[at - 1].id != WHY_launch_bound) ||
		        apart > (double)out->step * WHY_LEAST_SHARE)
			return;
		v[at] = v[at - 1];
		v[at - 1] = f;
	}
}

/* Returns a reason for no verdict if most launches of graphs have no recorded work, because the
 * device did more than the file shows. */
static struct str check_graphs(const struct why_scene *s, struct arena *a)
{
	uint64_t empty = 0, all = 0;

	for (uint32_t i = 0; i < s->d->nodes.n; i++) {
		if (!why_launches_graph(s, i))
			continue;
		all++;
		empty += !s->launches[i];
	}
	return empty * 2 > all
	               ? str_fmt(a,
	                         "%llu of %llu graph launches have no recorded work, so the "
	                         "device did more than the file says",
	                         (unsigned long long)empty, (unsigned long long)all)
	               : STR_NONE;
}

/* Returns a reason for no verdict if an Nsight Systems export has launches of graphs as one slice
 * each, because such slices are often incomplete. */
static struct str check_whole_graphs(const struct why_scene *s, struct arena *a)
{
	int64_t graphs = 0, all = 0;

	for (size_t i = 0; i < s->d->nodes.n && s->t->source == TRACE_NSYS; i++) {
		const struct depend_node *n = &s->d->nodes.v[i];
		if (n->host)
			continue;
		all = num_add(all, n->end - n->start);
		if (str_starts(why_name(s, n->event), S("CUDA graph ")))
			graphs = num_add(graphs, n->end - n->start);
	}
	return (double)graphs > (double)all * WHY_UNKNOWN_SHARE
	               ? str_fmt(a,
	                         "%.1f%% of the device work are CUDA graphs recorded as one slice, "
	                         "of which a part may be missing; record with "
	                         "--cuda-graph-trace=node",
	                         (double)graphs * 100 / (double)all)
	               : STR_NONE;
}

/* Returns a reason for no verdict if the file is known to lack device work: work that a recording
 * lost, or beyond the limit of a trace. */
static struct str check_losses(const struct why_scene *s, struct arena *a)
{
	uint64_t lost = s->t->lost + s->t->dropped_slices, all = lost;

	for (size_t i = 0; i < s->d->nodes.n; i++)
		all += !s->d->nodes.v[i].host;
	if ((double)lost <= (double)all * WHY_LOST_SHARE)
		return STR_NONE;
	return str_fmt(a, "%llu of %llu pieces of device work are lost", (unsigned long long)lost,
	        (unsigned long long)all);
}

static bool has_work(const struct rank_group *job)
{
	bool any = false;

	for (size_t i = 0; i < job->n_replays; i++) {
		const struct depend *d = &job->replays[i]->depend;
		any |= d->nodes.n && !d->nodes.v[0].host;
	}
	return any;
}

static bool has_launches(const struct rank_group *job, const struct why_scene *scenes)
{
	for (size_t i = 0; i < job->n_replays; i++)
		if (why_has_launches(&scenes[i]))
			return true;
	return false;
}

/* Sets the shares of the chosen windows in which devices were busy, and in which they computed. */
static void find_shares(const struct rank_group *job, struct why *out, struct arena *a)
{
	double compute = 0, communication = 0, copies = 0, idle = 0;
	size_t n, windows = 0;

	for (size_t k = 0; k < job->n_replays; k++) {
		const struct replay *x = job->replays[k];
		const struct replay_part *v = replay_partition(x, &x->recorded, &n, a);
		windows += n * x->n_chosen;
		for (size_t i = 0; i < n; i++) {
			compute += (double)v[i].compute;
			communication += (double)v[i].communication;
			copies += (double)v[i].copy;
			idle += (double)v[i].idle;
		}
	}
	double all = compute + communication + copies + idle;
	if (all <= 0)
		return;
	out->compute = compute / all;
	out->communication = communication / all;
	out->copies = copies / all;
	out->busy = (compute + communication + copies) / all;
	out->exposed = (int64_t)(communication / (double)windows);
}

/* Returns the function that takes more than half of the time of kernels in the chosen steps, in a;
 * p is NULL if there is none. */
static struct str find_main_kernel(const struct why_scene *scenes, size_t n, struct arena *a)
{
	size_t budget = DEMANGLE_BUDGET;
	VEC(int64_t) times = { .n = 0 };
	struct intern names;
	int64_t all = 0;

	intern_init(&names, a);
	for (size_t k = 0; k < n; k++)
		for (uint32_t i = 0; i < scenes[k].d->nodes.n; i++) {
			const struct depend_node *node = &scenes[k].d->nodes.v[i];
			if (node->host || node->class != USAGE_COMPUTE ||
			        why_window(&scenes[k], i) == ID_NONE)
				continue;
			uint32_t id = intern_add_kept(&names, why_name(&scenes[k], node->event));
			if (id == times.n)
				VEC_PUSH(a, &times, 0);
			/* NOLINTNEXTLINE: the macro makes room first */
			times.v[id] = num_add(times.v[id], node->end - node->start);
			all = num_add(all, node->end - node->start);
		}
	for (uint32_t i = 0; i < times.n; i++)
		if (times.v[i] > all / 2)
			return work_function(intern_str(&names, i), CATEGORY_KERNEL, a, &budget);
	return STR_NONE;
}

bool why_is_compute_bound(const struct why *w)
{
	return w->reported && w->compute > 0.5 &&
	       (w->found.v[0].id == WHY_one_kernel ||
	               (double)w->found.v[0].saved < (double)w->step * WHY_NAMED_SHARE);
}

/* Returns a reason for no verdict if the marks of the steps do not match the device work. */
static struct str check_steps(const struct why_scene *s, struct arena *a)
{
	const struct replay *x = s->x;
	int64_t n = x->marks->by == STEPS_UNKNOWN ? 0 : (int64_t)x->n_chosen;
	int64_t marks = 0, after = 0, until = INT64_MIN;

	for (int64_t i = 0; i < n; i++) { /* marks of groups may overlap */
		const struct trace_step *mark = &x->marks->steps.v[s->windows[i].step];
		int64_t last = s->last_launch[s->windows[i].step];
		int64_t from = mark->start > until ? mark->start : until;
		until = mark->end > until ? mark->end : until;
		marks = num_add(marks, until > from ? num_sub(until, from) : 0);
		after = num_add(after, last > mark->end ? num_sub(last, mark->end) : 0);
	}
	if (marks <= 0)
		return STR_NONE;
	double share = (double)x->recorded.after * (double)n / (double)marks;
	const char *cure = x->n_windows > 1 ? "profile longer, or choose other steps (-step)"
	                                    : "profile several steps";
	if (share < STEP_SHARE)
		return str_fmt(a,
		        "no step is complete: device work ends %.*s into a step of %.*s; %s",
		        STR(why_time(s, x->recorded.after, a)), STR(why_time(s, marks / n, a)),
		        cure);
	if (after > marks)
		return str_fmt(a,
		        "no step is complete: launches go on for %.*s after the end of a step of "
		        "%.*s, so its marks do not cover the work; %s",
		        STR(why_time(s, after / n, a)), STR(why_time(s, marks / n, a)), cure);
	return STR_NONE;
}

bool why_is_part(const struct why *w, struct arena *a)
{
	struct sb all = sb_in(a), part = sb_in(a);
	int64_t start, end;

	if (why_is_per_step(w))
		return false;
	trace_window(w->x->depend.t, &start, &end);
	fmt_time(&all, trace_ns(w->x->depend.t, num_sub(end, start)));
	fmt_time(&part, trace_ns(w->x->depend.t, w->step));
	return !str_eq(sb_str(&all), sb_str(&part));
}

void why_put_window(struct sb *b, const struct why *w)
{
	sb_fmt(b, "the %s of ",
	        why_is_part(w, b->a)  ? "window"
	        : !why_is_per_step(w) ? "trace"
	        : w->x->n_chosen == 1 ? "step"
	                              : "mean step");
	fmt_time(b, trace_ns(w->x->depend.t, w->step));
}

/* "devices compute for 2.4% of the mean step of 864ms and wait for copies for 77.4%" */
static struct str device_time(const struct why *w, struct arena *a)
{
	struct sb b = { .a = a };

	sb_fmt(&b, "devices compute for %.1f%% of ", w->compute * 100);
	why_put_window(&b, w);
	if (w->copies > WHY_UNKNOWN_SHARE)
		sb_fmt(&b, " and wait for copies for %.1f%%", w->copies * 100);
	if (w->communication > WHY_UNKNOWN_SHARE)
		sb_fmt(&b, " and wait for communication for %.1f%%", w->communication * 100);
	return sb_str(&b);
}

/* True if a trace of PyTorch, JAX or TensorFlow has ops, and nothing in it shows that its program
 * used a device. */
static bool is_of_host(const struct trace *t)
{
	static const char *const signs[] = { "GPU", "Gpu", "gpu", "CUDA", "cuda", "TPU", "Tpu" };
	bool ops = false;

	if ((t->source != TRACE_KINETO && t->source != TRACE_XSPACE) || t->devices.n ||
	        t->lists_devices)
		return false;
	for (size_t i = 0; i < t->events.n; i++) {
		struct str name = trace_str(t, t->events.v[i].name);
		if (t->events.v[i].category == CATEGORY_CALL)
			return false;
		if (t->events.v[i].category == CATEGORY_FRAME)
			continue; /* PyTorch calls functions of torch.cuda on any machine */
		for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
			if (str_contains(name, str_of(signs[k])))
				return false;
		ops |= t->events.v[i].category == CATEGORY_OP;
	}
	return ops;
}

/* Returns the reason for no verdict about a file without device work, and how to record it. */
static struct str no_work(const struct why_scene *s, const struct why *out, struct arena *a)
{
	static const char *const cures[TRACE_SOURCES] = {
		[TRACE_KINETO] = "; PyTorch records it with "
		                 "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], and "
		                 "without experimental_config(profiler_metrics=...)",
		[TRACE_XSPACE] = "; TensorFlow and JAX record it with device_tracer_level=1",
		[TRACE_ONNXRUNTIME] =
		        "; ONNX Runtime records it on CUDAExecutionProvider, if it is "
		        "built with --enable_cuda_profiling",
		[TRACE_NSYS] = "; nsys profile --trace=cuda,nvtx records it",
		[TRACE_ROCPROF] = "; rocprofv3 --kernel-trace --memory-copy-trace records it",
		[TRACE_FLIGHT] = "; the Flight Recorder records collectives, which 'tfprof "
		                 "collectives' compares",
		[TRACE_SNAPSHOT] = "; 'tfprof memory' shows what a memory snapshot contains",
		[TRACE_RECORDING] = "; tfprof doctor checks why none is recorded",
	};
	const char *cure = cures[s->t->source];

	if (s->t->truncated)
		return S("the file is truncated, and its complete events include no device work; "
		         "copy "
		         "or record the file again");
	if (out->of_host)
		return S("the file has no device work: its ops ran on the CPU");
	return str_fmt(a, "the file has no device work%s", cure ? cure : "");
}

/* True if waits without a cause in the file are a large part of the critical path, and larger than
 * what the first cause saves. */
static bool is_unexplained(const struct why *w)
{
	int64_t best = w->reported ? w->found.v[0].saved : 0;

	return w->unknown > best && (double)w->unknown > (double)w->step * WHY_UNKNOWN_SHARE;
}

/* Returns the reason for no verdict if waits without a cause are a large part of the path. Names
 * the device work after the longest of them. */
static struct str unexplained(const struct why_scene *s, const struct why *w, struct arena *a)
{
	const struct critical_segment *longest = NULL, *after = NULL;
	struct critical path;
	struct sb b = { .a = a };

	sb_fmt(&b, "for %.1f%% of the critical path, the file does not say what it waited for",
	        (double)w->unknown * 100 / (double)w->step);
	if (w->job->n_replays > 1 || s->x->n_chosen > 1)
		return sb_str(&b);
	replay_path(s->x, &s->x->recorded, 0, &path, a);
	for (size_t i = 0; i + 1 < path.segments.n; i++) {
		const struct critical_segment *v = &path.segments.v[i];
		if (v->kind != CRITICAL_UNKNOWN ||
		        (longest && v->end - v->start <= longest->end - longest->start))
			continue;
		longest = v;
		after = v;
		while (after->event == ID_NONE && after + 1 < path.segments.v + path.segments.n)
			after++;
	}
	if (!longest || after->event == ID_NONE || longest->end - longest->start <= w->unknown / 2)
		return sb_str(&b);
	sb_fmt(&b, ": %.*s before %.*s", STR(why_time(s, longest->end - longest->start, a)),
	        STR(demangle_reduce(
	                a, trace_str(s->t, s->t->events.v[after->event].name), REDUCED_ARGUMENTS)));
	if (after->track != ID_NONE && track_is_device(&s->t->tracks.v[after->track]))
		sb_fmt(&b, "; profile longer, so that earlier work of the device is recorded, too");
	return sb_str(&b);
}

/* Lists the causes of communication as not judged, because the file does not say what the critical
 * path waited for. */
static void add_communication_gaps(const struct why_scene *s, struct why *out, struct arena *a)
{
	static const enum why_id ids[] = { WHY_slow_rank, WHY_unbalanced_ranks,
		WHY_exposed_communication };
	struct str reason = str_fmt(a,
	        "communication is exposed for %.1f%% of the time, but the file does not say which "
	        "streams wait for it%s",
	        out->communication * 100, why_wait_cure(s));

	if (out->communication <= WHY_LEAST_SHARE || why_streams_wait(s, a))
		return;
	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (!why_gap_of(out, ids[i]).p)
			VEC_PUSH(a, &out->gaps, ((struct why_gap){ ids[i], reason }));
}

/* Returns the reason for no verdict if most of the window is a wait for device work that is not in
 * the file. */
static struct str check_rest(const struct why *w, struct arena *a)
{
	struct sb b = { .a = a };

	if (!w->reported || !w->rest.waits || w->rest.named <= w->found.v[0].saved ||
	        (double)w->rest.named <= (double)w->step * WHY_UNKNOWN_SHARE)
		return STR_NONE;
	sb_fmt(&b, "%.*s waits for ", STR(w->rest.name));
	fmt_time(&b, trace_ns(w->x->depend.t, w->rest.named));
	sb_fmt(&b, " of ");
	why_put_window(&b, w);
	sb_fmt(&b, " for device work that is not in the file");
	if (!why_is_per_step(w))
		sb_fmt(&b, "; no steps are marked, so this may be start-up: profile steady steps");
	return sb_str(&b);
}

/* Returns the reason for not giving a verdict, or an empty text. */
static struct str find_doubt(const struct why_scene *scenes, const struct why *out, struct arena *a)
{
	static struct str (*const checks[])(const struct why_scene *,
	        struct arena *) = { check_losses, check_graphs, check_whole_graphs, check_steps };
	int64_t best = out->reported ? out->found.v[0].saved : 0;
	bool replayed =
	        out->reported ? out->found.v[0].replayed : 1 - out->compute > WHY_LEAST_SHARE;

	if (!has_work(out->job))
		return no_work(&scenes[0], out, a);
	if (out->step <= 0)
		return S("the window has no length");
	for (size_t i = 0; i < out->job->n_replays; i++)
		for (size_t k = 0; k < sizeof checks / sizeof *checks; k++) {
			struct str doubt = checks[k](&scenes[i], a);
			if (doubt.p)
				return doubt;
		}
	bool silent = 1 - out->compute > WHY_UNKNOWN_SHARE; /* some work must have taken the time */
	bool small = (double)best <= (double)out->step * WHY_UNKNOWN_SHARE;
	if (small && silent && !has_launches(out->job, scenes))
		return str_fmt(a,
		        "%.*s, and the file does not say which calls launched the device work",
		        STR(device_time(out, a)));
	if (is_unexplained(out))
		return unexplained(&scenes[0], out, a);
	struct str waits = check_rest(out, a);
	if (waits.p)
		return waits;
	if (!out->reported && silent)
		return str_fmt(a, "%.*s, and no cause that could be judged explains the rest",
		        STR(device_time(out, a)));
	if (replayed && out->error > WHY_ERROR_SHARE)
		return str_fmt(a, "the error of the replay is %.1f%%", out->error * 100);
	return STR_NONE;
}

/* Summarises the job: the mean step and unexplained time, and the largest error. */
static void sum_up(const struct rank_group *job, struct why *out, struct arena *a)
{
	for (size_t i = 0; i < job->n_replays; i++) {
		const struct replay *x = job->replays[i];
		double error = replay_error(x);
		out->error = error > out->error ? error : out->error;
		out->step = num_add(out->step, x->recorded.after);
		out->unknown = num_add(out->unknown, unknown_in(x, &x->recorded));
	}
	if (job->n_replays > 1) {
		out->step /= (int64_t)job->n_replays;
		out->unknown /= (int64_t)job->n_replays;
	}
	find_shares(job, out, a);
}

/* Returns the device work of a mean step without a launch in the file; 0 unless it is a large
 * share. */
static int64_t find_unlaunched(const struct why_scene *scenes, const struct rank_group *job)
{
	int64_t all = 0, without = 0, n = 0;

	for (size_t k = 0; k < job->n_replays; k++) {
		const struct why_scene *s = &scenes[k];
		n += (int64_t)s->x->n_chosen;
		for (uint32_t i = 0; i < s->d->nodes.n; i++) {
			const struct depend_node *node = &s->d->nodes.v[i];
			if (node->host || why_window(s, i) == ID_NONE)
				continue;
			all = num_add(all, node->end - node->start);
			without = num_add(without, node->launch ? 0 : node->end - node->start);
		}
	}
	return n && (double)without > (double)all * WHY_LOST_SHARE ? without / n : 0;
}

/* Sets the share of matrix products in the device work, if enough ops are known. */
static void find_matrix_share(
        struct why *out, const struct why_scene *scenes, size_t n, struct arena *a)
{
	struct why_matrix sum = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct why_matrix x = why_matrix_work(&scenes[i], a);
		sum.matrix = num_add(sum.matrix, x.matrix);
		sum.other = num_add(sum.other, x.other);
		sum.all = num_add(sum.all, x.all);
	}
	const double known = (double)sum.matrix + (double)sum.other;
	if (!(known > (double)sum.all * WHY_KNOWN_SHARE))
		return;
	out->matrix = (double)sum.matrix / (double)sum.all;
	out->matrix_known = known / (double)sum.all;
}

static void find_rest(struct why *out, const struct why_scene *scenes, struct arena *a)
{
	uint32_t n = (uint32_t)out->job->n_replays;
	bool reported[WHY_IDS] = { false };

	for (size_t k = 0; k < out->reported; k++)
		reported[out->found.v[k].id] = true;
	for (uint32_t i = 0; i < n; i++) {
		struct why_rest rest = why_rest_of_path(&scenes[i], reported, a);
		if (n == 1)
			out->rest = rest;
		else
			out->rest.ticks = num_add(out->rest.ticks, rest.ticks / n);
	}
}

/* Returns "gpu:1 (19 pieces of work, 34.2us: negligible)", the devices that the partition of the
 * steps leaves out; p is NULL if there are none. */
static struct str find_left_out(const struct why_scene *s, struct arena *a)
{
	const bool *idlers = critical_idlers(s->t, s->x->marks, a);
	bool *counted = ARENA_ARRAY(a, s->t->devices.n, bool);
	struct sb b = { .a = a };
	size_t n_parts;
	const struct replay_part *parts = replay_partition(s->x, &s->x->recorded, &n_parts, a);

	for (size_t i = 0; i < n_parts; i++)
		counted[parts[i].device] = true;
	for (uint32_t k = 0; k < s->t->devices.n; k++) {
		size_t works = 0;
		int64_t ticks = 0;
		for (size_t i = 0; !counted[k] && i < s->d->nodes.n; i++) {
			const struct depend_node *n = &s->d->nodes.v[i];
			if (n->host || s->t->tracks.v[n->track].device != k)
				continue;
			works++;
			ticks = num_add(ticks, n->end - n->start);
		}
		if (works)
			sb_fmt(&b, "%s%.*s (%zu piece%s of work, %.*s: %s)", b.n ? ", " : "",
			        STR(trace_str(s->t, s->t->devices.v[k].name)), works,
			        works == 1 ? "" : "s", STR(why_time(s, ticks, a)),
			        idlers && idlers[k] ? "negligible" : "at another time");
	}
	return b.n ? sb_str(&b) : STR_NONE;
}

/* True if a framework recorded Python stacks: it does so in each call of a function. */
static bool has_stacks(const struct why_scene *s)
{
	if (s->t->source != TRACE_KINETO && s->t->source != TRACE_XSPACE)
		return false;
	for (size_t i = 0; i < s->t->events.n; i++)
		if (s->t->events.v[i].category == CATEGORY_FRAME)
			return true;
	return false;
}

/* Returns an answer without its causes. */
static struct why without_causes(const struct why *w)
{
	struct why x = *w;

	x.reported = 0;
	x.rest = (struct why_rest){ .ticks = 0 };
	return x;
}

void why_find(const struct rank_group *job, struct why *out, struct arena *a)
{
	struct scratch own;

	*out = (struct why){ .job = job, .x = job->replays[0] };
	scratch_open(&own, a->work);
	struct why_scene *scenes = ARENA_ARRAY(&own.a, job->n_replays, struct why_scene);
	for (uint32_t i = 0; i < job->n_replays; i++)
		why_scene_open(&scenes[i], job, i, &own.a);
	sum_up(job, out, &own.a);
	out->unlaunched = find_unlaunched(scenes, job);
	for (int i = 0; i < WHY_IDS; i++)
		examine(scenes, (enum why_id)i, out, a);
	sort_array(a, out->found.v, out->found.n, sizeof *out->found.v, by_saved);
	prefer_warmup(out);
	while (out->reported < out->found.n &&
	        (double)out->found.v[out->reported].saved > (double)out->step * WHY_LEAST_SHARE)
		out->reported++;
	out->of_host = !has_work(job) && !scenes[0].t->truncated && is_of_host(scenes[0].t);
	if (out->reported)
		find_rest(out, scenes, &own.a);
	out->no_verdict = find_doubt(scenes, out, a);
	if (out->no_verdict.p && is_unexplained(out))
		add_communication_gaps(&scenes[0], out, a);
	if (!why_gap_of(out, WHY_exposed_communication).p ||
	        (double)out->exposed <= (double)out->step * WHY_LEAST_SHARE)
		out->exposed = 0;
	out->left_out = find_left_out(&scenes[0], a);
	out->stacks = has_stacks(&scenes[0]);
	if (out->no_verdict.p)
		*out = without_causes(out);
	else if (why_is_compute_bound(out))
		out->main_kernel = find_main_kernel(scenes, job->n_replays, a);
	else if (!out->reported)
		find_matrix_share(out, scenes, job->n_replays, &own.a);
	scratch_close(&own);
}
