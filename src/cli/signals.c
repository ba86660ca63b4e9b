/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers of signals: cancel, resize, end.
 */
#include "cli/program.h"

#include <signal.h>
#include <sys/prctl.h>

static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
#define NUMBERS (sizeof numbers / sizeof *numbers)

static struct session *_Atomic running;
static struct sigaction before[NUMBERS];
static volatile sig_atomic_t came;

static void on_signal(int number)
{
	/* Another thread may run this handler while the command ends. */
	struct session *s = running;

	came = number;
	if (s)
		atomic_store(&s->cancel, true);
}

void signals_catch(struct session *s)
{
	struct sigaction a = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	if (!s && !running)
		return;
	sigemptyset(&a.sa_mask);
	for (size_t i = 0; i < NUMBERS; i++) {
		if (!s) {
			sigaction(numbers[i], &before[i], NULL);
			continue;
		}
		running = s;
		sigaction(numbers[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &a, NULL);
	}
	running = s;
}

bool signals_came(void)
{
	return came != 0;
}

void signals_end_by(int number)
{
	came = number;
	prctl(PR_SET_DUMPABLE, 0); /* the program has already written its core file, if it writes
	                              one */
}

void signals_pass(void)
{
	sigset_t one;

	if (!came)
		return;
	sigemptyset(&one);
	sigaddset(&one, came);
	signal(came, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &one, NULL);
	raise(came);
}
