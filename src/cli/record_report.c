/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the summary of record after the program has ended.
 */
#include "cli/recording.h"

#include <fcntl.h>
#include <unistd.h>

#include "cli/spawn.h"
#include "base/fmt.h"
#include "base/num.h"
#include "trace/read/recording/recordings.h"
#include "io/src.h"

#define LOOK_MS  50 /* initial interval */
#define SAID_MAX 3  /* maximum number of printed messages of collectors */

static bool is_new(const struct record_report *r, struct str file)
{
	return intern_find(&r->before, file) == ID_NONE;
}

/* True if a process still writes this recording. */
static bool is_open(struct record_report *r, struct str file)
{
	struct owner owner;
	struct recording_facts look;
	struct err e = { .a = r->a };

	if (!is_new(r, file) || !recording_owner(r->a, file, &owner) ||
	        !recording_lives(r->a, &owner))
		return false;
	return !recording_summary(r->a, file, &look, &e) || !look.ended;
}

/* Returns the number of processes that still record. */
static size_t count_open(struct record_report *r)
{
	struct arena_mark m = arena_mark(r->a);
	struct err e = { .a = r->a };
	struct strs files;
	size_t n = 0;

	if (recording_files(r->a, r->folder, S(SPOOL_SUFFIX), &files, &e))
		for (size_t i = 0; i < files.n; i++)
			n += is_open(r, files.v[i]);
	arena_reset(r->a, m);
	return n;
}

/* Waits for processes that the program left running. Returns the number of processes that still
 * record. Checks less and less often, because each check reads the recordings. */
static size_t wait_for_others(struct record_report *r, int64_t left)
{
	int64_t pause = LOOK_MS;
	size_t n;

	while ((n = count_open(r)) && left > 0) {
		pause = pause < left ? pause : left;
		if (!follow_wait(pause))
			break;
		left -= pause;
		pause += pause / 2;
	}
	return n;
}

struct summary {
	uint64_t processes, kernels, copies, bytes, damaged;
	struct recording_losses lost;
	uint64_t unended; /* number of recordings that were not closed and never will be */
	struct str ended; /* how one of these processes ended, if known */
	uint64_t gaps;    /* number of periods in which nothing was recorded */
	bool uncompared;  /* true: for some launches, it is unknown whether their kernels arrived */
	struct strs said;
};

/* Stores a message, up to a limit and without duplicates. */
static void keep_note(struct record_report *r, struct summary *x, struct str text)
{
	for (size_t i = 0; i < x->said.n; i++)
		if (str_eq(x->said.v[i], text))
			return;
	if (text.n && x->said.n < SAID_MAX)
		strs_add(r->a, &x->said, text);
}

static void add(struct record_report *r, struct summary *x, struct str file)
{
	struct recording_facts look;
	struct err e = { .a = r->a };

	x->processes++;
	if (!recording_summary(r->a, file, &look, &e)) {
		keep_note(r, x, e.text);
		return;
	}
	x->kernels = num_add_u64(x->kernels, recording_kernels(&look));
	x->copies = num_add_u64(x->copies, recording_copies(&look));
	x->bytes += look.size;
	x->damaged += look.fault.bytes;
	x->gaps = num_add_u64(x->gaps, look.gaps);
	x->uncompared |= !look.compared;
	if (!look.ended && !is_open(r, file)) {
		struct sb b = sb_in(r->a);
		x->unended++;
		recording_end_text(&b, &look);
		if (look.exited && !(look.count_flags & SPOOL_COUNT_EXITS))
			x->ended = sb_str(&b);
	}
	recording_losses_add(&x->lost, &look.lost);
	for (size_t i = 0; i < look.notes.n; i++)
		keep_note(r, x, look.notes.v[i]);
}

/* Prints the first messages of the collectors' logs. */
static void add_logs(struct record_report *r, struct summary *x)
{
	struct err e = { .a = r->a };
	struct str text;
	struct strs files;
	struct src *s;

	if (!recording_files(r->a, r->folder, S(".log"), &files, &e))
		return;
	for (size_t i = 0; i < files.n && x->said.n < SAID_MAX; i++) {
		if (!is_new(r, files.v[i]) || !src_open_file(&s, r->a, files.v[i], &e))
			continue;
		src_need(s, 1);
		text = str_make(s->p, (size_t)(s->end - s->p));
		text = str_copy(r->a, str_sub(text, 0, str_find_char(text, '\n')));
		src_close(s);
		keep_note(r, x, text);
	}
}

/* Prints the amount recorded, and the next command to type. */
static void say_summary(const struct record_report *r, const struct summary *x, size_t open,
        struct str dir, struct notes *to)
{
	struct sb size = sb_in(r->a), lost = sb_in(r->a), folder = sb_in(r->a);

