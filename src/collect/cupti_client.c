/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions for multiple subscribers are used if the library has all of them (CUPTI 13.3 and
 * later) and permits several subscribers.
 */
#include "collect/cupti_client.h"

#include <stdio.h>

#define OUR_NAME "tfprof"

struct cupti_client cupti_client;
#define F      cupti_client.f
#define CLIENT cupti_client.subscriber

const char *cupti_error_text(uint32_t error)
{
	const char *text = NULL;

	if (F.GetResultString && !F.GetResultString(error, &text) && text)
		return text;
	return "an unknown error";
}

/* ---- subscription ------------------------------------------------------------------------------
 */
/* True if the library has all functions for one of several subscribers. */
static bool has_several(void)
{
/* NOLINTBEGIN(bugprone-macro-parentheses): args are the parentheses of a prototype */
#define CUPTI_HAS(name, optional, args) &&F.name
	return F.Subscribe_v2 CUPTI_FUNCTIONS_V2(CUPTI_HAS);
#undef CUPTI_HAS
	/* NOLINTEND(bugprone-macro-parentheses) */
}

/* Subscribes under the collector's name, or returns the name of the current subscriber; "" if CUPTI
 * does not report it. */
static uint32_t subscribe_v2(cupti_callback *called, char *holder, bool several)
{
	struct subscriber_params p = { .size = several ? sizeof p : SUBSCRIBER_PARAMS_SIZE,
		.name = OUR_NAME,
		.holder = holder,
		.holder_size = SUBSCRIBER_HOLDER_SIZE,
		.allow_more = several };

	holder[0] = 0;
	return F.Subscribe_v2(&CLIENT, called, NULL, &p);
}

static void say_why(uint32_t e, const char *holder, char *why, size_t n)
{
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS)
		snprintf(why, n, "another profiler has CUPTI%s%s", holder[0] ? ": " : "", holder);
	else if (e == CUPTI_E_NOT_INITIALIZED && !F.driver)
		snprintf(why, n, "CUPTI %u does not work without a driver", F.version);
	else if (e == CUPTI_E_NOT_INITIALIZED)
		snprintf(why, n, "CUPTI %u does not work with this driver, which is of CUDA %d.%d",
		        F.version, F.driver / 1000, F.driver % 1000 / 10);
	else
		snprintf(why, n, "cuptiSubscribe failed: %s (%u)", cupti_error_text(e), e);
}

bool cupti_subscribe(cupti_callback *called, char *why, size_t n)
{
	char holder[SUBSCRIBER_HOLDER_SIZE + 1] = "";
	/* From 13.2 on, a client that subscribes with the newer function may have to use only newer
	 * ones. In that case the function is called only to get the name of the other subscriber.
	 */
	bool v2 = F.Subscribe_v2 && F.version < CUPTI_API_13_2;

	cupti_client.several = has_several() && !subscribe_v2(called, holder, true);
	if (cupti_client.several)
		return true;
	uint32_t e = v2 ? subscribe_v2(called, holder, false) : F.Subscribe(&CLIENT, called, NULL);

	if (v2 && e && e != CUPTI_E_MULTIPLE_SUBSCRIBERS && e != CUPTI_E_NOT_INITIALIZED)
		e = F.Subscribe(&CLIENT, called, NULL);
	if (!e)
		return true;
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS && !v2 && F.Subscribe_v2 &&
	        !subscribe_v2(called, holder, false)) {
		F.Unsubscribe(CLIENT); /* the slot has just become free, so release it */
		holder[0] = 0;
	}
	holder[SUBSCRIBER_HOLDER_SIZE] = 0;
	CLIENT = NULL;
	say_why(e, holder, why, n);
	return false;
}

void cupti_unsubscribe(void)
{
	if (CLIENT)
		F.Unsubscribe(CLIENT);
	CLIENT = NULL;
}

/* ---- calls -------------------------------------------------------------------------------------
 */
