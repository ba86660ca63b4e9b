/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of Chrome JSON: PyTorch (Kineto), and others' events as plain slices. Damage is noted,
 * and every complete event read.
 */
#ifndef TFPROF_TRACE_READ_CHROME_JSON_H
#define TFPROF_TRACE_READ_CHROME_JSON_H

#include "io/src.h"
#include "trace/trace_build.h"

/* Tells by the first bytes (unpacked) and the path: 0 certainly not ... 100 certain. */
int sniff_chrome_json(struct str head, struct str path);

/* Adds the file to the builder; the caller seals it. False (*e filled): the input could not be
 * read, or nothing in it. a: for scratch. */
bool read_chrome_json(struct src *s, struct trace_build *to, struct arena *a, struct err *e);

#endif
