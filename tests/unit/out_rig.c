/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for tests of outputs: models from text, results as files.
 */
#include "out_rig.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

#include "tfprof_log.pb-c.h"

void out_open(struct out_rig *x, const char *profile)
{
	memset(x, 0, sizeof *x);
	rig_open(&x->g, true);
	assert_true(rig_read_text(
	        &x->g, read_profile, &tensorflow__tfprof__profile_proto__descriptor, profile));
	assert_true(ingest_seal(x->g.in, &x->g.e));
	opts_preset(&x->o, &x->g.a);
	out_set(x, "max_depth", "10000000");
	strcpy(x->folder, "/tmp/tfprof-out-XXXXXX");
	assert_non_null(mkdtemp(x->folder));
}

/* Lists every file of the folder. drop: also removes the files. */
static int list(struct out_rig *x, bool drop)
{
	DIR *d = opendir(x->folder);
	char path[512];
	int n = 0;

	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] == '.' && strlen(e->d_name) <= 2)
			continue;
		n++;
		snprintf(path, sizeof path, "%s/%s", x->folder, e->d_name);
		if (drop)
			unlink(path);
	}
	closedir(d);
	return n;
}

void out_close(struct out_rig *x)
{
	list(x, true);
	rmdir(x->folder);
	rig_close(&x->g);
}

int out_files(struct out_rig *x)
{
	return list(x, false);
}

void out_set(struct out_rig *x, const char *name, const char *value)
{

	const struct option *row = view_option(str_of(name));

	assert_non_null(row);
	assert_true(opts_set(&x->o, &x->g.a, row, str_of(value), &x->g.e));
}

void out_to(struct out_rig *x, const char *kind, const char *name)
{
	char value[128];

	snprintf(value, sizeof value, "%s:outfile=%s/%s", kind, x->folder, name);
	out_set(x, "output", value);
}

bool out_view(struct out_rig *x, enum vk kind)
{
	struct arena *a = &x->g.a;

	x->q = (struct query){ .m = x->g.m, .o = &x->o, .a = a, .notes = &x->g.notes };
	x->q.tree = &x->trees[kind];
	x->g.e = (struct err){ .a = a };
	x->out = sink_memory(a);
	if (!x->built[kind]) {
		x->trees[kind].kind = kind;
		views[kind].build(x->g.m, &x->trees[kind], a, &x->g.notes);
		x->built[kind] = true;
	}
	return out_accepts(&views[kind], &x->q, &x->g.e) &&
	       view_run(&views[kind], &x->q, &x->r, &x->g.e);
}

bool out_request(struct out_rig *x, enum vk kind)
{
	if (!out_view(x, kind))
		return false;
	struct emit to = { .a = &x->g.a, .out = x->out, .notes = &x->g.notes };
	return out_write(&x->r, &to, &x->g.e);
}

struct str out_file(struct out_rig *x, const char *name)
{
	char path[512];

	snprintf(path, sizeof path, "%s/%s", x->folder, name);
	return rig_file(&x->g.a, path);
}

struct str out_notes(struct out_rig *x)
{
	struct str text = notes_text(&x->g.a, &x->g.notes);

	x->g.notes.list.n = 0;
	return text;
}
