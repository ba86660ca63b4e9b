/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the profiles of a folder by the contents of its files, such as rank-0.json.gz and
 * rank-1.json.gz: the files of one format are workers.
 */
#include "model/input.h"

#include "io/paths.h"
#include "model/sniff.h"

#define NAMED_MAX 3 /* maximum number of files that a note names */

/* The files of a folder, in path_order, and the format of each. */
struct found {
	struct arena *a;
	struct str folder;
	struct strs names;
	const struct input **formats; /* NULL: the file is not a profile */
	bool *chosen;
};

static struct str path_of(const struct found *f, size_t i)
{
	return str_fmt(f->a, "%.*s/%.*s", STR(f->folder), STR(f->names.v[i]));
}

/* True if a file of a folder is not examined because it is hidden, or a part of a TensorFlow
 * profile. */
static bool is_passed_over(const struct found *f, size_t i)
{
	const struct strs one = { &f->names.v[i], 1, 1 };

	return f->names.v[i].p[0] == '.' || folder_is_of_tensorflow(&one) ||
	       path_is_special(f->a, path_of(f, i));
}

static void find_formats(
        struct found *f, const struct strs *chosen, struct strs *joining, struct work *work)
{
	struct intern paths;

	intern_init(&paths, f->a);
	for (size_t i = 0; i < chosen->n; i++)
		intern_add(&paths, chosen->v[i]);
	f->formats = ARENA_ARRAY(f->a, f->names.n, const struct input *);
	f->chosen = ARENA_ARRAY(f->a, f->names.n, bool);
	for (size_t i = 0; i < f->names.n; i++) {
		f->chosen[i] = intern_find(&paths, path_of(f, i)) != ID_NONE;
		const struct input *in =
		        is_passed_over(f, i) ? NULL : input_by_content(path_of(f, i), work);
		if (in && in->becomes == ROLE_PROFILE)
			f->formats[i] = in;
		else if (in && in->flags & INPUT_JOINS && !chosen->n)
			strs_add(f->a, joining, path_of(f, i));
	}
}

/* Drops TensorFlow profiles, whose folders are chosen by names alone. */
static void forget_text_formats(struct found *f)
{
	for (size_t i = 0; i < f->names.n; i++)
		if (f->formats[i] && f->formats[i]->text)
			f->formats[i] = NULL;
}

/* Returns the format of the first chosen file. Without chosen files, returns the format of most
 * files, or the first such format of the table. Returns NULL if there is none. */
static const struct input *find_kind(const struct found *f, bool by_name)
{
	const struct input *best = NULL;
	size_t most = 0;

	for (const struct input *in = inputs; in < inputs + n_inputs; in++) {
		size_t n = 0;
		for (size_t i = 0; i < f->names.n; i++)
			n += f->formats[i] == in && (!by_name || f->chosen[i]);
		if (n > most) {
			most = n;
			best = in;
		}
	}
	return best;
}

static void note_others(const struct found *f, const struct input *kind, struct notes *notes)
{
	struct sb b = sb_in(f->a);
	size_t n = 0;

	for (size_t i = 0; i < f->names.n; i++) {
		if (!f->formats[i] || f->formats[i] == kind || f->chosen[i] || n++ >= NAMED_MAX)
			continue;
		sb_put(&b, b.n ? S(", ") : S(""));
		sb_put_name(&b, f->names.v[i]);
		sb_fmt(&b, " (%s)", f->formats[i]->name);
	}
	if (n > NAMED_MAX)
		sb_fmt(&b, " and %zu more", n - NAMED_MAX);
	note_count(notes, n,
	        "note: in the folder '%.*s' {a profile of another format is|profiles of other "
	        "formats are} left out: %.*s\n",
	        STR(f->folder), STR(sb_str(&b)));
}

void input_choose_files(struct arena *a, struct str folder, struct strs *chosen,
        struct strs *joining, struct notes *notes, struct work *work)
{
	struct err e = { .a = a };
	struct found f = { .a = a };
	const struct input *kind = NULL;
	struct strs names = { 0 };
	struct notes said;

	while (folder.n > 1 && folder.p[folder.n - 1] == '/')
		folder.n--;
	f.folder = folder;
	if (folder_is_run(a, folder) || !path_list(a, folder, &f.names, &e))
		return;
	paths_sort(a, &f.names);
	find_formats(&f, chosen, joining, work);
	if (folder_is_of_tensorflow(&f.names))
		forget_text_formats(&f);
	else
		kind = find_kind(&f, chosen->n > 0);
	notes_init(&said, a); /* notes about chosen files were added when they were chosen */
	for (size_t i = 0; i < f.names.n; i++)
		if (f.chosen[i] || (kind && f.formats[i] == kind))
			strs_add(a, &names, f.names.v[i]);
	*chosen = folder_workers(a, folder, &names, chosen->n ? &said : notes);
	note_others(&f, kind, notes);
}
