/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the report: the page around its documents.
 */
#include "export/page/html.h"

#include "io/gz.h"

#define HTML_VERSION 1 /* version of the object around the documents, which the page checks */

/* ---- base64 ---- */

static void put_group(struct html *h, size_t n)
{
	static const char digits[] =
	        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = h->left;
	uint32_t bits =
	        (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);
	char out[4] = { digits[bits >> 18], digits[bits >> 12 & 63], '=', '=' };

	if (n > 1)
		out[2] = digits[bits >> 6 & 63];
	if (n > 2)
		out[3] = digits[bits & 63];
	sink_put(h->file, str_make(out, sizeof out));
	h->n_left = 0;
}

static bool put_base64(void *user, const void *p, size_t n)
{
	struct html *h = user;

	for (size_t i = 0; i < n; i++) {
		h->left[h->n_left++] = ((const uint8_t *)p)[i];
		if (h->n_left == sizeof h->left)
			put_group(h, sizeof h->left);
	}
	return true;
}

/* ---- the report ---- */

bool html_available(struct err *e)
{
	return web_head_size > 0 ||
	       err_set(e, ERR_UNIMPLEMENTED,
	               "this build has no page for the browser: install esbuild and "
	               "node-d3-scale ('tools/deps.sh build') and build again");
}

void html_begin(struct html *h, struct sink *file, struct arena *a)
{
	*h = (struct html){ .file = file, .a = a };
	sink_put(file, str_make(web_head, web_head_size));
	h->base64 = sink_call(a, put_base64, h);
	h->json = gzip_sink(a, h->base64);
	sink_fmt(h->json, "{\"version\":%d,\"tool\":\"%s\",\"documents\":[", HTML_VERSION,
	        TFPROF_VERSION);
}

void html_document(struct html *h, const char *name, const struct strs *words)
{
	struct sb scratch = sb_in(h->a);
	struct json j;

	sink_put(h->json, h->documents++ ? S("},\n{\"name\":") : S("\n{\"name\":"));
	json_init(&j, h->json);
	json_bytes(&j, &scratch, str_of(name));
	sink_put(h->json, S(",\"words\":"));
	json_init(&j, h->json);
	json_array(&j);
	for (size_t i = 0; i < words->n; i++)
		json_bytes(&j, &scratch, words->v[i]);
	json_array_end(&j);
	sink_put(h->json, S(",\"document\":"));
}

bool html_end(struct html *h, struct err *e)
{
	sink_put(h->json, h->documents ? S("}]}\n") : S("]}\n"));
	if (!sink_close(h->json, e) || !sink_close(h->base64, e))
		return false;
	if (h->n_left)
		put_group(h, h->n_left);
	sink_put(h->file, str_make(web_tail, web_tail_size));
	return true;
}
