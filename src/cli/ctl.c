/* SPDX-License-Identifier: Apache-2.0
 *
 * tfprof ctl. A line is appended by one write, so several processes may append at once.
 */
#define _GNU_SOURCE 1
#include "cli/program.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/recording.h"
#include "base/fmt.h"

#define CTL_LABEL_MAX 200 /* maximum length of a step's label in bytes */

/* ---- commands ---- */

static bool append(struct session *s, struct str folder, struct str line)
{
	struct str path = str_fmt(&s->query_arena, "%.*s/" SPOOL_CONTROL, STR(folder));
	int fd = open(str_z(&s->query_arena, path),
	        O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY,
	        0600);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return err_system(&s->error, "cannot open", path, errno);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(fd);
		return session_fail(
		        s, ERR_IO, "cannot open '%.*s': it is not a regular file", STR(path));
	}
	do
		n = write(fd, line.p, line.n);
	while (n < 0 && errno == EINTR);
	int why = n < 0 ? errno : n == (ssize_t)line.n ? 0 : ENOSPC;
	close(fd);
	return !why || err_system(&s->error, "cannot write", path, why);
}

static bool check_label(struct session *s, struct str label)
{
	bool plain = label.n <= CTL_LABEL_MAX;

	for (size_t i = 0; i < label.n; i++)
		plain &= (unsigned char)label.p[i] >= ' ' && label.p[i] != 0x7f;
	return plain || session_fail(s, ERR_INVALID_ARGUMENT,
	                        "a step label has at most %d bytes and no control characters",
	                        CTL_LABEL_MAX);
}

/* Fails if no process records into the folder. Processes of other machines count as running. */
static bool check_running(struct session *s, struct str folder)
{
	struct arena *a = &s->query_arena;
	struct err e = { .a = a };
	struct strs spools;
	struct owner o;

	if (!recording_files(a, folder, S(SPOOL_SUFFIX), &spools, &e))
		return true;
	if (!spools.n)
		return session_fail(s, ERR_FAILED,
		        "no process records into '%.*s' yet: the command applies to the next "
		        "process",
		        STR(folder));
	for (size_t i = 0; i < spools.n; i++)
		if (!recording_owner(a, spools.v[i], &o) || !o.here || recording_lives(a, &o))
			return true;
	return session_fail(s, ERR_FAILED,
	        "no process that has recorded into '%.*s' is still running", STR(folder));
}

static bool order(struct session *s, struct str folder, struct str word, struct str label)
{
	struct timespec now;

	if (!check_label(s, label) || !recording_check(&s->query_arena, folder, &s->error))
		return false;
	clock_gettime(CLOCK_REALTIME, &now);
	/* The command is written in any case, because a process may be about to start. */
	return append(s, folder,
	               str_fmt(&s->query_arena, "%lld %.*s%s%.*s\n",
	                       (long long)now.tv_sec * 1000000000 + now.tv_nsec, STR(word),
	                       label.n ? " " : "", STR(label))) &&
	       check_running(s, folder);
}

/* ---- status ---- */

static const char *state_of(const struct owner *o, const struct recording_facts *l, bool lives)
{
	return l->ended ? "closed" : lives ? "records" : o->here ? "cut off" : "elsewhere";
}

/* Writes text as one line: line breaks and control bytes in it are escaped. */
static void put_line(struct arena *a, struct sink *out, const char *indent, struct str text)
{
	struct sb b = sb_in(a);

	sb_put_name(&b, text);
	sink_fmt(out, "%s%.*s\n", indent, STR(sb_str(&b)));
}

