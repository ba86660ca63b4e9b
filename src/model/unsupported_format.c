/* SPDX-License-Identifier: Apache-2.0
 *
 * Recognises formats that are not read. A new format is a row of the table;
 * tests/unit/test_unsupported_format.c has an example of each. Messages are recognised by their
 * first fields:
 *
 *   HloProto    HloModule      1 name  2 name  3 computation { 1 name ... }
 */
#include "model/sniff.h"

#include "base/crc32c.h"
#include "trace/trace_build.h"

#define RECORD_HEAD 12 /* bytes before the data of a TFRecord: length and its checksum */
#define ELF_CORE    4
#define LINES       8   /* maximum number of lines of a text that are examined */
#define TAR_AT      257 /* position of the magic number of tar */

#define RECORDS "'tfprof record' profiles the GPU work of any program"
#define EXPORTS "model.export(DIR) in Keras writes a SavedModel, which can be read"
#define MODEL   "it contains a model without times; " RECORDS
#define DATA    "it contains data, not a profile; " RECORDS
#define TIMELINE                                                                                   \
	"export_memory_timeline also writes *.json.gz, which can be read; snapshots of "           \
	"torch.cuda.memory._dump_snapshot() have call stacks, too"
#define UNPACK "unpack it: single files and folders can be read"

/* ---- binary files ---- */

static bool is_records(struct str head, struct str path)
{
	const uint8_t *p = (const uint8_t *)head.p;

	(void)path;
	return head.n >= RECORD_HEAD && le32_get(p + 8) == crc32c_mask(crc32c(p, 8));
}

/* True for TensorBoard events: an event begins with its time, a double in field 1. */
static bool is_events(struct str head, struct str path)
{
	return is_records(head, path) &&
	       (str_contains(str_base(path), S("tfevents")) ||
	               (head.n > RECORD_HEAD && head.p[RECORD_HEAD] == LEAF_TAG(1, WIRE_FIXED64)));
}

/* Returns a cursor over the message in field 1. The cursor is empty if the head begins with another
 * field. */
static struct leaf first_record(struct str head)
{
	struct leaf l = leaf_of(head);

	if (!leaf_next(&l) || l.tag != LEAF_TAG(1, WIRE_BYTES))
		return leaf_of(S(""));
	return leaf_of(sniff_message(&l));
}

static bool is_hlo(struct str head, struct str path)
{
	struct leaf l = first_record(head);

	(void)path;
	for (uint32_t field = 1; field <= 2; field++)
		if (!leaf_next(&l) || l.tag != LEAF_TAG(field, WIRE_BYTES) ||
		        !sniff_is_name(sniff_message(&l)))
			return false;
	return leaf_next(&l) && l.tag == LEAF_TAG(3, WIRE_BYTES) &&
	       sniff_begins_with_name(sniff_message(&l));
}

static bool is_zip(struct str head)
{
	return str_starts(head, S("PK\x03\x04"));
}

static bool is_zip_of_torch(struct str head, struct str path)
{
	return is_zip(head) &&
	       (str_ends(path, S(".pt")) || str_ends(path, S(".pth")) ||
	               str_contains(head, S("data.pkl")) || str_contains(head, S("constants.pkl")));
}

static bool is_zip_of_keras(struct str head, struct str path)
{
	return is_zip(head) &&
	       (str_ends(path, S(".keras")) || str_contains(head, S("model.weights.h5")));
}

static bool is_zip_of_arrays(struct str head, struct str path)
{
	return is_zip(head) && (str_ends(path, S(".npz")) || str_contains(head, S(".npy")));
}

static bool is_core(struct str head, struct str path)
{
	(void)path;
	if (!str_starts(head, S("\x7f"
	                        "ELF")) ||
	        head.n < 18)
		return false;
	return head.p[5] == 2 ? head.p[17] == ELF_CORE : head.p[16] == ELF_CORE;
}

