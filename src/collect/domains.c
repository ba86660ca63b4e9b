/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers the NVTX domains of the process.
 */
#include "collect/nvtx.h"

#include <stdatomic.h>

#define DOMAINS_MAX 1024u

struct domain {
	_Atomic uint32_t name; /* names_number; 0: free */
};

static struct domain domains[DOMAINS_MAX]; /* indexed by number; 0 is the default domain */

void *domains_add(const struct name *n)
{
	uint32_t wanted = names_number(n);

	for (uint32_t i = 1; wanted && i < DOMAINS_MAX; i++) {
		uint32_t is = 0;

		if (atomic_compare_exchange_strong(&domains[i].name, &is, wanted) || is == wanted)
			return &domains[i];
	}
	return &domains[0];
}

bool domains_has(const void *p)
{
	return (const struct domain *)p >= domains &&
	       (const struct domain *)p < domains + DOMAINS_MAX;
}

uint16_t domains_number(const void *domain)
{
	return domain ? (uint16_t)((const struct domain *)domain - domains) : 0;
}

uint32_t domains_name(uint16_t number)
{
	return number < DOMAINS_MAX ? atomic_load(&domains[number].name) : 0;
}
