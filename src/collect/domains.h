/* SPDX-License-Identifier: Apache-2.0
 *
 * Domains of NVTX ranges: the program holds addresses into one table, rings hold numbers. Any
 * thread may add one.
 */
#ifndef TFPROF_COLLECT_DOMAINS_H
#define TFPROF_COLLECT_DOMAINS_H

#include "collect/names.h"

/* Returns the domain with this name, creating it if necessary; the default domain if the table is
 * full. */
void *domains_add(const struct name *);
/* True if a pointer from the program is a domain. */
bool domains_has(const void *);
/* Returns the number of a domain; 0: the default one, or NULL. */
uint16_t domains_number(const void *);
/* Returns the name of a domain as names_number; 0: the default one, or unknown. */
uint32_t domains_name(uint16_t number);

#endif
