/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds and checks the blocks of a recording. If a header is valid, it gives the bytes to skip when
 * its payload is damaged; otherwise the next magic is searched for. So no byte is checked more than
 * twice, except zeros and the block in which a file ends.
 */
#define _GNU_SOURCE /* memmem */
#include "io/recording_in.h"

#include <inttypes.h>

#include "base/bits.h"
#include "base/crc32c.h"

#define TAIL_ZEROS 16 /* zero bytes at the end of a payload: its last part was not written */

static const uint8_t zeros[TAIL_ZEROS];

/* Fills *d for the bytes skipped since byte at. */
static enum spool_event damage(
        struct block_decoder *g, struct spool_damage *d, uint64_t at, const char *why)
{
	g->damaged = true;
	*d = (struct spool_damage){ .at = at, .skipped = src_at(g->s) - at, .why = why };
	return src_failed(g->s) ? SPOOL_EVENT_FAILED : SPOOL_EVENT_DAMAGE;
}

/* Checks a block that is truncated by the end of the file. */
static enum spool_event cut(
        struct block_decoder *g, struct spool_damage *d, uint64_t at, const char *why)
{
	enum spool_event event = damage(g, d, at, why);

	d->cut = true;
	return event;
}

/* Moves to the next magic at or after the cursor, or to the end. */
static void find_block(struct src *s)
{
	while (src_need(s, SPOOL_MAGIC_SIZE)) {
		const uint8_t *found =
		        memmem(s->p, (size_t)(s->end - s->p), SPOOL_MAGIC, SPOOL_MAGIC_SIZE);
		if (found) {
			s->p = found;
			return;
		}
		s->p = s->end - (SPOOL_MAGIC_SIZE - 1);
		if (!memcmp(s->p, zeros, SPOOL_MAGIC_SIZE - 1)) { /* not a part of a magic number */
			s->p = s->end;
			src_pass_hole(s);
		}
	}
	s->p = s->end;
}

/* Skips zeros. Returns true if only zeros follow up to the end. */
static bool pass_zeros(struct src *s)
{
	while (src_need(s, 1)) {
		while (s->p < s->end && !*s->p)
			s->p++;
		if (s->p < s->end)
			return false;
		src_pass_hole(s);
	}
	return true;
}

/* Skips bytes that are not a block. */
static enum spool_event pass_other(struct block_decoder *g, struct spool_damage *d, uint64_t at)
{
	struct src *s = g->s;
	size_t n = (size_t)(s->end - s->p);

	if (n < SPOOL_HEADER &&
	        !memcmp(s->p, SPOOL_MAGIC, n < SPOOL_MAGIC_SIZE ? n : SPOOL_MAGIC_SIZE)) {
		s->p = s->end;
		return cut(g, d, at, "the file ends inside a block");
	}
	if (pass_zeros(s))
		return cut(g, d, at, "nothing but zeros up to the end");
	s->p += src_at(s) == at;
	find_block(s);
	return damage(g, d, at, "not the beginning of a block");
}

/* True if the end of a payload suggests that its last part was never written. */
static bool ends_in_zeros(const uint8_t *end, uint32_t payload)
{
	return payload >= sizeof zeros && !memcmp(end - sizeof zeros, zeros, sizeof zeros);
}

/* True if p is a header whose checksum matches. */
static bool is_header(const uint8_t *p)
{
	return !memcmp(p, SPOOL_MAGIC, SPOOL_MAGIC_SIZE) && le32_get(p + 40) == crc32c(p, 40) &&
	       le32_get(p + 12) <= SPOOL_PAYLOAD_MAX;
}

/* Makes the block of a valid header the current block. If the block does not belong to this
 * recording, returns the reason instead. */
