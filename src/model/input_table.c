/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of inputs, and the functions that find the row of a file.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "model/input.h"
#include "model/sniff.h"
#include "trace/trace_build.h"

#define BY_CONTENT                                                                                 \
	50 /* a higher confidence comes from the content of a file, not from its name              \
	    */

/* Message descriptors of the text forms, generated with the messages. */
extern const struct ProtobufCMessageDescriptor tensorflow__graph_def__descriptor;
extern const struct ProtobufCMessageDescriptor tensorflow__run_metadata__descriptor;
extern const struct ProtobufCMessageDescriptor tensorflow__tfprof__op_log_proto__descriptor;
extern const struct ProtobufCMessageDescriptor tensorflow__tfprof__profile_proto__descriptor;

const struct input inputs[] = {
#include "model/input.def"
};
const size_t n_inputs = sizeof inputs / sizeof *inputs;

static const struct input_role roles[] = {
	{ ROLE_GRAPH, "graph", "graph" },
	{ ROLE_STEP, "run_meta", "run metadata" },
	{ ROLE_OPLOG, "op_log", "op log" },
	{ ROLE_PROFILE, "profile", "TensorFlow profile" },
	{ ROLE_BASELINE, "baseline", "baseline" },
	{ ROLE_SPOOL, "spool", "GPU recording" },
	{ ROLE_CHECKPOINT, "checkpoint", "checkpoint" },
};

const struct input_role *input_role(unsigned role)
{
	size_t i = 0;

	while (roles[i].role != role)
		i++;
	return &roles[i];
}

const struct input *input_as(unsigned role, struct str head, struct str path)
{
	const struct input *best = NULL;
	int most = 0;

	for (const struct input *in = inputs; in < inputs + n_inputs; in++) {
		if (in->becomes != role)
			continue;
		int points = in->sniff(head, path);
		if (!best || points > most) {
			most = points;
			best = in;
		}
	}
	return best;
}

/* Returns the likely format, and sets *points to the confidence in it: 0 to 100. */
static const struct input *guess_head(struct str head, struct str path, int *points)
{
	const struct input *best = NULL;

	*points = 1;
	for (const struct input *in = inputs; in < inputs + n_inputs; in++) {
		int n = in->sniff ? in->sniff(head, path) : 0;
		if (n > *points) {
			*points = n;
			best = in;
		}
	}
	return best;
}

const struct input *input_guess(struct str head, struct str path)
{
	int points;

	return guess_head(head, path, &points);
}

const struct unsupported_format *input_unsupported(struct str head, struct str path)
{
	int points;

	guess_head(head, path, &points);
	return unsupported_format_find(head, path, points > BY_CONTENT);
}

bool input_is_regular(struct arena *a, const struct input_from *from, uint64_t *size)
{
	struct stat st;
	int rc;

	if (str_eq(from->name, S("-")))
		rc = fstat(STDIN_FILENO, &st);
	else
		rc = stat(str_z(a, from->name), &st);
	*size = rc == 0 && S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
	return rc == 0 && S_ISREG(st.st_mode);
}

/* Examines the first bytes. Sets *in to NULL if no format is recognised. */
static bool guess_open(struct src *s, struct str name, const struct input **in, unsigned *role,
        const struct unsupported_format **foreign)
{
	/* read the intact part of truncated gzip data */
	s->damage->recover = true;
	src_need(s, SNIFF_BYTES);
	bool ok = !src_failed(s);
	struct str head = str_sub(str_make(s->p, (size_t)(s->end - s->p)), 0, SNIFF_BYTES);

	*foreign = input_unsupported(head, name);
	*in = *foreign ? NULL : input_guess(head, name);
	*role = *in ? (*in)->becomes : 0;
	src_close(s);
	return ok;
}

/* Examines a file. Sets *in to NULL if no format is recognised, or the file cannot be read
 * twice. */
static bool guess_file(const struct input_from *from, const struct input **in, unsigned *role,
        const struct unsupported_format **foreign, struct work *work, struct err *e)
{
	struct str path = from->name;
	struct scratch own;
	struct src *s;
	uint64_t size;
	bool ok;

	*in = NULL;
	*role = 0;
	*foreign = NULL;
	scratch_open(&own, work);
	errno = 0;
	bool regular = from->memory || input_is_regular(&own.a, from, &size);
	if (from->memory) {
		ok = src_memory(&s, &own.a, path, from->bytes, e) &&
		     guess_open(s, path, in, role, foreign);
	} else if (!regular && errno) {
		ok = err_system(e, "cannot open", path, errno);
	} else if (!regular || str_eq(path, S("-"))) {
		*role = ROLE_PROFILE;
		ok = true;
	} else {
		ok = src_open(&s, &own.a, path, e) && guess_open(s, path, in, role, foreign);
	}
	scratch_close(&own);
	return ok;
}

bool input_guess_file(struct str path, unsigned *role, const struct unsupported_format **foreign,
        struct work *work, struct err *e)
{
	const struct input *in;

	return guess_file(&(struct input_from){ .name = path }, &in, role, foreign, work, e);
}

bool input_guess_bytes(const struct input_from *from, unsigned *role,
        const struct unsupported_format **foreign, struct work *work, struct err *e)
{
	const struct input *in;

	return guess_file(from, &in, role, foreign, work, e);
}

unsigned input_flags(struct str path, struct work *work)
{
	const struct unsupported_format *foreign;
	const struct input *in;
	unsigned role;

	return guess_file(&(struct input_from){ .name = path }, &in, &role, &foreign, work, NULL) &&
	                       in
	               ? in->flags
	               : 0;
}

const struct input *input_by_content(struct str path, struct work *work)
{
	const struct input *in = NULL;
	struct scratch own;
	struct err e = { 0 };
	struct src *s;
	uint64_t size;
	int points;

	scratch_open(&own, work);
	e.a = &own.a;
	if (input_is_regular(&own.a, &(struct input_from){ .name = path }, &size) &&
	        src_open(&s, &own.a, path, &e)) {
		s->damage->recover = true;
		src_need(s, SNIFF_BYTES);
		struct str head = str_sub(str_make(s->p, (size_t)(s->end - s->p)), 0, SNIFF_BYTES);
		in = guess_head(head, path, &points);
		if (points <= BY_CONTENT || unsupported_format_find(head, path, true))
			in = NULL;
		src_close(s);
	}
	scratch_close(&own);
	return in;
}

bool input_is_original(struct str format)
{
	for (const struct input *in = inputs; in < inputs + n_inputs; in++)
		if (str_eq(format, str_of(in->name)))
			return in->flags & INPUT_ORIGINAL;
	return false;
}

bool input_is_trace(struct str path, struct work *work)
{
	const struct unsupported_format *foreign;
	const struct input *in;
	unsigned role;

	return guess_file(&(struct input_from){ .name = path }, &in, &role, &foreign, work, NULL) &&
	       in && in->read_trace;
}
