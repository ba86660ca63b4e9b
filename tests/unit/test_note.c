/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes: order, merging by kind, appending.
 */
#include "unit.h"

#include "base/note.h"

static struct notes notes;

static void assert_text(const char *text)
{
	struct str s = notes_text(&unit_arena, &notes);

	assert_true(str_eq(s, str_of(text)));
}

static void lines_come_out_as_given(void **state)
{
	(void)state;
	notes_init(&notes, &unit_arena);
	assert_text("");
	note_line(&notes, "%s %d\n", "first", 1);
	note_line(&notes, "no end");
	note_line(&notes, "first 1\n");
	assert_text("first 1\nno endfirst 1\n");
}

static void a_count_takes_its_form(void **state)
{
	(void)state;
	notes_init(&notes, &unit_arena);
	note_count(&notes, 0, "{row|rows}\n");
	note_count(&notes, 1, "%d {row has|rows have} no %s\n", 1, "{a|b}");
	note_count(&notes, 2, "%d {row has|rows have} no %s\n", 2, "end");
	assert_text("1 row has no {a|b}\n2 rows have no end\n");
}

static void kinds_are_counted_at_the_first(void **state)
{
	(void)state;
	notes_init(&notes, &unit_arena);
	note_kind(&notes, 7, "odd node '%s'", "a");
	note_line(&notes, "line\n");
	note_kind(&notes, 8, "once");
	for (int i = 0; i < 1000; i++)
		note_kind(&notes, 7, "odd node '%s'", "b");
	assert_text("note: odd node 'a' (1001 times)\nline\nnote: once\n");
	assert_int_equal(notes.list.n, 3);
}

static void kind_zero_is_never_merged(void **state)
{
	(void)state;
	notes_init(&notes, &unit_arena);
	note_line(&notes, "a\n");
	note_line(&notes, "a\n");
	assert_int_equal(notes.list.n, 2);
}

static void appending_copies_and_merges(void **state)
{
	struct arena other;
	struct notes from;

	(void)state;
	arena_init(&other, &unit_work);
	notes_init(&notes, &unit_arena);
	notes_init(&from, &other);
	note_kind(&notes, 1, "one");
	note_line(&from, "line %d\n", 1);
	note_kind(&from, 2, "two");
	note_kind(&from, 1, "one, later");
	note_kind(&from, 1, "one, later still");
	note_append(&notes, &from);
	note_kind(&notes, 2, "two, later");
	arena_free(&other);
	assert_text("note: one (3 times)\nline 1\nnote: two (2 times)\n");
}

static void one_as_a_sentence(void **state)
{
	struct notes rest;

	(void)state;
	notes_init(&notes, &unit_arena);
	note_line(&notes, "two\nlines\n\n");
	note_kind(&notes, 3, "odd");
	note_kind(&notes, 3, "odd");
	assert_str(note_text(&unit_arena, &notes.list.v[0]), "two\nlines");
	assert_str(note_text(&unit_arena, &notes.list.v[1]), "odd (2 times)");
	rest = notes_from(&notes, 1);
	assert_str(notes_text(&unit_arena, &rest), "note: odd (2 times)\n");
	assert_int_equal(notes_from(&notes, 2).list.n, 0);
}

/* NOTE_LINES lines of one format are kept; further ones are counted, also when lists are joined. */
static void repeated_lines_are_counted(void **state)
{
	struct notes all;

	(void)state;
	notes_init(&notes, &unit_arena);
	notes_init(&all, &unit_arena);
	note_line(&notes, "first\n");
	for (int i = 0; i < NOTE_LINES + 7; i++)
		note_line(&notes, "odd %d\n", i);
	note_line(&notes, "last\n");
	assert_int_equal(notes.list.n, NOTE_LINES + 2);
	assert_non_null(strstr(str_z(&unit_arena, notes_text(&unit_arena, &notes)),
	        "odd 999\nnote: 7 more lines like the last one\nlast\n"));
	assert_str(note_text(&unit_arena, &notes.list.v[NOTE_LINES]),
	        "odd 999 (and 7 more such lines)");
	note_append(&all, &notes);
	note_append(&all, &notes);
	assert_int_equal(all.list.n, NOTE_LINES + 4);
	assert_non_null(strstr(str_z(&unit_arena, notes_text(&unit_arena, &all)),
	        "odd 999\nnote: 1014 more lines like the last one\nlast\nfirst\nlast\n"));
}

static void notes_are_taken_by_answers(void **state)
{
	struct notes list;

	(void)state;
	notes_init(&list, &unit_arena);
	note_line(&list, "truncated\n");
	list.about = NOTE_OPS;
	note_line(&list, "no op\n");
	list.about = NOTE_FILES;
	note_count(&list, 2, "%d {pair|pairs}\n", 2);
	struct notes times = notes_take(&list, NOTES_OF_TIMES, &unit_arena);
	assert_str(notes_text(&unit_arena, &times), "truncated\n");
	struct notes ops = notes_take(&list, NOTES_OF_OPS, &unit_arena);
	assert_str(notes_text(&unit_arena, &ops), "no op\n");
	struct notes all = notes_take(&list, NOTES_ALL, &unit_arena);
	assert_str(notes_text(&unit_arena, &all), "2 pairs\n");
	struct notes again = notes_take(&list, NOTES_ALL, &unit_arena);
	assert_int_equal(again.list.n, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(lines_come_out_as_given),
		unit_case(a_count_takes_its_form),
		unit_case(kinds_are_counted_at_the_first),
		unit_case(kind_zero_is_never_merged),
		unit_case(appending_copies_and_merges),
		unit_case(one_as_a_sentence),
		unit_case(repeated_lines_are_counted),
		unit_case(notes_are_taken_by_answers),
	};

	return unit_main(tests, argc, argv);
}
