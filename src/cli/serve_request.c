/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the requests to serve, without a socket.
 */
#include "cli/serve.h"

#define OK           200
#define BAD          400
#define FORBIDDEN    403
#define NOT_FOUND    404
#define READ_ONLY    405
#define TARGET_LIMIT 414

/* True if the header Host names this server. A page of another site that reaches the server under
 * its own name (DNS rebinding) sends that name. */
static bool is_host(struct str host, unsigned port, struct arena *a)
{
	return str_eq(host, str_fmt(a, "127.0.0.1:%u", port)) ||
	       str_eq(host, str_fmt(a, "localhost:%u", port));
}

/* True if the request comes from tfprof's page or was typed into the address bar. Other programs
 * send neither header. */
static bool is_own(const struct serve_request *r, unsigned port, struct arena *a)
{
	struct str scheme = S("http://");

	if (r->origin.n && !(str_starts(r->origin, scheme) &&
	                           is_host(str_sub(r->origin, scheme.n, SIZE_MAX), port, a)))
		return false;
	return !r->fetch_site.n || str_eq(r->fetch_site, S("same-origin")) ||
	       str_eq(r->fetch_site, S("none"));
}

/* Compares a token in constant time. */
static bool is_token(struct str given, const char *token)
{
	unsigned different = given.n != SERVE_TOKEN;

	for (size_t i = 0; i < SERVE_TOKEN; i++)
		different |=
		        (unsigned)(uint8_t)token[i] ^ (i < given.n ? (uint8_t)given.p[i] : 256u);
	return different == 0;
}

/* Decodes %XX. Fails for a truncated escape and for NUL, encoded or not. */
static bool decode(struct str s, struct arena *a, struct str *out)
{
	char *to = (char *)ARENA_ARRAY(a, s.n + 1, uint8_t);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++, n++) {
		to[n] = s.p[i];
		if (s.p[i] == '%') {
			if (i + 2 >= s.n || char_hex(s.p[i + 1]) < 0 || char_hex(s.p[i + 2]) < 0)
				return false;
			to[n] = (char)(char_hex(s.p[i + 1]) << 4 | char_hex(s.p[i + 2]));
			i += 2;
		}
		if (!to[n])
			return false;
	}
	*out = str_make(to, n);
	return true;
}

/* Reads the words of a query such as "w=op&w=-step&w=3". */
static int take_words(struct str query, struct arena *a, struct strs *out)
{
	while (query.n) {
		size_t end = str_find_char(query, '&');
		struct str part = str_sub(query, 0, end), word;
		query = end == SIZE_MAX ? STR_NONE : str_sub(query, end + 1, SIZE_MAX);
		if (!str_starts(part, S("w=")) || out->n == SERVE_WORDS_MAX ||
		        !decode(str_sub(part, 2, SIZE_MAX), a, &word))
			return BAD;
		strs_add(a, out, word);
	}
	return out->n ? OK : BAD;
}

int serve_check(const struct serve_request *r, const char *token, unsigned port, struct arena *a,
        struct serve_task *out)
{
	struct str run = S("v1/run?");

	*out = (struct serve_task){ .what = SERVE_PAGE };
	if (!r->reads)
		return READ_ONLY;
	if (r->target.n > SERVE_TARGET_MAX)
		return TARGET_LIMIT;
	if (r->two_hosts)
		return BAD;
	if (!is_host(r->host, port, a) || !is_own(r, port, a))
		return FORBIDDEN;
	if (!r->target.n || r->target.p[0] != '/')
		return BAD;
	struct str rest = str_sub(r->target, 1, SIZE_MAX);
	size_t slash = str_find_char(rest, '/');
	if (slash == SIZE_MAX || !is_token(str_sub(rest, 0, slash), token))
		return FORBIDDEN;
	rest = str_sub(rest, slash + 1, SIZE_MAX);
	if (!rest.n)
		return OK;
	if (str_eq(rest, S("v1/index"))) {
		out->what = SERVE_INDEX;
		return OK;
	}
	out->what = SERVE_RUN;
	return str_starts(rest, run) ? take_words(str_sub(rest, run.n, SIZE_MAX), a, &out->words)
	                             : NOT_FOUND;
}
