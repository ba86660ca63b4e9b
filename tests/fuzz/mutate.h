/* SPDX-License-Identifier: Apache-2.0
 *
 * A mutator that understands messages: it descends into a message at random and deletes, doubles,
 * swaps, moves, shortens or lengthens a field, or changes a number, and corrects all enclosing
 * lengths. Bytes that are not a message are changed by libFuzzer.
 */
#ifndef TFPROF_TESTS_FUZZ_MUTATE_H
#define TFPROF_TESTS_FUZZ_MUTATE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bits.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

#define MUTATE_FIELDS 512
#define MUTATE_DEPTH  12
#define MUTATE_MAX    ((size_t)1 << 20)

/* A field of a message: its bytes, and the bytes of its value. */
struct mutate_field {
	const uint8_t *p, *value, *end;
	uint32_t tag;
};

static uint32_t mutate_state;

static uint32_t mutate_random(uint32_t below)
{
	mutate_state = mutate_state * 1664525u + 1013904223u;
	return below ? (mutate_state >> 8) % below : 0;
}

/* Returns the number of fields of a message, or -1 if the bytes are not a message. */
static int mutate_split(const uint8_t *p, const uint8_t *end, struct mutate_field *f)
{
	int n = 0;

	while (p < end && n < MUTATE_FIELDS) {
		uint64_t v;
		f[n].p = p;
		if (!varint_get(&p, end, &v) || v < 8 || v > UINT32_MAX)
			return -1;
		f[n].tag = (uint32_t)v;
		f[n].value = p;
		switch (v & 7) {
		case 0:
			if (!varint_get(&p, end, &v))
				return -1;
			break;
		case 1:
		case 5:
			v = (v & 7) == 1 ? 8 : 4;
			if ((size_t)(end - p) < v)
				return -1;
			p += v;
			break;
		case 2:
			if (!varint_get(&p, end, &v) || v > (size_t)(end - p))
				return -1;
			f[n].value = p;
			p += v;
			break;
		default: return -1;
		}
		f[n++].end = p;
	}
	return p == end ? n : -1;
}

/* A buffer that is being written. */
struct mutate_out {
	uint8_t *p;
	size_t n, max;
};

static void mutate_put(struct mutate_out *o, const uint8_t *p, size_t n)
{
	if (n > o->max - o->n)
		n = o->max - o->n;
	if (n)
		memcpy(o->p + o->n, p, n);
	o->n += n;
}

static void mutate_put_number(struct mutate_out *o, uint64_t v)
{
	uint8_t b[VARINT_MAX];

	mutate_put(o, b, (size_t)(varint_put(b, v) - b));
}

/* Returns a number that is likely to cause faults. */
static uint64_t mutate_number(void)
{
	static const uint64_t odd[] = { 0, 1, 2, 127, 128, 255, INT32_MAX, UINT32_MAX, INT64_MAX,
		UINT64_MAX, (uint64_t)1 << 31, (uint64_t)1 << 63, 0xffff, 0x10000 };

	if (mutate_random(3))
		return odd[mutate_random(sizeof odd / sizeof *odd)];
	return (uint64_t)mutate_random(UINT32_MAX) << mutate_random(40);
}

static void mutate_message(struct mutate_out *o, const uint8_t *p, const uint8_t *end, int depth);

/* Writes a field with its value changed. */
static void mutate_value(struct mutate_out *o, const struct mutate_field *f, int depth)
{
	size_t n = (size_t)(f->end - f->value), room = n + 64 < MUTATE_MAX ? n + 64 : n;
	struct mutate_field *inner;
	struct mutate_out in = { .max = room + n };

	if ((f->tag & 7) != 2) {
		mutate_put(o, f->p, (size_t)(f->value - f->p));
		if ((f->tag & 7) == 0)
			mutate_put_number(o, mutate_number());
		else
			for (size_t i = 0; i < n; i++)
				mutate_put(o, &(uint8_t){ (uint8_t)mutate_random(256) }, 1);
		return;
	}
	in.p = malloc(in.max + 1);
	inner = malloc(sizeof *inner * MUTATE_FIELDS);
	if (!in.p || !inner)
		abort();
	if (depth < MUTATE_DEPTH && n && mutate_split(f->value, f->end, inner) > 0 &&
	        mutate_random(8)) {
		mutate_message(&in, f->value, f->end, depth + 1);
	} else if (mutate_random(4) == 0) { /* shorter, or doubled */
		mutate_put(&in, f->value, mutate_random((uint32_t)n + 1));
		if (mutate_random(2))
			mutate_put(&in, f->value, n);
	} else {
		mutate_put(&in, f->value, n);
		in.n = LLVMFuzzerMutate(in.p, in.n, room);
	}
	mutate_put_number(o, f->tag);
	mutate_put_number(o, in.n);
	mutate_put(o, in.p, in.n);
	free(inner);
	free(in.p);
}

/* Writes the message with one field changed. */
static void mutate_message(struct mutate_out *o, const uint8_t *p, const uint8_t *end, int depth)
{
	struct mutate_field *f = malloc(sizeof *f * MUTATE_FIELDS);
	int n = f ? mutate_split(p, end, f) : -1;

	if (n <= 0) {
		mutate_put(o, p, (size_t)(end - p));
		free(f);
		return;
	}
	uint32_t at = mutate_random((uint32_t)n), other = mutate_random((uint32_t)n);
	uint32_t how = mutate_random(16);
	for (uint32_t i = 0; i < (uint32_t)n; i++) {
		const struct mutate_field *x = how == 0 && i == at      ? &f[other]
		                               : how == 0 && i == other ? &f[at]
		                                                        : &f[i];
		size_t size = (size_t)(x->end - x->p);
		if (how == 1 && i == at) /* left out */
			continue;
		if (how > 3 && i == at) {
			mutate_value(o, x, depth);
			continue;
		}
		mutate_put(o, x->p, size);
		if (how == 2 && i == at) /* another field after it */
			mutate_put(o, f[other].p, (size_t)(f[other].end - f[other].p));
		if (how == 3 && i == at) /* the field again */
			mutate_put(o, x->p, size);
	}
	free(f);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct mutate_field *f = malloc(sizeof *f * MUTATE_FIELDS);
	struct mutate_out o = { .p = malloc(max), .max = max };
	bool message;

	if (!o.p || !f)
		abort();
	mutate_state = seed;
	message = mutate_random(8) && mutate_split(data, data + size, f) > 0;
	free(f);
	if (!message) {
		free(o.p);
		return LLVMFuzzerMutate(data, size, max);
	}
	for (uint32_t times = 1 + mutate_random(3); times; times--) {
		o.n = 0;
		mutate_message(&o, data, data + size, 0);
		memcpy(data, o.p, o.n);
		size = o.n;
	}
	free(o.p);
	return size;
}

#endif
