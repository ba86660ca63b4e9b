/* SPDX-License-Identifier: Apache-2.0
 *
 * The collector's CUPTI subscriber, and the calls made for it. Up to CUPTI 13.2 a process has one,
 * and buffers belong to whoever registered last; later, each of several subscribers has buffers of
 * its own, by functions with a subscriber.
 */
#ifndef TFPROF_COLLECT_CUPTI_CLIENT_H
#define TFPROF_COLLECT_CUPTI_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/cupti_abi.h"

#define CBID_MAX 2048u /* numbers of API functions are smaller */

struct cupti_client {
	struct cupti f;
	void *subscriber;
	bool several; /* true: other clients cannot take records from the collector */
};
extern struct cupti_client cupti_client;

/* Subscribes. On failure, why contains a message with the name of the current subscriber, if CUPTI
 * reports it. */
bool cupti_subscribe(cupti_callback *called, char *why, size_t n);
void cupti_unsubscribe(void);

/* All functions return an error code of CUPTI; 0: no error. */
/* The callbacks for buffers, in both forms. */
struct cupti_buffers {
	cupti_requested *requested;
	cupti_completed *completed;
	cupti_requested_v2 *requested_v2;
	cupti_completed_v2 *completed_v2;
};
uint32_t cupti_register(const struct cupti_buffers *);
uint32_t cupti_enable(uint32_t kind);
uint32_t cupti_disable(uint32_t kind);
/* Enables a kind, and makes CUPTI write records for existing objects. Also returns an error if
 * CUPTI does not support this. */
uint32_t cupti_dump(uint32_t kind);
uint32_t cupti_next(uint8_t *data, size_t valid, union rec **);
uint32_t cupti_take_dropped(size_t *n);
uint32_t cupti_set(uint32_t attribute, void *value, size_t size);
uint32_t cupti_set_thread_ids(void);
/* Requests records of whole graphs, or of their nodes. Returns true if whole graphs are recorded.
 * If there are several subscribers, the first one decides for all. */
bool cupti_whole_graphs(bool want);
uint32_t cupti_time(uint64_t *);
/* Starts or stops recording the calls of a function. */
uint32_t cupti_single_call(uint32_t domain, uint32_t cbid, bool on);
bool cupti_has_single_calls(void);

/* Returns the name of a CUPTI error, or "an unknown error". */
const char *cupti_error_text(uint32_t error);

#endif
