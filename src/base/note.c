/* SPDX-License-Identifier: Apache-2.0
 *
 * The ordered list of notes. Notes of one kind share an entry with a count, at the position of the
 * first note. Prints nothing.
 */
#include "base/note.h"

#include <inttypes.h>

void notes_init(struct notes *n, struct arena *a)
{
	*n = (struct notes){ .a = a };
	imap_init(&n->kinds, a);
}

/* Adds count to the note of this kind, if it exists. */
static bool count_more(struct notes *n, uint32_t kind, uint64_t count)
{
	uint32_t at;

	if (!kind || !imap_get(&n->kinds, kind, &at))
		return false;
	n->list.v[at].count += count;
	return true;
}

static void add(struct notes *n, struct note note)
{
	note.printed = false;
	if (note.kind)
		imap_put(&n->kinds, note.kind, (uint32_t)n->list.n, false);
	VEC_PUSH(n->a, &n->list, note);
}

static struct str format(struct arena *a, const char *f, va_list ap)
        __attribute__((format(printf, 2, 0)));
static struct str format(struct arena *a, const char *f, va_list ap)
{
	struct sb b = sb_in(a);

	sb_vfmt_message(&b, f, ap);
	return sb_str(&b);
}

/* True if a line of the format must be stored. Otherwise counts it at the last stored line. */
static bool takes_line(struct notes *n, const char *format, uint64_t count)
{
	struct note_lines new = { .format = format };
	size_t i = 0;

	while (i < n->formats.n && n->formats.v[i].format != format)
		i++;
	if (i == n->formats.n)
		VEC_PUSH(n->a, &n->formats, new);
	struct note_lines *lines = &n->formats.v[i];
	if (lines->n >= NOTE_LINES) {
		n->list.v[lines->last].count += count;
		return false;
	}
	lines->n++;
	lines->last = n->list.n;
	return true;
}

void note_line(struct notes *n, const char *f, ...)
{
	va_list ap;

	if (!takes_line(n, f, 1))
		return;
	va_start(ap, f);
	add(n, (struct note){ format(n->a, f, ap), 0, 1, f, n->about, false });
	va_end(ap);
}

/* Returns the format in which each "{one|many}" is replaced by its form for n. */
static const char *form_for(struct arena *a, uint64_t n, const char *f)
        __attribute__((format_arg(3)));
static const char *form_for(struct arena *a, uint64_t n, const char *f)
{
	struct sb b = sb_in(a);

	sb_plural(&b, f, n);
	return str_z(a, sb_str(&b));
}

void note_count(struct notes *to, uint64_t n, const char *f, ...)
{
	va_list ap;

	if (!n || !takes_line(to, f, 1))
		return;
	va_start(ap, f);
	add(to, (struct note){
	                format(to->a, form_for(to->a, n, f), ap), 0, 1, f, to->about, false });
	va_end(ap);
}

void note_kind(struct notes *n, uint32_t kind, const char *f, ...)
{
	va_list ap;

	if (count_more(n, kind, 1))
		return;
	va_start(ap, f);
	add(n, (struct note){ format(n->a, f, ap), kind, 1, NULL, n->about, false });
	va_end(ap);
}

void note_append(struct notes *to, const struct notes *from)
{
	for (size_t i = 0; i < from->list.n; i++) {
		struct note note = from->list.v[i];

		if (note.kind ? count_more(to, note.kind, note.count)
		              : !takes_line(to, note.format, note.count))
			continue;
		note.text = str_copy(to->a, note.text);
		add(to, note);
	}
}

struct str notes_text(struct arena *a, const struct notes *n)
{
	struct sb b = sb_in(a);

	for (size_t i = 0; i < n->list.n; i++) {
		const struct note *note = &n->list.v[i];

		if (note->kind)
			sb_put(&b, S("note: "));
		sb_put(&b, note->text);
		if (note->kind && note->count > 1)
			sb_fmt(&b, " (%" PRIu64 " times)", note->count);
		if (note->kind)
			sb_char(&b, '\n');
		else if (note->count > 1)
			sb_fmt(&b, "note: %" PRIu64 " more lines like the last one\n",
			        note->count - 1);
	}
	return sb_str(&b);
}

struct notes notes_take(struct notes *n, unsigned about, struct arena *a)
{
	struct notes out = { .a = a };

	for (size_t i = 0; i < n->list.n; i++) {
		struct note *note = &n->list.v[i];
		if (note->printed || !(about & NOTE_BIT(note->about)))
			continue;
		note->printed = true;
		VEC_PUSH(a, &out.list, *note);
	}
	return out;
}

struct notes notes_from(const struct notes *n, size_t from)
{
	struct notes rest = { .a = n->a };

	if (n->list.n > from) {
		rest.list.v = n->list.v + from;
		rest.list.n = n->list.n - from;
	}
	return rest;
}

struct str note_text(struct arena *a, const struct note *note)
{
	struct str text = note->text;

	while (text.n && text.p[text.n - 1] == '\n')
		text.n--;
	if (!note->kind && note->count > 1)
		return str_fmt(
		        a, "%.*s (and %" PRIu64 " more such lines)", STR(text), note->count - 1);
	if (note->kind && note->count > 1)
		return str_fmt(a, "%.*s (%" PRIu64 " times)", STR(text), note->count);
	return text;
}
