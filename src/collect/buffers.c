/* SPDX-License-Identifier: Apache-2.0
 *
 * Passes buffers of the pool to CUPTI. Versions of CUPTI that do not tolerate a refusal get an
 * emergency buffer, whose content is counted and lost.
 */
#include "collect/cupti.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "collect/pool.h"
#include "collect/record_enable.h"
#include "collect/system.h"

#define DISCARDS 4u
#define DISCARD  (16u << 10)

static struct {
	_Atomic uint64_t discarded;
	_Atomic uint32_t discards_out;
	_Atomic uint32_t error; /* error of counting the records */
} buffers;

/* A buffer for CUPTI when the pool is empty and CUPTI needs one. Its content is lost. */
static _Alignas(8) uint8_t discards[DISCARDS][DISCARD];

/* ---- makeshift buffers -------------------------------------------------------------------------
 */
static uint8_t *take_discard(size_t *size)
{
	uint32_t out = atomic_load(&buffers.discards_out);

	for (;;) {
		unsigned i = (unsigned)__builtin_ctz(~out);

		if (i >= DISCARDS) /* all are in use, so two threads share one, whose content is
		                      lost anyway */
			i = 0;
		if (atomic_compare_exchange_weak(&buffers.discards_out, &out, out | 1u << i)) {
			*size = DISCARD;
			return discards[i];
		}
	}
}

/* *Counts the records of a buffer. Sets *e to the error with which CUPTI stopped reading. */
static uint64_t count_records(uint8_t *p, size_t valid, uint32_t *e)
{
	union rec *r = NULL;
	uint64_t n = 0;

	while (!(*e = cupti_next(p, valid, &r)) && r->kind)
		n++;
	return n;
}

uint64_t buffers_count(uint8_t *p, size_t size)
{
	uint32_t e;

	return count_records(p, size, &e);
}

static void give_discard(uint8_t *p, size_t valid)
{
	uint32_t e = 0;

	if (valid && valid <= DISCARD)
		atomic_fetch_add(&buffers.discarded, count_records(p, valid, &e));
	if (e && e != CUPTI_E_MAX_LIMIT_REACHED)
		atomic_store(&buffers.error, e);
	memset(p, 0, DISCARD);
	atomic_fetch_and(&buffers.discards_out, ~(1u << (size_t)(p - discards[0]) / DISCARD));
}

static bool is_discard(const uint8_t *p)
{
	return p >= discards[0] && p < discards[0] + sizeof discards;
}

/* ---- callbacks ---------------------------------------------------------------------------------
 */
void buffers_requested(uint8_t **buffer, size_t *size, size_t *most)
{
	int saved = errno;

	*most = 0;
	*size = 0;
	*buffer = NULL;
	if (record_enable_is_open(DOOR_CUPTI)) {
		threads_see(); /* usually the thread of the buffer's first record */
		*buffer = pool_take(size);
		if (!*buffer)
			pool_was_short();
	}
	/* Older versions may crash if they get no buffer. */
	if (!*buffer && cupti_client.f.version < CUPTI_API_12_9)
		*buffer = take_discard(size);
	errno = saved;
}

void buffers_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	int saved = errno;

	(void)context, (void)stream, (void)size;
	if (buffer && is_discard(buffer))
		give_discard(buffer, valid);
	else if (buffer && record_enable_ours() && pool_put(buffer, valid))
		wake_writer();
	errno = saved;
}

void buffers_requested_v2(uint8_t **buffer, size_t *size, size_t *most, const void *info)
{
	(void)info;
	buffers_requested(buffer, size, most);
}

void buffers_completed_v2(uint8_t *buffer, size_t size, size_t valid, const void *info)
{
	(void)info;
	buffers_completed(NULL, 0, buffer, size, valid);
}

uint64_t buffers_discarded(uint32_t *error)
{
	uint32_t e = atomic_exchange(&buffers.error, 0);

	if (e)
		*error = e;
	return atomic_exchange(&buffers.discarded, 0);
}
