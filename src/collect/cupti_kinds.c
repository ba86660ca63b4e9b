/* SPDX-License-Identifier: Apache-2.0
 *
 * The kinds of records that each level enables.
 */
#include "collect/cupti.h"

#include <stdio.h>
#include <string.h>

#include "collect/decode.h"

static struct {
	uint64_t enabled; /* enabled kinds, one bit each */
	bool single_calls;
	char missing[256];
} kinds;
#define F cupti_client.f

/* Names of the enabled kinds in messages. */
static const char *const kind_names[ACT_KINDS] = {
	[ACT_MEMCPY] = "copies",
	[ACT_MEMSET] = "memsets",
	[ACT_DRIVER] = "calls of the driver",
	[ACT_RUNTIME] = "calls of the runtime",
	[ACT_DEVICE] = "devices",
	[ACT_CONTEXT] = "contexts",
	[ACT_KERNEL] = "kernels",
	[ACT_OVERHEAD] = "overheads",
	[ACT_MEMCPY_PEER] = "copies between devices",
	[ACT_SYNC] = "synchronisation",
	[ACT_MEMORY] = "memory",
	[ACT_GRAPH] = "launches of whole graphs",
};

const char *cupti_kinds_missing(void)
{
	return kinds.missing;
}

void cupti_kinds_miss(const char *what)
{
	size_t used = strlen(kinds.missing);

	if (!what)
		kinds.missing[0] = 0;
	else if (!strstr(kinds.missing, what))
		snprintf(kinds.missing + used, sizeof kinds.missing - used, "%s%s",
		        used ? ", " : "", what);
}

bool cupti_kinds_has(uint32_t kind)
{
	return kinds.enabled >> kind & 1;
}

void cupti_kinds_forget(void)
{
	kinds.enabled = 0;
	kinds.single_calls = false;
}

/* ---- start -------------------------------------------------------------------------------------
 */
static uint32_t enable_kind(uint32_t kind)
{
	uint32_t e = cupti_enable(kind);

	if (!e)
		kinds.enabled |= (uint64_t)1 << kind;
	return e;
}

/* Enables a kind without which the profile would be wrong. */
static bool need(uint32_t kind, char *why, size_t n)
{
	uint32_t e = enable_kind(kind);

	if (e)
		snprintf(why, n, "CUPTI refuses to record %s (kind %u): %s (%u)", kind_names[kind],
		        kind, cupti_error_text(e), e);
	return !e;
}

/* Enables an optional kind. */
static void want(uint32_t kind)
{
	char what[64];

	if (!enable_kind(kind))
		return;
	snprintf(what, sizeof what, "%s (kind %u)", kind_names[kind], kind);
	cupti_kinds_miss(what);
}

/* Enables or disables single functions. Returns false if this CUPTI refuses one. */
static bool single_calls(uint32_t domain, bool on)
{
	bool any = false;

	for (uint32_t i = 1; i < CBID_MAX; i++) {
		const char *name = NULL;

		if (F.GetCallbackName(domain, i, &name) || !name || !decode_wants(name))
			continue;
		if (cupti_single_call(domain, i, on) && on)
			return false;
		any = true;
	}
	return any;
}

static bool enable_calls(enum plan_level level, char *why, size_t n)
{
	kinds.single_calls = false;
	if (level == LEVEL_KERNELS)
		return true;
	if (level == LEVEL_LAUNCHES && cupti_has_single_calls()) {
		kinds.single_calls = true;
		if (single_calls(CB_RUNTIME, true) && single_calls(CB_DRIVER, true))
			return true;
	}
	return need(ACT_RUNTIME, why, n) && need(ACT_DRIVER, why, n);
}

bool cupti_kinds_enable(const struct plan *plan, char *why, size_t n)
{
	/* If CUPTI refuses whole graphs, their nodes are recorded. */
	if (cupti_whole_graphs(plan->graph_level) || plan->graph_level)
		want(ACT_GRAPH);
	if (!need(ACT_KERNEL, why, n) || !need(ACT_MEMCPY, why, n) || !need(ACT_MEMSET, why, n) ||
	        !enable_calls(plan->level, why, n))
		return false;
	want(ACT_MEMCPY_PEER);
	if (plan->overhead)
		want(ACT_OVERHEAD);
	if (plan->memory)
		want(ACT_MEMORY);
	if (plan->sync)
		want(ACT_SYNC);
	for (uint32_t kind = ACT_DEVICE; kind <= ACT_CONTEXT; kind++)
		if (cupti_dump(kind))
			want(kind);
		else
			kinds.enabled |= (uint64_t)1 << kind;
	return true;
}

/* Calls are disabled first, so that every recorded call has its kernel. */
void cupti_kinds_disable(void)
{
	cupti_kinds_fewer_calls();
	for (uint32_t kind = 0; kind < ACT_KINDS; kind++)
		if (kinds.enabled >> kind & 1)
			cupti_disable(kind);
	kinds.enabled = 0;
}

void cupti_kinds_all_calls(void)
{
	if (kinds.single_calls) {
		want(ACT_RUNTIME);
		want(ACT_DRIVER);
	}
	kinds.single_calls = false;
}

void cupti_kinds_fewer_calls(void)
{
	for (uint32_t kind = ACT_DRIVER; kind <= ACT_RUNTIME; kind++)
		if (kinds.enabled >> kind & 1)
			cupti_disable(kind);
	kinds.enabled &= ~((uint64_t)1 << ACT_DRIVER | (uint64_t)1 << ACT_RUNTIME);
	if (kinds.single_calls) {
		single_calls(CB_RUNTIME, false);
		single_calls(CB_DRIVER, false);
	}
	kinds.single_calls = false;
}
