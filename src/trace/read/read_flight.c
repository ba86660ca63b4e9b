/* SPDX-License-Identifier: Apache-2.0
 *
 * Dumps of PyTorch's Flight Recorder, one file per rank, as a pickle or as JSON:
 *
 *   {"version": "2.10", "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": "[0, 1]"}},
 *    "pg_status": {...}, "entries": [{"process_group": ("0", "default_pg"), "collective_seq_id": 7,
 *    "profiling_name": "nccl:all_reduce", "input_sizes": [[4]], "state": "completed", ...}]}
 *
 * An entry becomes a slice, or an instant if its end is not recorded, on a track of its process
 * group. The ranks of a group become an instant of its track. The rank of the file is in its name.
 */
#include "io/json_in.h"
#include "io/pickle.h"
#include "trace/flight.h"
#include "trace/trace_build.h"

/* Lists are stored as texts. Together these texts may take LIST_TEXT_SHARE bytes per byte of the
 * file, plus LIST_TEXT_FREE; after that, each text is shortened to LIST_TEXT_SHORT. */
#define LIST_TEXT_SHARE 40
#define LIST_TEXT_FREE  ((uint64_t)1 << 20)
#define LIST_TEXT_SHORT ((size_t)200)

enum flight_field {
	FIELD_COLLECTIVE_SEQ,
	FIELD_COMPLETED,
	FIELD_CREATED,
	FIELD_ENTRIES,
	FIELD_FILE,
	FIELD_FRAMES,
	FIELD_INPUT_SIZES,
	FIELD_INPUT_TYPES,
	FIELD_IS_P2P,
	FIELD_LINE,
	FIELD_NAME,
	FIELD_OUTPUT_SIZES,
	FIELD_OUTPUT_TYPES,
	FIELD_GROUPS,
	FIELD_GROUP,
	FIELD_OP,
	FIELD_RANKS,
	FIELD_RECORD,
	FIELD_RETIRED,
	FIELD_STARTED,
	FIELD_STATE,
	FIELD_VERSION,
	FIELD_N
};
static const char *const field_names[FIELD_N] = { "collective_seq_id",
	"time_discovered_completed_ns", "time_created_ns", "entries", "filename", "frames",
	"input_sizes", "input_dtypes", "is_p2p", "line", "name", "output_sizes", "output_dtypes",
	"pg_config", "process_group", "profiling_name", "ranks", "record_id", "retired",
	"time_discovered_started_ns", "state", "version" };

enum flight_kind {
	OBJECT_ENTRY,
	OBJECT_FRAME, /* id: index in frames */
	OBJECT_PLACE, /* id: a text, the source line */
	OBJECT_GROUP,
	OBJECT_ROOT
};

struct flight_frame {
	uint32_t file, function; /* texts */
	int64_t line;
};

struct flight_group {
	uint32_t name, ranks; /* texts */
};

struct flight {
	struct src *s;
	struct trace_build *b;
	struct arena *a;
	struct intern texts; /* the first texts are names of fields: their ids are enum
	                        flight_field */
	VEC(struct flight_frame) frames;
	VEC(struct flight_group) groups;
	struct sb text;
	int64_t end;      /* latest time of an entry, ns */
	uint64_t written; /* bytes of lists stored as texts */
	uint64_t entries, odd, shortened;
	uint32_t process;
	uint32_t keys[FLIGHT_KEYS];
};

/* The members of a dict, indexed by field; NULL: missing. */
struct flight_members {
	const struct pickle_value *of[FIELD_N];
};

/* ---- values ---- */

static void set_object(struct pickle_value *out, enum flight_kind kind, uint64_t id)
{
	*out = (struct pickle_value){
		.type = PICKLE_OBJECT, .kind = (uint8_t)kind, .n = 1, .id = id
	};
}

static bool is_number(const struct flight_members *m, enum flight_field field)
{
	return m->of[field] && m->of[field]->type == PICKLE_INT;
}

static int64_t number(const struct flight_members *m, enum flight_field field, int64_t other)
{
	return is_number(m, field) ? m->of[field]->i : other;
}

static bool is_true(const struct flight_members *m, enum flight_field field)
{
	return m->of[field] && m->of[field]->type == PICKLE_BOOL && m->of[field]->i;
}

static struct str text_of(const struct flight *x, const struct pickle_value *v)
{
	return v && v->type == PICKLE_TEXT ? intern_str(&x->texts, (uint32_t)v->id) : STR_NONE;
}

static struct str text(
        const struct flight *x, const struct flight_members *m, enum flight_field field)
{
	return text_of(x, m->of[field]);
}

