/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps the clock of CUPTI to the clock of the system.
 */
#include "io/recording_in.h"

#include <stdio.h>

#include "base/num.h"
#include "base/sort.h"

#define NEAR_NS  1000    /* maximum distance of equal clocks, beyond the width of a reading */
#define NEAR_OLD 1000000 /* maximum distance if the width is not recorded */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

void clock_map_add(struct clock_map *m, struct arena *a, const struct spool_clock *c)
{
	struct clock_pair new = { c->cupti, c->monotonic_raw };
	struct clock_pair last =
	        m->pairs.n ? m->pairs.v[m->pairs.n - 1] : (struct clock_pair){ 0, 0 };
	uint64_t near = c->width ? num_add_u64(c->width, NEAR_NS) : NEAR_OLD;

	if (!c->cupti || (m->pairs.n && (new.cupti <= last.cupti || new.raw <= last.raw)))
		return;
	if (!m->pairs.n) {
		m->origin = c->realtime - c->monotonic_raw;
		m->offset = (int64_t)(c->cupti - c->realtime);
	}
	m->apart |= distance(c->cupti, c->realtime) > near;
	m->width = c->width > m->width ? c->width : m->width;
	m->unbounded |= !c->width;
	VEC_PUSH(a, &m->pairs, new);
}

/* Returns the last reading at or before the time that has a successor, or the first reading. */
static size_t reading_before(const struct clock_map *m, uint64_t cupti)
{
	size_t i;

	BISECT(i, 1, m->pairs.n - 1, m->pairs.v[i].cupti <= cupti);
	return i - 1;
}

uint64_t clock_map_time(const struct clock_map *m, uint64_t cupti)
{
	const struct clock_pair *a = &m->pairs.v[0];
	__int128 raw;

	if (!cupti)
		return 0;
	if (m->pairs.n == 1) {
		raw = (__int128)cupti - a->cupti + a->raw;
	} else {
		a = &m->pairs.v[reading_before(m, cupti)];
		/* Both differences are positive, and a product of two 64-bit numbers fits. */
		raw = ((__int128)cupti - a->cupti) * (__int128)(a[1].raw - a->raw) /
		              (__int128)(a[1].cupti - a->cupti) +
		      a->raw;
	}
	raw += m->origin;
	/* The origin is a difference that may have wrapped; so may the sum. */
	return (uint64_t)raw;
}

void clock_map_text(char text[CLOCK_MAP_TEXT], const struct clock_map *m)
{
	double seconds = (double)m->offset / 1e9;
	char error[32] = "unknown";

	if (!m->unbounded)
		snprintf(error, sizeof error, "at most %.3f us", (double)m->width / 2e3);
	snprintf(text, CLOCK_MAP_TEXT,
	        "the clock of CUPTI was %.6f s %s the system's; its times were mapped by %zu "
	        "readings of both (error: %s)",
	        seconds < 0 ? -seconds : seconds, seconds < 0 ? "behind" : "ahead of", m->pairs.n,
	        error);
}
