/* SPDX-License-Identifier: Apache-2.0
 *
 * Both clocks are read together from time to time, and time is interpolated between the readings.
 *
 *     time  |            * now
 *           |       * before
 *           +------------------ ticks
 */
#include "collect/system.h"

#include <string.h>

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

#define TRIES 4

bool ticks_by_counter;

struct tick_reading {
	uint64_t ticks, time;
};
static struct tick_reading before, now;

/* Returns the best of several readings, because a reading may be interrupted. */
static struct tick_reading take(void)
{
	struct tick_reading r = { 0 };
	uint64_t width = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t a = ticks_now(), time = process_clock(), b = ticks_now();

		if (b - a < width) {
			width = b - a;
			r = (struct tick_reading){ a + width / 2, time };
		}
	}
	return r;
}

void ticks_begin(void)
{
	char source[16];

	ticks_by_counter =
	        process_file(CLOCK_SOURCE, source, sizeof source) && !strcmp(source, "tsc\n");
	before = now = take();
}

void ticks_read(void)
{
	before = now;
	now = take();
}

uint64_t ticks_time(uint64_t ticks)
{
	if (!ticks_by_counter || now.ticks <= before.ticks)
		return ticks_by_counter ? now.time : ticks;
	double slope =
	        (double)(int64_t)(now.time - before.time) / (double)(now.ticks - before.ticks);

	return before.time + (uint64_t)(int64_t)((double)(int64_t)(ticks - before.ticks) * slope);
}
