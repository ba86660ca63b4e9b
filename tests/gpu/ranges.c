/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX ranges for Python: a module whose functions push and pop.
 */
#include "nvtx_mini.h"

void ranges_push(const char *text);
void ranges_pop(void);
void ranges_push_in(const char *domain, const char *text);
void ranges_pop_in(const char *domain);

void ranges_push(const char *text)
{
	mini_push(text);
}

void ranges_pop(void)
{
	mini_pop();
}

void ranges_push_in(const char *domain, const char *text)
{
	void *d = mini_domain(domain);

	mini_domain_push(d, MINI_EVENT(1, text));
}

void ranges_pop_in(const char *domain)
{
	void *d = mini_domain(domain);

	mini_domain_pop(d);
}