/* ---- lists ---- */

/* Interns x->text. Shortens the text if such texts take too much memory for a file of this size. */
static uint32_t keep_text(struct flight *x)
{
	bool much = x->written > LIST_TEXT_FREE + LIST_TEXT_SHARE * src_at(x->s);

	if (much && x->text.n > LIST_TEXT_SHORT) {
		x->text.n = LIST_TEXT_SHORT;
		x->shortened++;
	}
	x->written += x->text.n;
	return intern_add(&x->texts, sb_str(&x->text));
}

static bool is_own(struct str file)
{
	return str_ends(file, S(".py")) && !str_contains(file, S("/site-packages/"));
}

/* Returns the innermost frame of the user's program, otherwise the innermost frame. The list starts
 * with the innermost frame. */
static const struct flight_frame *place_of(
        const struct flight *x, const struct pickle_value *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; v[i].type == PICKLE_OBJECT && k < v[i].n; k++) {
			const struct flight_frame *f = &x->frames.v[v[i].id + k];
			if (is_own(intern_str(&x->texts, f->file)))
				return f;
		}
	return &x->frames.v[v[0].id];
}

static void close_frames(
        struct flight *x, const struct pickle_value *v, size_t n, struct pickle_value *out)
{
	const struct flight_frame *f = place_of(x, v, n);

	x->text.n = 0;
	sb_fmt(&x->text, "%.*s:%lld %.*s", STR(intern_str(&x->texts, f->file)), (long long)f->line,
	        STR(intern_str(&x->texts, f->function)));
	set_object(out, OBJECT_PLACE, keep_text(x));
}

/* Replaces a list or tuple of numbers and texts by a text such as "[[4], [3, 5]]". */
static void close_texts(
        struct flight *x, const struct pickle_value *v, size_t n, struct pickle_value *out)
{
	x->text.n = 0;
	sb_char(&x->text, '[');
	for (size_t i = 0; i < n; i++) {
		if (v[i].type != PICKLE_TEXT && v[i].type != PICKLE_INT)
			continue;
		if (x->text.n > 1)
			sb_put(&x->text, S(", "));
		if (v[i].type == PICKLE_INT)
			sb_fmt(&x->text, "%lld", (long long)v[i].i);
		else
			sb_put(&x->text, text_of(x, &v[i]));
	}
	sb_char(&x->text, ']');
	*out = (struct pickle_value){ .type = PICKLE_TEXT, .n = 1, .id = keep_text(x) };
}

/* True if all items are objects of the given kind. */
static bool all_are(const struct pickle_value *v, size_t n, enum flight_kind kind)
{
	size_t i = 0;

	while (i < n && v[i].type == PICKLE_OBJECT && v[i].kind == kind)
		i++;
	return n && i == n;
}

/* ---- dicts ---- */

/* Splits the text of the tuple (name, description). Names are numbers or hashes, so they contain no
 * commas. */
static void split_group(struct str pair, struct str *name, struct str *description)
{
	size_t at = str_find(pair, S(", "));

	pair = str_sub(pair, 1, pair.n > 1 ? pair.n - 2 : 0);
	*name = str_sub(pair, 0, at == SIZE_MAX ? SIZE_MAX : at - 1);
	*description = at == SIZE_MAX ? STR_NONE : str_sub(pair, at + 1, SIZE_MAX);
	if (str_eq(*description, S("undefined"))) /* PyTorch writes it for a group without a
	                                             description */
		*description = STR_NONE;
}

static uint32_t track_of(struct flight *x, struct str group)
{
	return build_track_named(x->b, x->process, ID_NONE, TRACK_LINE,
	        str_fmt(x->a, "group %.*s", STR(str_sub(group, 0, 200))));
}

static void put_text(struct flight *x, enum flight_key key, struct str v)
{
	if (v.n)
		build_arg_text(x->b, x->keys[key], str_sub(v, 0, ARGS_MAX / 16));
}