static const char *enter_block(struct block_decoder *g, const uint8_t *p, uint32_t payload)
{
	uint32_t sequence = le32_get(p + 16), writer = le32_get(p + 32);

	if (g->blocks && writer != g->writer)
		return "a block of another process";
	if (g->blocks && sequence < g->sequence)
		return "a block that came before";
	g->p = p + SPOOL_HEADER;
	g->end = g->p + payload;
	g->left = le32_get(p + 20);
	g->writer = writer;
	g->sequence = sequence + 1;
	g->slots.stamp = ++g->blocks;
	for (unsigned i = 0; i < SPOOL_N; i++) {
		g->slots.last[i].time = le64_get(p + 24);
		g->slots.last[i].node = g->slots.last[i].correlation = 0;
	}
	return NULL;
}

/* Checks the block of a valid header and makes it the current one. */
static enum spool_event take_block(struct block_decoder *g, struct spool_damage *d, uint64_t at)
{
	struct src *s = g->s;
	uint32_t payload = le32_get(s->p + 12), records = le32_get(s->p + 20);
	const char *why = NULL;
	bool torn = false;

	if (!src_need(s, SPOOL_HEADER + (size_t)payload)) {
		s->p++;
		find_block(s);
		return s->p == s->end ? cut(g, d, at, "the file ends inside a block")
		                      : damage(g, d, at, "a block is shorter than it says");
	}
	if (crc32c(s->p + SPOOL_HEADER, payload) != le32_get(s->p + 36)) {
		why = "the checksum of a block does not match";
		torn = ends_in_zeros(s->p + SPOOL_HEADER + payload, payload);
	} else {
		why = enter_block(g, s->p, payload);
	}
	s->p += SPOOL_HEADER + (size_t)payload;
	if (torn && pass_zeros(s))
		return cut(g, d, at, "nothing but zeros up to the end");
	if (why) {
		enum spool_event event = damage(g, d, at, why);
		d->records = records;
		return event;
	}
	g->block_at = at;
	return SPOOL_EVENT_RECORD;
}

/* Reads the counts before the first block. Returns true unless the file ends inside them. */
static bool take_count(struct block_decoder *g)
{
	struct src *s = g->s;
	struct spool_count c;

	if (!src_need(s, SPOOL_MAGIC_SIZE) ||
	        memcmp(s->p, SPOOL_COUNT_MAGIC, SPOOL_MAGIC_SIZE) != 0)
		return true;
	if (!src_need(s, sizeof c))
		return false;
	memcpy(&c, s->p, sizeof c);
	if (c.version != SPOOL_COUNT_VERSION || c.size != sizeof c)
		return true; /* then these bytes are damaged */
	g->count = c;
	s->p += sizeof c;
	return true;
}

enum spool_event spool_block_next(struct block_decoder *g, struct spool_damage *d)
{
	struct src *s = g->s;
	uint32_t expected = g->sequence;
	bool whole = src_at(s) || take_count(g);
	uint64_t at = src_at(s);
	bool explained = g->damaged;

	if (!whole) {
		s->p = s->end;
		return cut(g, d, at, "the file ends inside its first bytes");
	}
	if (!src_need(s, SPOOL_HEADER) || !is_header(s->p)) {
		if (s->p == s->end)
			return src_failed(s) ? SPOOL_EVENT_FAILED : SPOOL_EVENT_END;
		return pass_other(g, d, at);
	}
	if (le32_get(s->p + 8) != SPOOL_VERSION) {
		err_set(err_at(g->e, s->name, at), ERR_UNIMPLEMENTED,
		        "%.*s: byte %" PRIu64
		        ": a recording of version %u; this program reads version %u",
		        STR(s->name), at, le32_get(s->p + 8), SPOOL_VERSION);
		return SPOOL_EVENT_FAILED;
	}
	enum spool_event event = take_block(g, d, at);
	if (event != SPOOL_EVENT_RECORD)
		return event;
	g->damaged = false;
	if (g->sequence - 1 == expected || explained)
		return SPOOL_EVENT_RECORD;
	*d = (struct spool_damage){ .at = at, .why = "blocks are missing before this one" };
	return SPOOL_EVENT_DAMAGE;
}
