/* SPDX-License-Identifier: Apache-2.0
 *
 * Text format to wire bytes in one pass, with an explicit stack of open messages. Five bytes are
 * reserved for the length of a nested message and filled in at its end. Accepts the text that
 * libprotobuf's parser accepts by default, for any message.
 */
#include "io/pb.h"

#define LENGTH_ROOM 5
#define SEEN_BITS   64u /* fields above this number may repeat unnoticed */

/* Returns the field with a name, or NULL. Fields tend to follow in order, so the neighbours of the
 * last field are tried first. */
static const ProtobufCFieldDescriptor *find_field(const struct pbtext_open *m, struct str word)
{
	const ProtobufCMessageDescriptor *d = m->d;
	size_t lo = 0, hi = d->n_fields, last = m->field ? (size_t)(m->field - d->fields) : 0;

	for (size_t i = last; i < last + 2 && i < d->n_fields; i++)
		if (pbtext_compare(d->fields[i].name, word) == 0)
			return &d->fields[i];
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		const ProtobufCFieldDescriptor *fd = &d->fields[d->fields_sorted_by_name[mid]];
		int c = pbtext_compare(fd->name, word);
		if (c == 0)
			return fd;
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static uint64_t field_bit(const struct pbtext_open *m, const ProtobufCFieldDescriptor *fd)
{
	size_t i = (size_t)(fd - m->d->fields);
	return i < SEEN_BITS ? UINT64_C(1) << i : 0;
}

/* True if d is the entry of a map, whose key and value have presence. protobuf-c shows this only by
 * the name. */
static bool is_map_entry(const ProtobufCMessageDescriptor *d)
{
	return d->n_fields == 2 && strcmp(d->fields[0].name, "key") == 0 &&
	       strcmp(d->fields[1].name, "value") == 0 &&
	       str_ends(str_of(d->short_name), S("Entry"));
}

/* Refuses a second value of a singular field, and of another member of its oneof. */
static bool check_once(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	const struct pbtext_open *m = r->top;

	if (m->seen & field_bit(m, fd))
		return pbtext_fail(r, r->tok, "'%s' has a value already", fd->name);
	if (!(fd->flags & PROTOBUF_C_FIELD_FLAG_ONEOF))
		return true;
	for (const ProtobufCFieldDescriptor *o = m->d->fields; o < m->d->fields + m->d->n_fields;
	        o++)
		if ((o->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) && (m->seen & field_bit(m, o)) &&
		        o->quantifier_offset == fd->quantifier_offset)
			return pbtext_fail(
			        r, r->tok, "'%s' cannot be combined with '%s'", fd->name, o->name);
	return true;
}

/* Opens a message at its brace. */
static bool open_message(struct pbtext *r, const ProtobufCFieldDescriptor *fd, bool in_list)
{
	char close = pbtext_at(r, '{') ? '}' : '>';

	if (close == '>' && !pbtext_at(r, '<'))
		return pbtext_fail_here(r, "'{'");
	if (r->top == r->stack + WIRE_DEPTH_MAX)
		return pbtext_fail(
		        r, r->tok, "messages are nested more than %d levels deep", WIRE_DEPTH_MAX);
	pbtext_put_tag(r, fd, WIRE_BYTES);
	pbtext_room(r, LENGTH_ROOM);
	r->out.n += LENGTH_ROOM;
	r->top++;
	*r->top = (struct pbtext_open){ fd->descriptor, NULL, 0, r->out.n, close, in_list };
	return pbtext_next(r);
}

/* Skips the comma or semicolon that may separate fields. */
static bool end_field(struct pbtext *r)
{
	bool there;
	return pbtext_skip(r, ',', &there) && (there || pbtext_skip(r, ';', &there));
}

/* Reads the rest of a list [a, b] of numbers or strings. */
static bool read_list(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	uint64_t v;
	bool more;

	do {
		if (!pbtext_scalar(r, fd, &v) || !pbtext_skip(r, ',', &more))
			return false;
	} while (more);
	if (!pbtext_at(r, ']'))
		return pbtext_fail_here(r, "',' or ']'");
	return pbtext_next(r) && end_field(r);
}

/* Reads the value after the name of a field. A message is only opened. */
static bool read_value(struct pbtext *r, const ProtobufCFieldDescriptor *fd)
{
	bool message = fd->type == PROTOBUF_C_TYPE_MESSAGE, there;
	uint64_t v;

	if (!pbtext_skip(r, ':', &there))
		return false;
	if (!there && !message)
		return pbtext_fail_here(r, "':'");
	if (fd->label == PROTOBUF_C_LABEL_REPEATED && pbtext_at(r, '[')) {
		if (!pbtext_next(r) || !pbtext_skip(r, ']', &there))
			return false;
		if (there)
			return end_field(r);
		return message ? open_message(r, fd, true) : read_list(r, fd);
	}
	if (message) {
		r->top->seen |= field_bit(r->top, fd);
		return open_message(r, fd, false);
	}
	if (!pbtext_scalar(r, fd, &v))
		return false;
	if (v || fd->label == PROTOBUF_C_LABEL_OPTIONAL ||
	        (fd->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) || is_map_entry(r->top->d))
		r->top->seen |= field_bit(r->top, fd);
	return end_field(r);
}

/* Reads a field name and its value. */
static bool read_field(struct pbtext *r)
{
	struct str word = str_make(r->tok, (size_t)(r->p - r->tok));
	const ProtobufCFieldDescriptor *fd;

	if (pbtext_at(r, '['))
		return pbtext_fail(r, r->tok, "extensions and Any are not supported");
	if (r->type != PBT_WORD)
		return pbtext_fail_here(r, "the name of a field");
	fd = find_field(r->top, word);
	if (!fd)
		return pbtext_fail(r, r->tok, "%s has no field named '%.*s'", r->top->d->short_name,
		        STR(word));
	r->top->field = fd;
	if (fd->label != PROTOBUF_C_LABEL_REPEATED && !check_once(r, fd))
		return false;
	return pbtext_next(r) && read_value(r, fd);
}

/* Ends the innermost message at its closing brace, and continues the list around it. */
static bool close_message(struct pbtext *r)
{
	struct pbtext_open m = *r->top;
	size_t n = r->out.n - m.body;
	uint8_t *p = (uint8_t *)r->out.p + m.body - LENGTH_ROOM;
	bool more;

	if (!pbtext_at(r, m.close))
		return pbtext_fail_here(r, m.close == '}' ? "'}'" : "'>'");
	if (n > INT32_MAX)
		return pbtext_fail(r, r->tok, "the message is longer than 2 GiB");
	for (int i = 0; i < LENGTH_ROOM; i++, n >>= 7)
		p[i] = (uint8_t)((n & 0x7f) | (i < LENGTH_ROOM - 1 ? 0x80 : 0));
	r->top--;
	if (!pbtext_next(r))
		return false;
	if (!m.in_list)
		return end_field(r);
	if (!pbtext_skip(r, ',', &more))
		return false;
	if (more)
		return open_message(r, r->top->field, true);
	if (!pbtext_at(r, ']'))
		return pbtext_fail_here(r, "',' or ']'");
	return pbtext_next(r) && end_field(r);
}

/* Reads all fields of the top message. */
static bool read_all(struct pbtext *r, const ProtobufCMessageDescriptor *d, struct str text)
{
	bool ok;

	r->end = (r->p = r->start = text.p) + text.n;
	r->out = sb_in(r->a);
	r->top = r->stack;
	r->top->d = d;
	ok = pbtext_next(r);
	while (ok && (r->type != PBT_END || r->top > r->stack)) {
		if (r->top > r->stack &&
		        (r->type == PBT_END || pbtext_at(r, '}') || pbtext_at(r, '>')))
			ok = close_message(r);
		else
			ok = read_field(r);
	}
	return ok;
}

bool pbtext_encode(const ProtobufCMessageDescriptor *d, struct str text, struct str name,
        struct arena *a, struct str *out, struct err *e)
{
	struct pbtext r = { .a = a, .name = name, .e = e };
	bool ok = read_all(&r, d, text);

	if (ok)
		*out = sb_str(&r.out);
	return ok;
}

bool pbtext_begins(const ProtobufCMessageDescriptor *d, struct str head, struct str name,
        struct arena *a, struct err *e)
{
	struct err own = { .a = a };
	struct pbtext r = { .a = a, .name = name, .e = &own };
	size_t end = str_rfind_char(head, '\n'); /* tokens end at the end of a line */

	if (end == SIZE_MAX || read_all(&r, d, str_sub(head, 0, end + 1)) || r.type == PBT_END)
		return true;
	return err_copy(e, &own);
}