static bool close_entry(struct flight *x, const struct flight_members *m, struct pickle_value *out)
{
	const struct pickle_value *place = m->of[FIELD_FRAMES];
	int64_t created = number(m, FIELD_CREATED, 0), started = number(m, FIELD_STARTED, 0);
	int64_t end = number(m, FIELD_COMPLETED, 0);
	struct str group = text(x, m, FIELD_GROUP), name, description;

	if (!is_number(m, FIELD_COLLECTIVE_SEQ) || !text(x, m, FIELD_OP).n || group.n < 2) {
		x->odd++;
		return true;
	}
	split_group(group, &name, &description);
	build_arg_text(x->b, ARG_PROCESS_GROUP, str_sub(name, 0, 200));
	put_text(x, FLIGHT_DESCRIPTION, str_sub(description, 0, 200));
	build_arg_int(x->b, x->keys[FLIGHT_SEQ], m->of[FIELD_COLLECTIVE_SEQ]->i);
	build_arg_int(x->b, x->keys[FLIGHT_RECORD], number(m, FIELD_RECORD, 0));
	build_arg_int(x->b, x->keys[FLIGHT_P2P], is_true(m, FIELD_IS_P2P));
	build_arg_int(x->b, x->keys[FLIGHT_RETIRED], is_true(m, FIELD_RETIRED));
	put_text(x, FLIGHT_STATE, text(x, m, FIELD_STATE));
	put_text(x, FLIGHT_INPUT_SIZES, text(x, m, FIELD_INPUT_SIZES));
	put_text(x, FLIGHT_INPUT_TYPES, text(x, m, FIELD_INPUT_TYPES));
	put_text(x, FLIGHT_OUTPUT_SIZES, text(x, m, FIELD_OUTPUT_SIZES));
	put_text(x, FLIGHT_OUTPUT_TYPES, text(x, m, FIELD_OUTPUT_TYPES));
	if (place && place->type == PICKLE_OBJECT && place->kind == OBJECT_PLACE)
		build_arg_text(x->b, ARG_SOURCE,
		        str_sub(intern_str(&x->texts, (uint32_t)place->id), 0, ARGS_MAX / 16));
	uint32_t event = build_event(x->b, CATEGORY_COMMUNICATION,
	        build_string(x->b, str_sub(text(x, m, FIELD_OP), 0, 200)));
	started = started > 0 ? started : created;
	x->end = created > x->end ? created : x->end;
	if (end > 0 && end >= started)
		build_slice(x->b, track_of(x, name), event, started, num_sub(end, started), 0);
	else
		build_instant(x->b, track_of(x, name), event, created, 0);
	x->entries++;
	set_object(out, OBJECT_ENTRY, 0);
	return true;
}

static void close_group(struct flight *x, const struct flight_members *m, struct pickle_value *out)
{
	const struct pickle_value *name = m->of[FIELD_NAME], *ranks = m->of[FIELD_RANKS];

	if (name->type != PICKLE_TEXT || ranks->type != PICKLE_TEXT)
		return;
	VEC_PUSH(x->a, &x->groups,
	        ((struct flight_group){ (uint32_t)name->id, (uint32_t)ranks->id }));
	set_object(out, OBJECT_GROUP, 0);
}

static void close_frame(struct flight *x, const struct flight_members *m, struct pickle_value *out)
{
	const struct pickle_value *file = m->of[FIELD_FILE], *name = m->of[FIELD_NAME];

	if (file->type != PICKLE_TEXT || name->type != PICKLE_TEXT)
		return;
	set_object(out, OBJECT_FRAME, x->frames.n);
	VEC_PUSH(x->a, &x->frames,
	        ((struct flight_frame){
	                (uint32_t)file->id, (uint32_t)name->id, number(m, FIELD_LINE, 0) }));
}

static bool close_dict(struct flight *x, const struct pickle_container *c, struct pickle_value *out)
{
	struct flight_members m = { { NULL } };

	for (size_t i = 0; i + 1 < c->n; i += 2)
		if (c->v[i].type == PICKLE_TEXT && c->v[i].id < FIELD_N)
			m.of[c->v[i].id] = &c->v[i + 1];
	if (m.of[FIELD_ENTRIES] || m.of[FIELD_GROUPS])
		set_object(out, OBJECT_ROOT, 0);
	else if (!c->whole)
		return true;
	else if (m.of[FIELD_OP] || m.of[FIELD_COLLECTIVE_SEQ] || m.of[FIELD_RECORD])
		return close_entry(x, &m, out);
	else if (m.of[FIELD_FILE] && m.of[FIELD_NAME])
		close_frame(x, &m, out);
	else if (m.of[FIELD_NAME] && m.of[FIELD_RANKS])
		close_group(x, &m, out);
	return true;
}

static bool close_container(
        void *flight, const struct pickle_container *c, struct pickle_value *out)
{
	struct flight *x = flight;

	if (c->type == PICKLE_DICT)
		return close_dict(x, c, out);
	if (all_are(c->v, c->n, OBJECT_FRAME))
		close_frames(x, c->v, c->n, out);
	else if (!all_are(c->v, c->n, OBJECT_ENTRY))
		close_texts(x, c->v, c->n, out);
	return true;
}

