/* SPDX-License-Identifier: Apache-2.0
 *
 * The libraries that are linked, and their versions. Versions are those of the loaded libraries, if
 * these have a version function; snappy has none in C, so its version is from the build.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "lib/libraries.h"

#include <pcre2.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <zlib.h>

#if HAVE_SQLITE
#include <sqlite3.h>
#endif

#include "export/data/document.h"

#ifndef SNAPPY_VERSION
#define SNAPPY_VERSION ""
#endif

void libraries_add(struct libraries *l, const char *name, bool available, struct str version,
        const char *feature)
{
	struct tfp_library *x = &l->v[l->n++];

	*x = (struct tfp_library){
		.size = sizeof *x, .name = name, .available = available, .feature = feature
	};
	snprintf(x->version, sizeof x->version, "%.*s", STR(version));
}

/* Adds PCRE2, whose version is "10.42 2022-12-11". */
static void add_pcre2(struct libraries *l)
{
	char version[64] = "";
	uint32_t jit = 0;

	if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) < (int)sizeof version)
		pcre2_config(PCRE2_CONFIG_VERSION, version);
	pcre2_config(PCRE2_CONFIG_JIT, &jit);
	libraries_add(l, "pcre2", true, str_of(version), jit ? "JIT" : "no JIT");
}

void libraries_list(struct libraries *l)
{
	l->n = 0;
	libraries_add(l, "protobuf-c", true, str_of(protobuf_c_version()), "");
	add_pcre2(l);
	libraries_add(l, "zlib", true, str_of(zlibVersion()), "");
	libraries_add(l, "snappy", HAVE_SNAPPY, HAVE_SNAPPY ? S(SNAPPY_VERSION) : STR_NONE, "");
#if HAVE_SQLITE
	libraries_add(l, "sqlite", true, str_of(sqlite3_libversion()), "");
#else
	libraries_add(l, "sqlite", false, STR_NONE, "");
#endif
	libraries_add(l, "demangler", HAVE_DEMANGLE, STR_NONE, "");
	libraries_add(l, "page", HAVE_WEB, STR_NONE,
	        HAVE_WEB ? "" : "install esbuild and node-d3-scale, and build again");
}

int tfp_library(size_t i, struct tfp_library *out)
{
	struct libraries l;
	size_t size = out->size;

	if (size < offsetof(struct tfp_library, version))
		return TFP_E_INVALID_ARGUMENT;
	libraries_list(&l);
	if (i >= l.n)
		return TFP_E_NOT_FOUND;
	memcpy(out, &l.v[i], size < sizeof *out ? size : sizeof *out);
	out->size = size;
	return TFP_OK;
}

void libraries_text(const struct libraries *l, struct sink *out)
{
	sink_put(out, S("tfprof " TFPROF_VERSION "\n"));
	for (size_t i = 0; i < l->n; i++) {
		const struct tfp_library *x = &l->v[i];
		sink_fmt(out, "%-11s %s", x->name, x->available ? "yes" : "no");
		if (x->version[0])
			sink_fmt(out, ", %s", x->version);
		if (x->feature[0])
			sink_fmt(out, ", %s", x->feature);
		sink_char(out, '\n');
	}
}

void libraries_json(const struct libraries *l, struct sink *out, struct arena *a)
{
	struct document d;

	document_begin(&d, out, a, "tfprof/version", 1);
	document_key(&d, "libraries");
	json_array(&d.j);
	for (size_t i = 0; i < l->n; i++) {
		const struct tfp_library *x = &l->v[i];
		json_object(&d.j);
		document_text(&d, "name", str_of(x->name));
		document_key(&d, "available");
		json_literal(&d.j, x->available ? S("true") : S("false"));
		document_text(&d, "version", str_of(x->version));
		document_text(&d, "feature", str_of(x->feature));
		json_object_end(&d.j);
	}
	json_array_end(&d.j);
	document_end(&d);
}