static void put_row(struct arena *a, struct sink *out, const struct owner *o,
        const struct recording_facts *l, bool lives)
{
	struct sb size = sb_in(a), lost = sb_in(a);
	unsigned long long kernels = recording_kernels(l), copies = recording_copies(l);

	fmt_si_bytes(&size, (double)l->size);
	recording_lost_text(&lost, &l->lost, l->fault.bytes);
	sink_fmt(out, "%-8lld %-9s %10.*s %10llu %10llu  ", (long long)o->pid,
	        state_of(o, l, lives), STR(sb_str(&size)), kernels, copies);
	put_line(a, out, "",
	        str_fmt(a, "%.*s%s%.*s", STR(l->who.program), o->here ? "" : " on ",
	                STR(o->here ? STR_NONE : o->host)));
	if (lost.n)
		put_line(a, out, "         ", sb_str(&lost));
	for (size_t i = 0; i < l->notes.n; i++)
		put_line(a, out, "         ", l->notes.v[i]);
}

static void put_spool(struct session *s, struct sink *out, struct str file)
{
	struct arena *a = &s->query_arena;
	struct arena_mark m = arena_mark(a);
	struct err e = { .a = a };
	struct recording_facts look;
	struct owner owner = { 0 };

	if (!recording_owner(a, file, &owner))
		put_line(a, out, "", str_fmt(a, "%.*s: not the name of a recording", STR(file)));
	else if (!recording_summary(a, file, &look, &e))
		put_line(a, out, "", e.text);
	else
		put_row(a, out, &owner, &look, recording_lives(a, &owner));
	arena_reset(a, m);
}

static void put_log(struct session *s, struct sink *out, struct str file)
{
	struct arena *a = &s->query_arena;
	struct arena_mark m = arena_mark(a);
	struct err e = { .a = a };
	struct src *in;

	if (src_open_file(&in, a, file, &e)) {
		src_need(in, 1);
		struct strs lines = str_split(a, str_make(in->p, (size_t)(in->end - in->p)), '\n');
		for (size_t i = 0; i < lines.n; i++)
			put_line(a, out, "",
			        str_fmt(a, "%.*s: %.*s", STR(str_base(file)), STR(lines.v[i])));
		src_close(in);
	} else {
		put_line(a, out, "", e.text);
	}
	arena_reset(a, m);
}

static bool status(struct session *s, struct str folder, struct sink *out)
{
	struct strs spools, logs;

	if (!recording_files(&s->query_arena, folder, S(SPOOL_SUFFIX), &spools, &s->error) ||
	        !recording_files(&s->query_arena, folder, S(".log"), &logs, &s->error))
		return false;
	if (!spools.n)
		sink_put(out, S("no process records into this folder yet\n"));
	else
		sink_fmt(out, "%-8s %-9s %10s %10s %10s  %s\n", "process", "state", "size",
		        "kernels", "copies", "program");
	for (size_t i = 0; i < spools.n; i++)
		put_spool(s, out, spools.v[i]);
	for (size_t i = 0; i < logs.n; i++)
		put_log(s, out, logs.v[i]);
	return true;
}

bool ctl_run(struct session *s, const struct request *r, struct sink *out)
{
	static const char *const orders[] = { SPOOL_CONTROL_START, SPOOL_CONTROL_STOP,
		SPOOL_CONTROL_STEP, SPOOL_CONTROL_FLUSH };
	struct option_words w = { .command = r->command };

	if (!options_read(s, &r->topics, &w))
		return false;
	bool step = w.rest.n > 1 && str_eq(w.rest.v[1], S(SPOOL_CONTROL_STEP));
	if (w.rest.n < 2 || w.rest.n > (step ? 3 : 2))
		return session_fail(s, ERR_INVALID_ARGUMENT,
		        "ctl takes a folder and one of start, stop, step [LABEL], flush, status");
	struct str folder = w.rest.v[0], word = w.rest.v[1];
	if (str_eq(word, S("status")))
		return status(s, folder, out);
	for (size_t i = 0; i < sizeof orders / sizeof *orders; i++)
		if (str_eq(word, str_of(orders[i])))
			return order(s, folder, word, w.rest.n > 2 ? w.rest.v[2] : STR_NONE);
	return session_fail(s, ERR_INVALID_ARGUMENT,
	        "'%.*s' is not a subcommand of ctl: expected start, stop, step, flush, status",
	        STR(word));
}