/* ---- the file ---- */

/* True if the text before a number in a file name means that the number is a rank. */
static bool names_rank(struct str before)
{
	return str_ends(before, S("rank")) || str_ends(before, S("rank_")) ||
	       str_ends(before, S("rank-"));
}

/* Returns the number after "rank" in the file name, otherwise the last number of the name; -1:
 * none. */
static int64_t rank_of(struct str name)
{
	struct str base = str_base(name), found = STR_NONE;
	int64_t rank;

	for (size_t i = 0, n; i < base.n; i += n ? n : 1) {
		for (n = 0; i + n < base.n && char_is_digit(base.p[i + n]); n++)
			;
		found = n ? str_sub(base, i, n) : found;
		if (n && names_rank(str_sub(base, 0, i)))
			break;
	}
	return found.n && json_decimal(found, 0, &rank) == JSON_NUMBER_GOOD ? rank : -1;
}

/* True if the text has the keys of a dump. The key pg_config alone is not enough, because PyTorch
 * traces have it too. */
static bool names_dump(struct str head)
{
	return (str_contains(head, S("pg_config")) && str_contains(head, S("pg_status"))) ||
	       (str_contains(head, S("collective_seq_id")) &&
	               str_contains(head, S("profiling_name")));
}

int sniff_flight(struct str head, struct str path)
{
	(void)path;
	if (pickle_begins_dict(head))
		return str_contains(head, S("pg_config")) || names_dump(head) ? 100 : 0;
	return pickle_is_json(head) && names_dump(head) ? 100 : 0;
}

static void open_flight(struct flight *x)
{
#define KEY(id, name) name,
	static const char *const keys[FLIGHT_KEYS] = { FLIGHT_KEY_LIST(KEY) };
#undef KEY

	intern_init(&x->texts, x->a);
	for (uint32_t i = 0; i < FIELD_N; i++)
		intern_add(&x->texts, str_of(field_names[i]));
	build_start(x->b, TRACE_FLIGHT, 1000);
	build_origin(x->b, 0, true);
	for (uint32_t i = 0; i < FLIGHT_KEYS; i++)
		x->keys[i] = build_key(x->b, str_of(keys[i]));
	x->process = build_process(x->b, 0);
	build_process_at(x->b, x->process)->rank = rank_of(x->s->name);
}

/* Adds an instant with the ranks of a group. */
static void put_group(struct flight *x, const struct flight_group *g)
{
	struct str name = str_sub(intern_str(&x->texts, g->name), 0, 200);

	build_arg_text(x->b, ARG_PROCESS_GROUP, name);
	put_text(x, FLIGHT_RANKS, intern_str(&x->texts, g->ranks));
	build_instant(x->b, track_of(x, name),
	        build_event(x->b, CATEGORY_OTHER, build_string(x->b, S(FLIGHT_GROUP))), x->end, 0);
}

bool read_flight(struct src *s, struct trace_build *b, struct arena *a, struct err *e)
{
	struct flight *x = ARENA_NEW(a, struct flight);
	struct pickle_value root = { .type = PICKLE_NONE };
	const struct pickle_caller caller = { .close = close_container,
		.user = x,
		.texts = &x->texts,
		.notes = build_notes(b),
		.what = "dump" };
	const char *name = str_z(a, s->name);
	bool cut = false;

	*x = (struct flight){ .s = s, .b = b, .a = a, .text = sb_in(a) };
	open_flight(x);
	bool good = pickle_read_either(s, &caller, &root, &cut, a);
	s->damage->kept = x->entries;
	if (!good)
		return false;
	if ((root.type != PICKLE_OBJECT || root.kind != OBJECT_ROOT) && !x->entries)
		return err_set(e, ERR_DATA_LOSS,
		        "%.*s: not a dump of the Flight Recorder: a dict with entries and "
		        "pg_config "
		        "was expected",
		        STR(s->name));
	for (size_t i = 0; i < x->groups.n; i++)
		put_group(x, &x->groups.v[i]);
	note_count(build_notes(b), x->odd,
	        "note: %2$s: %1$llu {entry lacks|entries lack} a process group, a name or "
	        "collective_seq_id: {it is|they are} left out\n",
	        (unsigned long long)x->odd, name);
	note_count(build_notes(b), x->shortened,
	        "note: %2$s: %1$llu {list is|lists are} too long for a file of this size: {it "
	        "was|they were} shortened\n",
	        (unsigned long long)x->shortened, name);
	return !src_failed(s);
}
