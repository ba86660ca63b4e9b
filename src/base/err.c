/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills error values. The first error stays, because later errors are its consequences. Prints
 * nothing.
 */
#define _GNU_SOURCE 1
#include "base/err.h"

#include <errno.h>
#include <string.h>

struct err *err_about(struct err *e, struct str file)
{
	if (e && e->code == ERR_NONE) {
		e->file = str_copy(e->a, file);
		e->has_at = false;
	}
	return e;
}

struct err *err_at(struct err *e, struct str file, uint64_t at)
{
	if (err_about(e, file) && e->code == ERR_NONE) {
		e->at = at;
		e->has_at = true;
	}
	return e;
}

bool err_set(struct err *e, enum status code, const char *f, ...)
{
	struct sb b;
	va_list ap;

	if (!e || e->code != ERR_NONE)
		return false;
	b = sb_in(e->a);
	va_start(ap, f);
	sb_vfmt_message(&b, f, ap);
	va_end(ap);
	e->code = code;
	e->text = sb_str(&b);
	return false;
}

bool err_text(struct err *e, enum status code, struct str text)
{
	if (!e || e->code != ERR_NONE)
		return false;
	e->code = code;
	e->text = str_copy(e->a, text);
	return false;
}

bool err_copy(struct err *e, const struct err *from)
{
	if (from->file.p && from->has_at)
		err_at(e, from->file, from->at);
	else if (from->file.p)
		err_about(e, from->file);
	return err_text(e, from->code, from->text);
}

/* Returns the code under which a system error number is reported. */
static enum status code_of(int errnum)
{
	switch (errnum) {
	case ENOENT:
	case ENOTDIR: return ERR_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS: return ERR_PERMISSION;
	case ENOMEM:
	case EMFILE:
	case ENFILE:
	case ENOSPC:
	case EDQUOT: return ERR_RESOURCE;
	default: return ERR_IO;
	}
}

bool err_system(struct err *e, const char *what, struct str path, int errnum)
{
	char text[256];
#ifdef __GLIBC__ /* the GNU version returns the message, the POSIX version an error number */
	const char *reason = strerror_r(errnum, text, sizeof text);
#else
	const char *reason = strerror_r(errnum, text, sizeof text) ? "unknown error" : text;
#endif

	if (e && e->code == ERR_NONE)
		e->errnum = errnum;
	return err_set(
	        err_about(e, path), code_of(errnum), "%s '%.*s': %s", what, STR(path), reason);
}

const char *status_name(enum status code)
{
	static const char *const names[ERR_N] = {
		[ERR_NONE] = "OK",
		[ERR_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
		[ERR_NOT_FOUND] = "NOT_FOUND",
		[ERR_PERMISSION] = "PERMISSION_DENIED",
		[ERR_DATA_LOSS] = "DATA_LOSS",
		[ERR_UNIMPLEMENTED] = "UNIMPLEMENTED",
		[ERR_RESOURCE] = "RESOURCE_EXHAUSTED",
		[ERR_IO] = "IO_ERROR",
		[ERR_CANCELLED] = "CANCELLED",
		[ERR_STEP] = "NOT_FOUND",
		[ERR_FAILED] = "FAILED",
	};

	return (unsigned)code < ERR_N ? names[code] : "UNKNOWN";
}
