/* SPDX-License-Identifier: Apache-2.0
 *
 * Amounts of a unit as people write them: 1.5MB, 20ms, 3k. As in the texts of views a kilobyte is
 * 1000 bytes.
 */
#ifndef TFPROF_METRIC_QUANTITY_H
#define TFPROF_METRIC_QUANTITY_H

#include "metric/metric.h"

/* The unit that a text is written in, by its end: bytes, time, else a count. */
enum unit quantity_unit(struct str s);

/* Reads digits, with a point and a sign if there are, and a unit: B KB MB GB TB (K M G T), us ms
 * sec s, or k m b behind a count; of bytes and counts in capitals or small letters. Rounded to
 * whole units of the table; false on anything else. */
bool quantity_parse(struct str s, enum unit u, int64_t *v);

/* A plain decimal number, without exponent. */
bool quantity_parse_real(struct str s, double *v);

/* At most three digits that count, the rest zeros: 6220MB, 40.3MB, 32B. sign: + or - in front. */
void quantity_short(struct sb *b, enum unit u, int64_t v, bool sign);

#endif