static bool is_pickle(struct str head)
{
	return head.n > 2 && head.p[0] == '\x80' && head.p[1] >= 2 && head.p[1] <= 5;
}

static bool is_other_pickle(struct str head, struct str path)
{
	return is_pickle(head) && !sniff_snapshot(head, path) && !sniff_flight(head, path);
}

/* True for the number that old versions of torch.save write first. */
static bool is_pickle_of_torch(struct str head, struct str path)
{
	return is_other_pickle(head, path) &&
	       (str_ends(path, S(".pt")) || str_ends(path, S(".pth")) ||
	               str_starts(str_sub(head, 2, SIZE_MAX), S("\x8a\nl\xfc\x9c"
	                                                        "F\xf9 j\xa8P\x19.")));
}

/* True for cProfile, which dumps a dict with the keys (file, line, function) with Python's module
 * marshal. The highest bit of a type is a flag. */
static bool is_cprofile(struct str head, struct str path)
{
	(void)path;
	return head.n > 3 && (head.p[0] & 0x7f) == '{' && (head.p[1] & 0x7f) == ')' &&
	       head.p[2] == 3;
}

/* True for the length of a header, followed by the header in JSON. */
static bool is_safetensors(struct str head, struct str path)
{
	(void)path;
	return head.n > 9 && le64_get(head.p) < (uint64_t)1 << 32 && head.p[8] == '{' &&
	       (str_contains(head, S("\"dtype\"")) || str_contains(head, S("\"__metadata__\"")));
}

/* True for the header of gperftools: 0, 3 words follow, version 0. */
static bool is_gperftools(struct str head, struct str path)
{
	(void)path;
	return head.n >= 40 && !le64_get(head.p) && le64_get(head.p + 8) == 3 &&
	       !le64_get(head.p + 16) && le64_get(head.p + 24) && !le64_get(head.p + 32);
}

static bool is_go_trace(struct str head, struct str path)
{
	(void)path;
	return str_starts(head, S("go 1.")) && str_contains(str_sub(head, 0, 16), S(" trace\0"));
}

static bool is_rocpd(struct str head, struct str path)
{
	(void)path;
	return str_starts(head, S("SQLite format 3\0")) && str_contains(head, S("rocpd_"));
}

/* ---- texts ---- */

static bool is_text_model(struct str head, struct str path)
{
	struct str word = sniff_word(head);

	(void)path;
	return str_eq(word, S("meta_info_def")) || str_eq(word, S("graph_def")) ||
	       str_eq(word, S("meta_graphs")) || str_eq(word, S("saved_model_schema_version"));
}

static bool is_checkpoint_list(struct str head, struct str path)
{
	(void)path;
	return str_eq(sniff_word(head), S("model_checkpoint_path"));
}

static struct str after_blanks(struct str s)
{
	size_t i = 0;

	while (i < s.n && (uint8_t)s.p[i] <= ' ')
		i++;
	return str_sub(s, i, SIZE_MAX);
}

/* Returns the next line that is neither empty nor a comment. Returns an empty text at the end. Does
 * not return a line whose end is missing. */
static struct str next_line(struct str *text)
{
	size_t n;

	while ((n = str_find_char(*text, '\n')) != SIZE_MAX) {
		struct str line = str_sub(*text, 0, n), words = after_blanks(line);
		*text = str_sub(*text, n + 1, SIZE_MAX);
		if (words.n && words.p[0] != '#')
			return line;
	}
	return STR_NONE;
}

/* True for a line such as "frame;frame 12". */
static bool is_stack(struct str line, bool *deep)
{
	size_t n = line.n;

	while (n && char_is_digit(line.p[n - 1]))
		n--;
	if (n == line.n || !n || line.p[n - 1] != ' ' || !sniff_is_name(line))
		return false;
	*deep |= str_find_char(line, ';') != SIZE_MAX;
	return true;
}

