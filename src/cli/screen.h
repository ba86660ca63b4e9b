/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the text of a command goes when nobody said otherwise: as it is into a pipe or a file, on a
 * terminal laid out by layout.h, and through a pager when it is longer than the screen.
 */
#ifndef TFPROF_CLI_SCREEN_H
#define TFPROF_CLI_SCREEN_H

#include <stdatomic.h>

#include "cli/layout.h"
#include "cli/spawn.h"
#include "io/sink.h"
#include "metric/opts.h"

struct screen {
	struct sink *plain; /* standard output */
	enum term_color color;
	bool pager;              /* may be started */
	const atomic_bool *stop; /* set: nothing more is shown */
	struct arena a;          /* of the answer on its way */
	struct layout layout;
	struct sink *now;
	struct sb line; /* begun and not ended */
	struct sb held; /* lines for which no pager has been started yet */
	size_t held_lines;
	bool paging, gave_up;
	struct child child;
	struct sink *to_pager; /* while paging */
};

void screen_init(struct screen *s, struct sink *plain, struct work *work);

/* Ends writes to standard output or to the pager that block, once *cancel is set. NULL: none. */
void screen_cancel(struct screen *s, const atomic_bool *cancel);

/* Columns that have room on a terminal, where the options leave that open. */
void screen_fit(const struct screen *s, struct opts *o);

/* Columns of the terminal on which the answer that is begun is read; 0: on none. */
unsigned screen_columns(const struct screen *s);

/* The sink for one answer, as the options want it; to be closed with screen_end. */
struct sink *screen_begin(struct screen *s, const struct opts *o);
void screen_end(struct screen *s);

#endif