	for (size_t i = 0; i < x->said.n; i++)
		note_line(to, "tfprof: %.*s\n", STR(x->said.v[i]));
	if (!x->processes) {
		note_line(to, "tfprof: nothing was recorded: no process used CUDA, or it ran with "
		              "another environment, user or folder; see tfprof doctor\n");
		return;
	}
	fmt_si_bytes(&size, (double)x->bytes);
	recording_lost_text(&lost, &x->lost, x->damaged);
	if (x->gaps)
		sb_fmt(&lost, "%s%llu interval%s without recording", lost.n ? ", " : "",
		        (unsigned long long)x->gaps, x->gaps == 1 ? "" : "s");
	if (x->unended)
		sb_fmt(&lost,
		        "%s%llu process%s had not closed %s recording%s%s%.*s: the last records "
		        "may be "
		        "missing",
		        lost.n ? ", " : "", (unsigned long long)x->unended,
		        x->unended == 1 ? "" : "es", x->unended == 1 ? "its" : "their",
		        x->unended == 1 ? "" : "s",
		        x->ended.n ? (x->unended == 1 ? ", as it " : "; one ") : "", STR(x->ended));
	note_line(to, "tfprof: %llu process%s, %llu kernel%s, %llu cop%s, %.*s in %.*s; %.*s\n",
	        (unsigned long long)x->processes, x->processes == 1 ? "" : "es",
	        (unsigned long long)x->kernels, x->kernels == 1 ? "" : "s",
	        (unsigned long long)x->copies, x->copies == 1 ? "y" : "ies", STR(sb_str(&size)),
	        STR(dir),
	        STR(lost.n              ? sb_str(&lost)
	                : x->uncompared ? S("no known losses")
	                                : S("nothing lost")));
	if (open)
		note_line(to, "tfprof: %zu of them still run%s and record%s\n", open,
		        open == 1 ? "s" : "", open == 1 ? "s" : "");
	sb_put_word(&folder, dir);
	note_line(to, "tfprof: next: tfprof gpu %.*s, tfprof op %.*s\n", STR(sb_str(&folder)),
	        STR(sb_str(&folder)));
}

bool record_report_begin(struct record_report *r, struct arena *a, struct str folder, struct err *e)
{
	static const char *const ends[] = { SPOOL_SUFFIX, ".log" };
	struct strs files;

	*r = (struct record_report){ .a = a, .folder = folder };
	intern_init(&r->before, a);
	for (size_t i = 0; i < 2; i++) {
		if (!recording_files(a, folder, str_of(ends[i]), &files, e))
			return false;
		for (size_t k = 0; k < files.n; k++)
			intern_add_kept(&r->before, files.v[k]);
	}
	return true;
}

/* Stores the status in the launch counts of a recording, if it has any. */
static void put_status(struct arena *a, struct str file, int status)
{
	int fd = open(str_z(a, file), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
	uint32_t value = 1 + (uint32_t)status;
	char magic[SPOOL_MAGIC_SIZE];

	if (fd < 0)
		return;
	if (pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
	        !memcmp(magic, SPOOL_COUNT_MAGIC, sizeof magic) &&
	        pwrite(fd, &value, sizeof value, offsetof(struct spool_count, status)) < 0) {
		close(fd); /* then the end of the process stays unknown */
		return;
	}
	close(fd);
}

void record_report_ended(struct record_report *r, int64_t pid, int status)
{
	struct arena_mark m = arena_mark(r->a);
	struct err e = { .a = r->a };
	struct str unended = STR_NONE;
	struct recording_facts look;
	struct strs files;
	struct owner owner;
	size_t n = 0;

	if (recording_files(r->a, r->folder, S(SPOOL_SUFFIX), &files, &e))
		for (size_t i = 0; i < files.n; i++) {
			if (!is_new(r, files.v[i]) || !recording_owner(r->a, files.v[i], &owner) ||
			        !owner.here || owner.pid != pid ||
			        !recording_summary(r->a, files.v[i], &look, &e) || look.ended)
				continue;
			unended = files.v[i];
			n++;
		}
	/* If there are several, exec ended all but one, and it is unknown which of them has this
	 * status. */
	if (n == 1)
		put_status(r->a, unended, status);
	arena_reset(r->a, m);
}

void record_report_end(struct record_report *r, int64_t wait, struct str dir, struct notes *to)
{
	size_t open = wait_for_others(r, wait);
	struct err e = { .a = r->a };
	struct summary x = { 0 };
	struct strs files;

	if (!recording_files(r->a, r->folder, S(SPOOL_SUFFIX), &files, &e)) {
		note_line(to, "tfprof: %.*s\n", STR(e.text));
		return;
	}
	for (size_t i = 0; i < files.n; i++)
		if (is_new(r, files.v[i]))
			add(r, &x, files.v[i]);
	add_logs(r, &x);
	say_summary(r, &x, open, dir, to);
}