uint32_t cupti_register(const struct cupti_buffers *b)
{
	if (cupti_client.several)
		return F.ActivityRegisterCallbacks_v2(CLIENT, b->requested_v2, b->completed_v2);
	return F.ActivityRegisterCallbacks(b->requested, b->completed);
}

uint32_t cupti_enable(uint32_t kind)
{
	return cupti_client.several ? F.ActivityEnable_v2(CLIENT, kind, NULL)
	                            : F.ActivityEnable(kind);
}

uint32_t cupti_disable(uint32_t kind)
{
	return cupti_client.several ? F.ActivityDisable_v2(CLIENT, kind, NULL)
	                            : F.ActivityDisable(kind);
}

uint32_t cupti_dump(uint32_t kind)
{
	if (cupti_client.several)
		return F.ActivityEnableAndDump_v2(CLIENT, kind, NULL);
	return F.ActivityEnableAndDump ? F.ActivityEnableAndDump(kind) : CUPTI_E_INVALID_PARAMETER;
}

uint32_t cupti_next(uint8_t *data, size_t valid, union rec **r)
{
	return cupti_client.several && CLIENT ? F.ActivityGetNextRecord_v2(CLIENT, data, valid, r)
	                                      : F.ActivityGetNextRecord(data, valid, r);
}

uint32_t cupti_take_dropped(size_t *n)
{
	*n = 0;
	if (cupti_client.several)
		return F.ActivityGetNumDroppedRecords_v2(CLIENT, NULL, 0, n);
	return F.ActivityGetNumDroppedRecords ? F.ActivityGetNumDroppedRecords(NULL, 0, n)
	                                      : CUPTI_E_INVALID_PARAMETER;
}

uint32_t cupti_set(uint32_t attribute, void *value, size_t size)
{
	if (cupti_client.several)
		return F.ActivitySetAttribute_v2(CLIENT, attribute, &size, value);
	return F.ActivitySetAttribute ? F.ActivitySetAttribute(attribute, &size, value)
	                              : CUPTI_E_INVALID_PARAMETER;
}

uint32_t cupti_set_thread_ids(void)
{
	uint32_t type = CUPTI_THREAD_ID_SYSTEM;

	if (cupti_client.several)
		return cupti_set(CUPTI_ATTR_THREAD_ID, &type, sizeof type);
	return F.SetThreadIdType ? F.SetThreadIdType(type) : CUPTI_E_INVALID_PARAMETER;
}

bool cupti_whole_graphs(bool want)
{
	uint8_t on = want;
	size_t size = sizeof on;

	if (!cupti_client.several)
		return want;
	if (want)
		cupti_set(CUPTI_ATTR_WHOLE_GRAPHS, &on, sizeof on);
	if (F.ActivityGetAttribute_v2 &&
	        !F.ActivityGetAttribute_v2(CLIENT, CUPTI_ATTR_WHOLE_GRAPHS, &size, &on))
		return on == 1;
	return want;
}

uint32_t cupti_time(uint64_t *t)
{
	if (cupti_client.several && CLIENT)
		return F.GetTimestamp_v2(CLIENT, t);
	return F.GetTimestamp ? F.GetTimestamp(t) : CUPTI_E_INVALID_PARAMETER;
}

uint32_t cupti_single_call(uint32_t domain, uint32_t cbid, bool on)
{
	if (cupti_client.several)
		return (domain == CB_RUNTIME ? F.ActivityEnableRuntimeApi_v2
		                             : F.ActivityEnableDriverApi_v2)(CLIENT, cbid, on);
	return (domain == CB_RUNTIME ? F.ActivityEnableRuntimeApi : F.ActivityEnableDriverApi)(
	        cbid, on);
}

bool cupti_has_single_calls(void)
{
	return F.GetCallbackName &&
	       (cupti_client.several || (F.ActivityEnableRuntimeApi && F.ActivityEnableDriverApi));
}
