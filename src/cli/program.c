/* SPDX-License-Identifier: Apache-2.0
 *
 * See program.h.
 */
#include "cli/program.h"

#include <assert.h>

#include "cli/ctl.h"
#include "cli/doctor.h"
#include "cli/gpu.h"
#include "cli/record.h"

static const struct {
	const char *name;
	bool (*run)(struct program *p);
} rows[] = { { "record", record_run }, { "ctl", ctl_run }, { "gpu", gpu_run },
	{ "doctor", doctor_run } };

bool program_run(struct program *p)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (str_eq(str_of(rows[i].name), str_of(p->command->name)))
			return rows[i].run(p);
	assert(false && "a command of the program has no row here");
	return false;
}
