/* SPDX-License-Identifier: Apache-2.0
 *
 * See sniff.h. Messages are recognised by their first fields:
 *
 *   HloProto    HloModule      1 name  2 name  3 computation { 1 name ... }
 */
#include "model/sniff.h"

#include "base/crc32c.h"

#define RECORD_HEAD 12 /* bytes of a TFRecord before its data: length and its checksum */

#define RECORDS "'tfprof record' profiles the GPU work of any program"
#define EXPORTS "model.export(DIR) in Keras writes a SavedModel, which can be read"

static bool is_records(struct str head)
{
	const uint8_t *p = (const uint8_t *)head.p;

	return head.n >= RECORD_HEAD && le32_get(p + 8) == crc32c_mask(crc32c(p, 8));
}

/* Returns a cursor over the message in field 1; empty if the head begins with another field. */
static struct leaf first_record(struct str head)
{
	struct leaf l = leaf_of(head);

	if (!leaf_next(&l) || l.tag != LEAF_TAG(1, WIRE_BYTES))
		return leaf_of(S(""));
	return leaf_of(sniff_message(&l));
}

static bool is_hlo(struct str head)
{
	struct leaf l = first_record(head);

	for (uint32_t field = 1; field <= 2; field++)
		if (!leaf_next(&l) || l.tag != LEAF_TAG(field, WIRE_BYTES) ||
		        !sniff_is_name(sniff_message(&l)))
			return false;
	return leaf_next(&l) && l.tag == LEAF_TAG(3, WIRE_BYTES) &&
	       sniff_begins_with_name(sniff_message(&l));
}

static bool is_text_model(struct str head)
{
	struct str word = sniff_word(head);

	return str_eq(word, S("meta_info_def")) || str_eq(word, S("graph_def")) ||
	       str_eq(word, S("meta_graphs")) || str_eq(word, S("saved_model_schema_version"));
}

static bool is_checkpoint_list(struct str head)
{
	return str_eq(sniff_word(head), S("model_checkpoint_path"));
}

/* A row matches by the first bytes, by a function, or by the suffix of the name. */
#define BEGINS(text)      sizeof(text) - 1, text, NULL, NULL
#define LOOKS(is, ending) 0, NULL, is, ending
#define ENDS(ending)      0, NULL, NULL, ending
static const struct row {
	size_t n;
	const char *begins;
	bool (*is)(struct str head);
	const char *ending;
	struct unsupported_format it;
} rows[] = {
	{ LOOKS(is_records, ".tfrecord"),
	        { "a TFRecord file, such as TensorBoard's events",
	                "tf.compat.v1.train.summary_iterator(FILE) yields events, whose "
	                "graph_def and tagged_run_metadata.run_metadata, each in a file of its "
	                "own, can be read" } },
	{ LOOKS(is_hlo, NULL),
	        { "an HloProto, of XLA", "tfprof reads graphs of TensorFlow; " RECORDS } },
	{ LOOKS(is_text_model, NULL),
	        { "a MetaGraphDef or SavedModel as text",
	                "the binary form can be read, which as_text=False writes" } },
	{ LOOKS(is_checkpoint_list, NULL),
	        { "the list of checkpoints in its folder",
	                "'tfprof checkpoint NAME' shows one that it names" } },
	{ BEGINS("\x89HDF\r\n"), { "an HDF5 file, as Keras writes", EXPORTS } },
	{ ENDS(".keras"), { "a model of Keras", EXPORTS } },
	{ ENDS(".pt"), { "a file of PyTorch", RECORDS } },
	{ ENDS(".pth"), { "a file of PyTorch", RECORDS } },
	{ ENDS(".tflite"),
	        { "a TensorFlow Lite model", "the SavedModel it was made of can be read" } },
	{ ENDS(".nsys-rep"),
	        { "a report of Nsight Systems", "'nsys export --type=sqlite FILE' makes an .sqlite "
	                                        "file of it, which can be "
	                                        "read" } },
	{ ENDS(".py"), { "a program", "'tfprof record -- python FILE' records its GPU work" } },
	{ BEGINS("\x7f"
	         "ELF"),
	        { "a program", "'tfprof record -- FILE' records its GPU work" } },
	{ BEGINS("PK\x03\x04"),
	        { "a zip archive", "unpack it: single files and folders can be read" } },
};

const struct unsupported_format *unsupported_format_find(struct str head, struct str path)
{
	for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
		if ((r->begins && str_starts(head, str_make(r->begins, r->n))) ||
		        (r->is && head.n && r->is(head)) ||
		        (r->ending && str_ends(path, str_of(r->ending))))
			return &r->it;
	return NULL;
}

bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e)
{
	return err_set(e, ERR_DATA_LOSS, "'%.*s' is %s: %s", STR(path), f->what, f->cure);
}
