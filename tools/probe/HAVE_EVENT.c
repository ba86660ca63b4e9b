/* SPDX-License-Identifier: Apache-2.0
 * Is there libevent with its HTTP server? Then the command serve works.
 */
#include <event2/event.h>
#include <event2/http.h>

int main(void)
{
	struct event_base *base = event_base_new();

	return evhttp_new(base) == NULL;
}
