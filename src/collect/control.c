/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of "<time> <word>[ <label>]". A line counts once its newline is there; unknown words are
 * ignored.
 */
#include "collect/writer.h"

#include <stdatomic.h>
#include <string.h>

#include "collect/collect.h"
#include "collect/store.h"

#define LINE_BYTES_MAX 4096u

static struct {
	_Atomic uint32_t state;
	uint64_t offset, since;
} control;

void control_reset(uint64_t since)
{
	atomic_store(&control.state, CONTROL_SILENT);
	control.offset = 0;
	control.since = since;
}

enum control control_state(void)
{
	return (enum control)atomic_load(&control.state);
}

void control_stop(void)
{
	atomic_store(&control.state, CONTROL_STOPPED);
}

static bool is(const char *p, size_t n, const char *word)
{
	return n == strlen(word) && !memcmp(p, word, n);
}

/* Reads the number at the beginning of a line. */
static uint64_t time_of(const char *p, const char *end)
{
	uint64_t v = 0;

	for (; p < end && *p >= '0' && *p <= '9' && v < UINT64_MAX / 10; p++)
		v = v * 10 + (uint64_t)(*p - '0');
	return v;
}

/* Processes one line. Returns true if it requests a flush. */
static bool line(const char *p, const char *end)
{
	const char *space = memchr(p, ' ', (size_t)(end - p));

	if (!space || time_of(p, space) < control.since)
		return false;
	p = space + 1;
	space = memchr(p, ' ', (size_t)(end - p));
	size_t n = (size_t)((space ? space : end) - p);

	if (is(p, n, SPOOL_CONTROL_START))
		atomic_store(&control.state, CONTROL_STARTED);
	if (is(p, n, SPOOL_CONTROL_STOP))
		atomic_store(&control.state, CONTROL_STOPPED);
	return is(p, n, SPOOL_CONTROL_FLUSH);
}

bool control_read(void)
{
	char text[LINE_BYTES_MAX];
	bool flush = false;
	size_t n;

	while ((n = files_control_read(text, sizeof text, control.offset))) {
		const char *p = text, *end;

		while ((end = memchr(p, '\n', (size_t)(text + n - p)))) {
			flush |= line(p, end);
			p = end + 1;
		}
		if (p == text && n < sizeof text)
			break; /* the end of the line is still missing */
		control.offset += p == text ? n : (uint64_t)(p - text);
	}
	return flush;
}
