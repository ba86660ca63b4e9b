/* SPDX-License-Identifier: Apache-2.0
 *
 * Two threads with a session each make the same calls and get the same answers; a third thread
 * cancels one of them at times. Uses only the public header. two_sessions PROFILE
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <tfprof/tfprof.h>

#define ROUNDS 40

/* A thread: its input, and a checksum of the answers. */
struct user {
	const char *profile;
	struct tfp_session *s;
	unsigned long sum, cancelled;
	int failed;
};

static int add_up(void *arg, const void *bytes, size_t n)
{
	unsigned long *sum = arg;
	const unsigned char *p = bytes;

	for (size_t i = 0; i < n; i++)
		*sum = *sum * 31 + p[i];
	return 0;
}

static void *ask(void *arg)
{
	static const char *const lines[] = { "scope -max_depth 9 -select bytes,micros",
		"op -order_by micros -select micros,occurrence", "graph -max_depth 20", "code" };
	struct user *u = arg;
	struct tfp_input in = { .size = sizeof in, .path = u->profile, .path_size = TFP_Z };

	u->failed = tfp_add(u->s, TFP_PROFILE, &in);
	for (int i = 0; i < ROUNDS && !u->failed; i++) {
		unsigned long sum = 0;
		struct tfp_run run = { .size = sizeof run, .text = add_up, .text_user = &sum };
		int code = tfp_run_line(u->s, lines[i % 4], TFP_Z, &run);
		if (code == TFP_E_CANCELLED)
			u->cancelled++, i--;
		else
			u->failed = code;
		u->sum = code ? u->sum : u->sum * 31 + sum;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct user users[2] = { { .profile = argv[1] }, { .profile = argv[1] } };
	pthread_t threads[2];

	if (argc != 2)
		return 2;
	for (int i = 0; i < 2; i++)
		if (tfp_open(&users[i].s, NULL))
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, ask, &users[i]);
	for (int i = 0; i < 100; i++)
		tfp_cancel(users[0].s);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++)
		if (users[i].failed && users[i].failed != TFP_E_CANCELLED)
			printf("thread %d: %s\n", i, tfp_error(users[i].s, NULL));
	/* A cancelled load is not a failure, but its answers are not compared. */
	int same = users[0].failed == TFP_E_CANCELLED || users[0].sum == users[1].sum;
	int ok = same && !users[1].failed && users[1].sum && !users[1].cancelled;
	printf("%s: %lx %lx\n", ok ? "same" : "different", users[0].sum, users[1].sum);
	for (int i = 0; i < 2; i++)
		tfp_close(users[i].s);
	return !ok;
}
