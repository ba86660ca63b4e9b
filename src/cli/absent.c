/* SPDX-License-Identifier: Apache-2.0
 *
 * Replaces the files of the program that need Linux: recording with its commands, the search for
 * CUPTI, and the confinement of tfprof mcp; and the list of the server's connections, which are
 * closed by libevent's own limit here. Only built for other systems.
 */
#include "cli/mcp.h"
#include "cli/program.h"
#include "cli/recording.h"
#include "cli/serve.h"

static bool refuse(struct session *s, const struct request *r)
{
	return session_fail(s, ERR_FAILED,
	        "%s is not built into this program for " PORT_SYSTEM
	        ": recording needs Linux; recordings from there can be read here",
	        r->command->name);
}

bool record_run(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	return refuse(s, r);
}

bool ctl_run(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	return refuse(s, r);
}

bool doctor_run(struct session *s, const struct request *r, struct sink *out)
{
	(void)out;
	return refuse(s, r);
}

/* Fails: recordings are not made here, so none is the newest. */
bool recording_newest(struct arena *a, struct str *path, struct err *e)
{
	(void)a;
	*path = STR_NONE;
	return err_set(e, ERR_INVALID_ARGUMENT, "no input: name the folder of a recording");
}

bool cupti_find(struct arena *a, int driver, struct cupti_found *f)
{
	(void)a;
	(void)driver;
	(void)f;
	return false;
}

bool mcp_confine(struct mcp *m)
{
	(void)m;
	return false;
}

void serve_clients_check(struct serve_clients *c)
{
	(void)c;
}

unsigned serve_clients_end_idle(struct serve_clients *c)
{
	(void)c;
	return 0;
}

void serve_clients_restart(struct serve_clients *c, int fd, bool answered)
{
	(void)c;
	(void)fd;
	(void)answered;
}
