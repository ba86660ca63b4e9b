/* SPDX-License-Identifier: Apache-2.0
 *
 * The newer subscribe function returns the name of the present subscriber. From 13.2 on, a client
 * that subscribes with it may have to use only newer functions, so with these versions it is called
 * for the name alone.
 */
#include "collect/cupti.h"

#include <stdio.h>

#define OUR_NAME "tfprof"

const char *cupti_error_text(const struct cupti *f, uint32_t error)
{
	const char *text = NULL;

	if (f->GetResultString && !f->GetResultString(error, &text) && text)
		return text;
	return "an unknown error";
}

/* Subscribes under our name, or returns the name of the current subscriber; "" if CUPTI does not
 * report it. */
static uint32_t subscribe_v2(
        const struct cupti *f, void **subscriber, cupti_callback *called, char *holder)
{
	struct subscriber_params p = { .size = SUBSCRIBER_PARAMS_SIZE,
		.name = OUR_NAME,
		.holder = holder,
		.holder_size = SUBSCRIBER_HOLDER_SIZE };

	holder[0] = 0;
	return f->Subscribe_v2(subscriber, called, NULL, &p);
}

static void say_why(const struct cupti *f, uint32_t e, const char *holder, char *why, size_t n)
{
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS)
		snprintf(why, n, "another profiler has CUPTI%s%s", holder[0] ? ": " : "", holder);
	else if (e == CUPTI_E_NOT_INITIALIZED && !f->driver)
		snprintf(why, n, "CUPTI %u does not work without a driver", f->version);
	else if (e == CUPTI_E_NOT_INITIALIZED)
		snprintf(why, n, "CUPTI %u does not work with this driver, which is of CUDA %d.%d",
		        f->version, f->driver / 1000, f->driver % 1000 / 10);
	else
		snprintf(why, n, "cuptiSubscribe failed: %s (%u)", cupti_error_text(f, e), e);
}

bool cupti_subscribe(
        const struct cupti *f, void **subscriber, cupti_callback *called, char *why, size_t n)
{
	char holder[SUBSCRIBER_HOLDER_SIZE + 1] = "";
	bool v2 = f->Subscribe_v2 && f->version < CUPTI_API_13_2;
	uint32_t e = v2 ? subscribe_v2(f, subscriber, called, holder)
	                : f->Subscribe(subscriber, called, NULL);

	if (v2 && e && e != CUPTI_E_MULTIPLE_SUBSCRIBERS && e != CUPTI_E_NOT_INITIALIZED)
		e = f->Subscribe(subscriber, called, NULL);
	if (!e)
		return true;
	if (e == CUPTI_E_MULTIPLE_SUBSCRIBERS && !v2 && f->Subscribe_v2 &&
	        !subscribe_v2(f, subscriber, called, holder)) {
		f->Unsubscribe(*subscriber); /* the slot has just become free: release it */
		holder[0] = 0;
	}
	holder[SUBSCRIBER_HOLDER_SIZE] = 0;
	*subscriber = NULL;
	say_why(f, e, holder, why, n);
	return false;
}