static bool is_collapsed(struct str head, struct str path)
{
	bool deep = false;
	struct str line;

	(void)path;
	for (int i = 0; i < LINES && (line = next_line(&head)).n; i++)
		if (!is_stack(line, &deep))
			return false;
	return deep;
}

/* True for lines such as "prog 12 [001] 1234.567890: 1000 cycles:", followed by indented lines
 * "ffff0123 function+0x1 (file)". */
static bool is_perf_script(struct str head, struct str path)
{
	struct str event = next_line(&head), frame = next_line(&head);
	size_t dot = str_find_char(event, '.'), i = 0, digits;

	(void)path;
	for (i = dot; i < event.n && (i == dot || char_is_digit(event.p[i]));)
		i++;
	if (dot == SIZE_MAX || i < dot + 7 || i >= event.n || event.p[i] != ':')
		return false;
	for (i = 0; i < frame.n && (frame.p[i] == ' ' || frame.p[i] == '\t');)
		i++;
	for (digits = i; i < frame.n && strchr("0123456789abcdef", frame.p[i]) && frame.p[i];)
		i++;
	return digits && i >= digits + 4 && i < frame.n && frame.p[i] == ' ';
}

static bool is_page(struct str head, struct str path)
{
	head = after_blanks(head);
	(void)path;
	return str_starts(head, S("<!DOCTYPE")) || str_starts(head, S("<!doctype")) ||
	       str_starts(head, S("<html")) || str_starts(head, S("<?xml")) ||
	       str_starts(head, S("<svg"));
}

/* ---- the table ---- */

/* A row matches by its first bytes (after `at` bytes), by a function, by words that must all occur
 * in a JSON text, or by the suffix of the name. The first matching row counts. Rows that are `weak`
 * are considered only if no supported format recognises the content. */
