/* SPDX-License-Identifier: Apache-2.0
 *
 * A second module with ranges, which has a table separate from the program's.
 */
#include "nvtx_mini.h"

void module_ranges(void);

void module_ranges(void)
{
	void *domain = mini_domain("other");

	mini_push("from the module");
	mini_domain_push(domain, MINI_EVENT(1, "in a domain"));
	mini_domain_pop(domain);
	mini_pop();
}
