/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the tests of the readers: a model to read into, recorded files, mutated copies of their
 * records, and reference readers over protobuf-c's unpacked messages.
 */
#ifndef TFPROF_TESTS_READER_RIG_H
#define TFPROF_TESTS_READER_RIG_H

#include "io/pb.h"
#include "model/read/read.h"

typedef bool reader_fn(struct src *s, struct ingest *to, struct arena *a, struct err *e);

struct rig {
	struct account account;
	struct work work;
	struct arena a; /* the model and everything else */
	struct model *m;
	struct notes notes;
	struct ingest *in;
	struct err e; /* error of the last read */
};
void rig_open(struct rig *g, bool keep_attrs);
void rig_close(struct rig *g);

/* Sets up a test with an open rig in *state; rig_case_attrs keeps attributes of nodes. */
int rig_setup(void **state);
int rig_setup_attrs(void **state);
int rig_teardown(void **state);
#define rig_case(f)       cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)
#define rig_case_attrs(f) cmocka_unit_test_setup_teardown(f, rig_setup_attrs, rig_teardown)

/* Reads bytes as a file named "in"; undone when it fails. */
bool rig_read(struct rig *g, reader_fn *read, struct str bytes);
/* Loads through the text format. */
bool rig_read_text(
        struct rig *g, reader_fn *read, const ProtobufCMessageDescriptor *d, const char *text);
/* Fails the test unless the bytes are refused with a sentence that has this part, and add nothing.
 */
void rig_refuses(reader_fn *read, struct str bytes, const char *part);
/* Returns the sealed model as text. */
struct str rig_text(struct rig *g);
bool rig_says(struct rig *g, const char *part); /* true if the text of the model contains part */

struct str rig_file(struct arena *a, const char *path); /* fails the test if the file is missing */

/* The top-level records of a file: those of field 1, and all others as one slice. */
struct records {
	struct strs bodies; /* bodies of field 1 */
	struct str rest;
};
struct records rig_records(struct arena *a, struct str file);

/* A small file: some records of field 1, one of them changed by random edits, and the rest. */
struct str rig_changed(struct arena *a, const struct records *from, uint64_t *seed);

/* Reads changed copies with reader and twin and compares verdicts and models. before (may be NULL)
 * is read first, by read_before. */
void rig_compare(reader_fn *read, reader_fn *twin, const char *path, reader_fn *read_before,
        const char *before, unsigned rounds);

bool twin_graph(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool twin_oplog(struct src *s, struct ingest *to, struct arena *a, struct err *e);
bool twin_profile(struct src *s, struct ingest *to, struct arena *a, struct err *e);

#endif
