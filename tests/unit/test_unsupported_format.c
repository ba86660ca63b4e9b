/* SPDX-License-Identifier: Apache-2.0
 *
 * Unsupported files: each is recognised by its first bytes or its name, and no supported file is
 * among them. Messages that contain a GraphDef.
 */
#include "unit.h"

#include "model/input.h"
#include "model/sniff.h"

#define META_INFO "\x0a\x07\x12\x05\x0a\x03\x0a\x01n" /* an OpList of one OpDef */
#define GRAPH     "\x12\x05\x0a\x03\x0a\x01x"

static void assert_is(struct str head, const char *path, const char *what)
{
	const struct unsupported_format *f = input_unsupported(head, str_of(path));

	if (!what ? f != NULL : !f || !str_contains(str_of(f->what), str_of(what)))
		fail_msg("'%s' is %s, not %s", path, f ? f->what : "nothing", what);
}

static void foreign_files_are_named(void **state)
{
	(void)state;
	assert_is(S("\x89HDF\r\n\x1a\n\0\0"), "m", "HDF5");
	assert_is(S("PK\x03\x04..."), "m.keras", "Keras");
	assert_is(S("PK\x03\x04..."), "m", "zip");
	assert_is(S("PK\x03\x04..."), "m.pt", "PyTorch");
	assert_is(S("\x0a\x0f\x0a\x01m\x12\x04main\x1a\x04\x0a\x02"
	            "c1"),
	        "m", "HloProto");
	assert_is(S("meta_info_def { }"), "m.meta", "as text");
	assert_is(S("# text\nsaved_model_schema_version: 1"), "m.pbtxt", "as text");
	assert_is(S("model_checkpoint_path: \"m\"\n"), "checkpoint", "checkpoint list");
	/* A record of 62 bytes. */
	assert_is(S(">\0\0\0\0\0\0\0\xd9\xd2@\xe7..."), "m", "TFRecord");
	assert_is(S(">\0\0\0\0\0\0\0\xd9\xd2@\xe8..."), "m", NULL);
	assert_is(S("\x7f"
	            "ELF\x02"),
	        "m", "program");
}

static void what_is_read_is_none(void **state)
{
	(void)state;
	assert_is(S("\x0a\x06\x0a\x01x\x12\x01X"), "m", NULL);            /* GraphDef */
	assert_is(S("\x0a\x0b\x0a\x01x\x12\x01X\x1a\x03x:1"), "m", NULL); /* with an input */
	assert_is(S("\x0a\x03\x12\x01X"), "m", NULL);                     /* without a name */
	assert_is(S("\x0a\x05\x0a\x03\x0a\x01"
	            "d"),
	        "m", NULL);                                           /* RunMetadata */
	assert_is(S("\x0a\x05\x0a\x01x\x10\x02"), "m", NULL);         /* OpLogProto */
	assert_is(S("\x0a\x07\x08\x01\x12\x03\x0a\x01x"), "m", NULL); /* ProfileProto */
	assert_is(S("\x08\x01" META_INFO GRAPH), "saved_model.pb", NULL);
	assert_is(S(META_INFO GRAPH), "m.meta", NULL);
	assert_is(S("node { }"), "graph.pbtxt", NULL);
	assert_is(S("{\"traceEvents\": []}"), "m", NULL);
	assert_is(S(""), "m", NULL);
	assert_is(STR_NONE, "m", NULL);
}

/* Several formats become a profile; the content chooses the row. */
static void a_role_has_many_formats(void **state)
{
	static const struct {
		const char *head, *name;
	} files[] = {
		{ "nodes { key: 1", "profile" },
		{ "{\"traceEvents\": [{\"ph\": \"X\"", "JSON trace" },
		{ "[{\"ph\": \"X\", \"cat\": \"Session\", \"name\": \"model_loading_uri\"",
		        "ONNX Runtime profile" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		const struct input *in = input_guess(str_of(files[i].head), S("m"));
		assert_non_null(in);
		assert_string_equal(in->name, files[i].name);
		assert_int_equal(in->becomes, ROLE_PROFILE);
	}
}

static void places_of_graphs(void **state)
{
	(void)state;
	assert_int_equal(sniff_graph_form(S(META_INFO GRAPH)), GRAPH_META);
	assert_int_equal(sniff_graph_form(S(GRAPH)), GRAPH_META);
	assert_int_equal(sniff_graph_form(S("\x0a\x03\x22\x01s" GRAPH)), GRAPH_META); /* a tag */
	assert_int_equal(sniff_graph_form(S("\x08\x01\x12\x10" META_INFO GRAPH)), GRAPH_SAVED);
	/* A node, and a library at the place where the others have a graph. */
	assert_int_equal(sniff_graph_form(S("\x0a\x03\x0a\x01x\x12\x07\x0a\x05\x0a\x03\x0a\x01"
	                                    "f")),
	        GRAPH_PLAIN);
	assert_int_equal(sniff_graph_form(S("\x12\x07\x0a\x05\x0a\x03\x0a\x01"
	                                    "f")),
	        GRAPH_PLAIN);
	assert_int_equal(sniff_graph_form(S("\x0a\x06\x0a\x01x\x22\x01"
	                                    "d")),
	        GRAPH_PLAIN);
	assert_int_equal(sniff_graph_form(S("\x08\x01")), GRAPH_PLAIN);
	assert_int_equal(sniff_graph_form(S("")), GRAPH_PLAIN);
	assert_int_equal(sniff_graph_form(STR_NONE), GRAPH_PLAIN);
	assert_true(sniff_graph(S("\x08\x01\x12\x10" META_INFO GRAPH), S("m")) > 50);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		unit_case(foreign_files_are_named),
		unit_case(what_is_read_is_none),
		unit_case(a_role_has_many_formats),
		unit_case(places_of_graphs),
	};

	return unit_main(tests, argc, argv);
}