#define BEGINS(text)     .begins = (text), .n = sizeof(text) - 1
#define AT(where, text)  .at = (where), BEGINS(text)
#define LOOKS(function)  .is = (function)
#define LIKELY(function) .is = (function), .weak = true
#define JSON(...)        .json = { __VA_ARGS__ }, .weak = true
#define ENDS(suffix)     .ending = (suffix), .weak = true
static const struct row {
	struct unsupported_format it;
	const char *begins;
	size_t n, at;
	bool (*is)(struct str head, struct str path);
	const char *json[3], *ending;
	bool weak;
} rows[] = {
	/* models, data and programs */
	{ { "a TensorBoard event file",
	          "tf.compat.v1.train.summary_iterator(FILE) yields events, whose graph_def and "
	          "tagged_run_metadata.run_metadata, each in a file of its own, can be read" },
	        LOOKS(is_events) },
	{ { "a TFRecord file", DATA }, LOOKS(is_records) },
	{ { "an XLA HloProto", "tfprof reads TensorFlow graphs; " RECORDS }, LOOKS(is_hlo) },
	{ { "an XLA module in text form",
	          "an XSpace of the run (*.xplane.pb) has times, and can be read" },
	        BEGINS("HloModule ") },
	{ { "a MetaGraphDef or SavedModel as text",
	          "the binary form can be read, which as_text=False writes" },
	        LOOKS(is_text_model) },
	{ { "the checkpoint list of its folder",
	          "'tfprof checkpoint NAME' shows a checkpoint in that list" },
	        LOOKS(is_checkpoint_list) },
	{ { "an HDF5 file, such as Keras writes", EXPORTS }, BEGINS("\x89HDF\r\n") },
	{ { "a Keras model", EXPORTS }, LOOKS(is_zip_of_keras) },
	{ { "a PyTorch model or checkpoint", MODEL }, LOOKS(is_zip_of_torch) },
	{ { "a PyTorch model or checkpoint", MODEL }, LOOKS(is_pickle_of_torch) },
	{ { "a safetensors file", MODEL }, LOOKS(is_safetensors) },
	{ { "a GGUF model", MODEL }, BEGINS("GGUF") },
	{ { "a TensorFlow Lite model", "the SavedModel that it was converted from can be read" },
	        AT(4, "TFL3") },
	{ { "an ExecuTorch program", MODEL }, AT(4, "ET12") },
	{ { "a file with NumPy arrays", DATA }, LOOKS(is_zip_of_arrays) },
	{ { "a NumPy array", DATA }, BEGINS("\x93NUMPY") },
	{ { "a Parquet file", DATA }, BEGINS("PAR1") },
	{ { "an Arrow file", DATA }, BEGINS("ARROW1") },
	{ { "a Feather file", DATA }, BEGINS("FEA1") },
	{ { "a core dump", "gdb PROGRAM FILE shows it; " RECORDS }, LOOKS(is_core) },
	{ { "a program", "'tfprof record -- FILE' records its GPU work" }, BEGINS("\x7f"
	                                                                          "ELF") },
	{ { "a PDF document", DATA }, BEGINS("%PDF-") },
	{ { "an image", DATA }, BEGINS("\x89PNG\r\n") },

	/* profiles of other programs */
	{ { "a Python pickle", DATA }, LOOKS(is_other_pickle) },
	{ { "a cProfile profile (Python)",
	          "'python -m pstats FILE' shows it; 'py-spy record --format chrometrace' writes a "
	          "trace, which can be read" },
	        LOOKS(is_cprofile) },
	{ { "a memray report", "'memray tree FILE' shows it; tfprof does not read memray reports" },
	        BEGINS("memray\0") },
	{ { "an Nsight Compute report",
	          "'ncu --import FILE --page details' shows it; an Nsight Systems report as "
	          "SQLite can be read" },
	        BEGINS("NVR\0") },
	{ { "a rocprofv3 database (rocpd)", "'rocpd convert -i FILE --output-format pftrace' "
	                                    "converts it to a trace, which can be read" },
	        LOOKS(is_rocpd) },
	{ { "an ExecuTorch ETDump", "executorch.devtools.Inspector(etdump_path=FILE) shows it" },
	        AT(4, "ED00") },
	{ { "a perf recording", "'perf_to_profile -i FILE -o FILE.pb' converts it to a pprof "
	                        "profile, which can be read" },
	        BEGINS("PERFILE2") },
	{ { "a perf recording with the other byte order",
	          "run perf script on the machine where it was recorded" },
	        BEGINS("2ELIFREP") },
	{ { "a Java Flight Recorder recording",
	          "'jfrconv -o pprof FILE FILE.pb' of async-profiler converts it to a pprof "
	          "profile, which can be read" },
	        BEGINS("FLR\0") },
	{ { "a Java heap dump", DATA }, BEGINS("JAVA PROFILE ") },
	{ { "a Go execution trace", "'go tool trace -pprof=sched FILE' converts it to a pprof "
	                            "profile, which can be read" },
	        LOOKS(is_go_trace) },
	{ { "a gperftools CPU profile in the old format",
	          "'go tool pprof -proto -output FILE.pb.gz PROGRAM FILE' converts it to a format "
	          "that can be read" },
	        LOOKS(is_gperftools) },
	{ { "a CTF trace, such as LTTng writes", "babeltrace2 shows it" },
	        BEGINS("\xc1\x1f\xfc\xc1") },

	/* archives and compressed files */
	{ { "a zip archive", UNPACK }, BEGINS("PK\x03\x04") },
	{ { "a tar archive", UNPACK }, AT(TAR_AT, "ustar") },
	{ { "a 7z archive", UNPACK }, BEGINS("7z\xbc\xaf\x27\x1c") },
	{ { "a zstd-compressed file", "'zstd -d FILE' decompresses it; gzip is read directly" },
	        BEGINS("\x28\xb5\x2f\xfd") },
	{ { "an xz-compressed file", "'xz -d FILE' decompresses it; gzip is read directly" },
	        BEGINS("\xfd"
	               "7zXZ\0") },
	{ { "a bzip2-compressed file", "'bzip2 -d FILE' decompresses it; gzip is read directly" },
	        BEGINS("BZh") },
	{ { "an lz4-compressed file", "'lz4 -d FILE' decompresses it; gzip is read directly" },
	        BEGINS("\x04\x22\x4d\x18") },

	/* texts */
	{ { "a speedscope profile", "https://www.speedscope.app shows it; 'py-spy record "
	                            "--format chrometrace' writes "
	                            "a trace, which can be read" },
	        JSON("speedscope.app/file-format-schema") },
	{ { "a V8 CPU profile (Node.js, Chrome)",
	          "Chrome's DevTools show it; a trace that their Performance panel saves can be "
	          "read" },
	        JSON("\"nodes\"", "\"callFrame\"") },
	{ { "a V8 heap snapshot", "Chrome's DevTools show it" },
	        JSON("\"snapshot\"", "\"node_fields\"") },
	{ { "a Firefox (Gecko) profile", "https://profiler.firefox.com shows it" },
	        JSON("\"meta\"", "\"interval\"", "\"libs\"") },
	{ { "a Firefox (Gecko) profile", "https://profiler.firefox.com shows it" },
	        JSON("\"meta\"", "\"processType\"") },
	{ { "a Firefox (Gecko) profile", "https://profiler.firefox.com shows it" },
	        JSON("\"meta\"", "\"preprocessedProfileVersion\"") },
	{ { "a Scalene profile", "'scalene view FILE' shows it" },
	        JSON("\"elapsed_time_sec\"", "\"files\"") },
	{ { "a workload graph for Chakra simulators",
	          "the JSON that torch.profiler.ExecutionTraceObserver writes can be read" },
	        JSON("\"nodes\"", "_NODE\"") },
	{ { "a workload graph for Chakra simulators",
	          "the JSON that torch.profiler.ExecutionTraceObserver writes can be read" },
	        JSON("\"workload_graph\"") },
	{ { "an OpenTelemetry export (OTLP)",
	          "tfprof reads device traces, such as those that torch.profiler writes" },
	        JSON("\"resourceSpans\"") },
	{ { "an OpenTelemetry export (OTLP)",
	          "tfprof reads device traces, such as those that torch.profiler writes" },
	        JSON("\"resourceMetrics\"") },
	{ { "an OpenTelemetry export (OTLP)",
	          "tfprof reads device traces, such as those that torch.profiler writes" },
	        JSON("\"resourceProfiles\"") },
	{ { "a Proton profile (Triton)",
	          "'proton-viewer -m time/ms FILE' shows it; proton.start(data=\"trace\") writes a "
	          "trace, which can be read" },
	        JSON("\"frame\"", "\"metrics\"", "\"children\"") },
	{ { "a torch.profiler memory timeline", TIMELINE },
	        BEGINS("<html>\n<head><meta charset=\"utf-8\" /><title>GPU Memory Timeline HTML") },
	{ { "the text that perf script prints",
	          "'perf_to_profile -i perf.data -o FILE.pb' converts the recording to a pprof "
	          "profile, which can be read" },
	        LIKELY(is_perf_script) },
	{ { "a list of collapsed stacks",
	          "flamegraph.pl and https://www.speedscope.app show it; a pprof profile of the "
	          "same program can be read" },
	        LIKELY(is_collapsed) },
	{ { "a Callgrind profile", "'callgrind_annotate FILE' shows it" },
	        BEGINS("# callgrind format") },
	{ { "a Callgrind profile", "'callgrind_annotate FILE' shows it" },
	        BEGINS("version: 1\ncreator: callgrind") },
	{ { "a Go profile as text",
	          "the binary form can be read, which Go writes without debug=1" },
	        BEGINS("goroutine profile: total ") },
	{ { "a Go or gperftools heap profile as text",
	          "'go tool pprof -proto -output FILE.pb.gz PROGRAM FILE' converts it to a format "
	          "that can be read" },
	        BEGINS("heap profile: ") },
	{ { "a Go profile as text",
	          "the binary form can be read, which Go writes without debug=1" },
	        BEGINS("--- contention:") },
	{ { "a Go profile as text",
	          "the binary form can be read, which Go writes without debug=1" },
	        BEGINS("--- mutex:") },
	{ { "an ftrace trace in text form", "https://ui.perfetto.dev shows it" },
	        BEGINS("# tracer: ") },
	{ { "a rocprofv3 table",
	          "'rocprofv3 --output-format json' writes a file that can be read" },
	        BEGINS("\"Kind\",\"Agent_Id\"") },
	{ { "a rocprofv3 table",
	          "'rocprofv3 --output-format json' writes a file that can be read" },
	        BEGINS("\"Domain\",\"Function\"") },
	{ { "a page or picture for a browser", "the profile that it was made of may be readable" },
	        LOOKS(is_page) },

	/* names */
	{ { "a TFRecord file", DATA }, ENDS(".tfrecord") },
	{ { "a Keras model", EXPORTS }, ENDS(".keras") },
	{ { "a PyTorch model or checkpoint", MODEL }, ENDS(".pt") },
	{ { "a PyTorch model or checkpoint", MODEL }, ENDS(".pth") },
	{ { "a TensorFlow Lite model", "the SavedModel that it was converted from can be read" },
	        ENDS(".tflite") },
	{ { "an Nsight Systems report", "'nsys export --type=sqlite FILE' converts it to an "
	                                ".sqlite file, which can be read" },
	        ENDS(".nsys-rep") },
	{ { "an Nsight Systems report", "'nsys export --type=sqlite FILE' converts it to an "
	                                ".sqlite file, which can be read" },
	        ENDS(".qdrep") },
	{ { "an unfinished Nsight Systems recording", "QdstrmImporter makes a report of it, and "
	                                              "'nsys export --type=sqlite' a file that "
	                                              "can be read" },
	        ENDS(".qdstrm") },
	{ { "an Nsight Compute report",
	          "'ncu --import FILE --page details' shows it; an Nsight Systems report as "
	          "SQLite can be read" },
	        ENDS(".ncu-rep") },
	{ { "a Chakra execution trace in protobuf",
	          "the JSON that torch.profiler.ExecutionTraceObserver writes can be read" },
	        ENDS(".et") },
	{ { "a program", "'tfprof record -- python FILE' records its GPU work" }, ENDS(".py") },
};

/* True if a text begins like JSON and contains all words. */
static bool has_words(struct str head, const char *const *words, size_t n)
{
	struct str text = after_blanks(head);

	if (!text.n || (text.p[0] != '{' && text.p[0] != '['))
		return false;
	for (size_t i = 0; i < n && words[i]; i++)
		if (!str_contains(head, str_of(words[i])))
			return false;
	return true;
}

static bool matches(const struct row *r, struct str head, struct str path)
{
	if (r->begins)
		return str_starts(str_sub(head, r->at, SIZE_MAX), str_make(r->begins, r->n));
	if (r->is)
		return head.n && r->is(head, path);
	if (r->json[0])
		return has_words(head, r->json, sizeof r->json / sizeof *r->json);
	return str_ends(path, str_of(r->ending));
}

const struct unsupported_format *unsupported_format_find(
        struct str head, struct str path, bool supported)
{
	for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++)
		if (!(supported && r->weak) && matches(r, head, path))
			return &r->it;
	return NULL;
}

bool unsupported_format_refuse(const struct unsupported_format *f, struct str path, struct err *e)
{
	return err_set(e, ERR_DATA_LOSS, "'%.*s' is %s: %s", STR(path), f->what, f->cure);
}
