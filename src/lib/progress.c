/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress of loading, as a line of the terminal.
 */
#include "lib/term.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define AFTER 0.5 /* seconds before the first report */
#define EVERY 0.1 /* seconds between reports */
#define CELLS 24

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Writes a line such as "reading [##### ] 42% 123 MB/s 3 s left". */
static void show(struct progress *p, uint64_t done, uint64_t total, double seconds)
{
	double rate = (double)(p->before + done) / seconds;
	char bar[CELLS + 1];

	if (!total) {
		fprintf(stderr, "\rreading %.0f MB, %.0f MB/s\033[K", (double)done / 1e6,
		        rate / 1e6);
		return;
	}
	double part = (double)done / (double)total;
	for (int i = 0; i < CELLS; i++)
		bar[i] = i < (int)(part * CELLS) ? '#' : '.';
	bar[CELLS] = 0;
	fprintf(stderr, "\rreading [%s] %3.0f%%  %.0f MB/s  %.0f s left\033[K", bar, part * 100,
	        rate / 1e6, rate > 0 ? (double)(total - done) / rate : 0);
}

static bool progress(void *user, uint64_t done, uint64_t total)
{
	struct progress *p = user;
	double t = now();

	if (done < p->done) /* the next input has begun */
		p->before += p->done;
	p->done = done;
	if (t - p->begun < AFTER || t - p->last < EVERY || (total && done > total))
		return true;
	p->last = t;
	p->shown = true;
	show(p, done, total, t - p->begun);
	return true;
}

void progress_begin(struct progress *p, struct input_watch *w)
{
	const char *term = getenv("TERM");

	*p = (struct progress){ .begun = now() };
	p->on = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb") != 0;
	if (p->on)
		*w = (struct input_watch){ progress, p };
}

void progress_end(struct progress *p)
{
	if (p->shown)
		fputs("\r\033[K", stderr);
	p->shown = false;
}
