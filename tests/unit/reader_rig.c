/* SPDX-License-Identifier: Apache-2.0
 *
 * Helpers for tests of readers: a model to read into, and random changes of recorded files.
 */
#include "reader_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "io/pb.h"
#include "io/wire.h"
#include "model_text.h"

void rig_open(struct rig *g, bool keep_attrs)
{
	memset(g, 0, sizeof *g);
	g->work.account = &g->account;
	arena_init(&g->a, &g->work);
	g->m = ARENA_NEW(&g->a, struct model);
	g->m->a = &g->a;
	notes_init(&g->notes, &g->a);
	g->in = ingest_open(g->m, &g->notes, keep_attrs);
}

void rig_close(struct rig *g)
{
	arena_free(&g->a);
	assert_int_equal(g->account.used, 0);
}

static struct rig case_rig;

int rig_setup(void **state)
{
	rig_open(&case_rig, false);
	*state = &case_rig;
	return 0;
}

int rig_setup_attrs(void **state)
{
	rig_open(&case_rig, true);
	*state = &case_rig;
	return 0;
}

int rig_teardown(void **state)
{
	rig_close(*state);
	return 0;
}

/* Reads bytes. On failure, the model is unchanged. */
bool rig_read(struct rig *g, reader_fn *read, struct str bytes)
{
	struct arena scratch;
	struct src *s;
	bool ok;

	g->e = (struct err){ .a = &g->a };
	arena_init(&scratch, &g->work);
	ingest_begin(g->in, &scratch);
	ok = src_memory(&s, &scratch, S("in"), bytes, &g->e) && read(s, g->in, &scratch, &g->e);
	if (ok)
		ingest_commit(g->in);
	else
		ingest_undo(g->in);
	arena_free(&scratch);
	assert_int_equal(ok, g->e.code == ERR_NONE);
	return ok;
}

bool rig_read_text(
        struct rig *g, reader_fn *read, const ProtobufCMessageDescriptor *d, const char *text)
{
	struct str bytes;

	g->e = (struct err){ .a = &g->a };
	assert_true(pbtext_encode(d, str_of(text), S("text"), &g->a, &bytes, &g->e));
	return rig_read(g, read, bytes);
}

void rig_refuses(reader_fn *read, struct str bytes, const char *part)
{
	struct rig g;

	rig_open(&g, false);
	assert_false(rig_read(&g, read, bytes));
	assert_int_equal(g.e.code, ERR_DATA_LOSS);
	if (!str_contains(g.e.text, str_of(part)))
		fail_msg("%.*s", STR(g.e.text));
	assert_int_equal(g.m->nodes.n, 0);
	rig_close(&g);
}

struct str rig_text(struct rig *g)
{
	assert_true(ingest_seal(g->in, &g->e));
	return model_text(&g->a, g->m);
}

bool rig_says(struct rig *g, const char *part)
{
	struct str text = rig_text(g);
	bool says = str_contains(text, str_of(part));

	if (!says)
		print_message("not found: %s\nin: %.*s\n", part, STR(text));
	return says;
}

/* Returns the contents of a file. */
struct str rig_file(struct arena *a, const char *path)
{
	struct sb b = sb_in(a);
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	do {
		n = fread(sb_room(&b, 1 << 16), 1, 1 << 16, f);
		b.n += n;
	} while (n);
	fclose(f);
	return sb_str(&b);
}

struct records rig_records(struct arena *a, struct str file)
{
	struct leaf l = leaf_of(file);
	struct records r = { { 0 }, { 0 } };
	struct sb rest = sb_in(a);

	for (const uint8_t *at = l.p; leaf_next(&l); at = l.p) {
		if (l.tag == LEAF_TAG(1, WIRE_BYTES)) {
			strs_add(a, &r.bodies, leaf_bytes(&l));
		} else {
			leaf_skip(&l);
			sb_put(&rest, str_make(at, (size_t)(l.p - at)));
		}
	}
	assert_false(l.bad);
	r.rest = sb_str(&rest);
	return r;
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33;
}

/* A copy of body with one byte to a few changed, put in, taken out, or the end cut. */
static struct str change(struct arena *a, struct str body, uint64_t *seed)
{
	struct sb b = sb_in(a);
	uint64_t edits = 1 + next_random(seed) % 3;

	sb_put(&b, body);
	while (edits-- && b.n) {
		size_t at = next_random(seed) % b.n;
		switch (next_random(seed) % 5) {
		case 0: b.p[at] = (char)(1 + next_random(seed) % 255); break;
		case 1: b.p[at] = (char)(b.p[at] + 1); break;
		case 2: b.p[at] = (char)(b.p[at] ^ (char)(1 << next_random(seed) % 8)); break;
		case 3:
			memmove(b.p + at, b.p + at + 1, b.n - at - 1);
			b.n--;
			break;
		default:
			sb_char(&b, 0);
			memmove(b.p + at + 1, b.p + at, b.n - at - 1);
			b.p[at] = (char)(1 + next_random(seed) % 127);
		}
	}
	return sb_str(&b);
}

static void put_record(struct sb *b, struct str body)
{
	uint8_t head[VARINT_MAX + 1] = { LEAF_TAG(1, WIRE_BYTES) };

	sb_put(b, str_make(head, (size_t)(varint_put(head + 1, body.n) - head)));
	sb_put(b, body);
}

struct str rig_changed(struct arena *a, const struct records *from, uint64_t *seed)
{
	struct sb b = sb_in(a);

	for (int i = 0; i < 4; i++) {
		struct str body = from->bodies.v[next_random(seed) % from->bodies.n];
		put_record(&b, i == 2 ? change(a, body, seed) : body);
	}
	sb_put(&b, from->rest);
	return sb_str(&b);
}

/* Returns the model made from the bytes as text; empty if they are refused. */
static struct str model_of(
        struct rig *g, reader_fn *read, struct str bytes, reader_fn *read_before, struct str before)
{
	rig_open(g, false);
	if (read_before)
		assert_true(rig_read(g, read_before, before));
	return rig_read(g, read, bytes) ? rig_text(g) : STR_NONE;
}

static void compare(reader_fn *read, reader_fn *twin, struct str bytes, reader_fn *read_before,
        struct str before)
{
	struct rig one, two;
	struct str text = model_of(&one, read, bytes, read_before, before);
	struct str expected = model_of(&two, twin, bytes, read_before, before);

	if (!text.p != !expected.p || (!str_eq(text, expected) && !memchr(bytes.p, 0, bytes.n))) {
		print_message("walked: %.*s%.*s\n", STR(text), STR(one.e.text));
		print_message("unpacked: %.*s%.*s\n", STR(expected), STR(two.e.text));
		fail();
	}
	rig_close(&one);
	rig_close(&two);
}

void rig_compare(reader_fn *read, reader_fn *twin, const char *path, reader_fn *read_before,
        const char *before, unsigned rounds)
{
	struct account account = { 0 };
	struct work work = { .account = &account };
	struct arena a;
	uint64_t seed = 1;

	arena_init(&a, &work);
	struct str file = rig_file(&a, path);
	struct str first = before ? rig_file(&a, before) : STR_NONE;
	struct records records = rig_records(&a, file);
	compare(read, twin, file, read_before, first);
	while (rounds--)
		compare(read, twin, rig_changed(&a, &records, &seed), read_before, first);
	arena_free(&a);
}
