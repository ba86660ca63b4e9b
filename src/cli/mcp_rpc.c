/* SPDX-License-Identifier: Apache-2.0
 *
 * Messages of JSON-RPC, and the methods of the protocol. Revisions before 2026-07-28 begin with
 * initialize; later ones state the revision in each request.
 */
#include "cli/mcp.h"

enum rpc_error {
	RPC_PARSE = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002,
	RPC_NO_REVISION = -32022
};

#define REVISION_META "io.modelcontextprotocol/protocolVersion"
#define CLIENT_META   "io.modelcontextprotocol/clientCapabilities"
#define SERVER_META   "io.modelcontextprotocol/serverInfo"
#define CACHE_MS      3600000 /* lists do not change while the server runs */

/* Revisions with initialize, the newest first. */
static const char *const revisions[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };
#define N_REVISIONS (sizeof revisions / sizeof *revisions)
/* Revisions that are stated in each request. */
static const char *const stated_revisions[] = { "2026-07-28" };

#define INSTRUCTIONS                                                                               \
	"tfprof reads profiles and traces that PyTorch, JAX, TensorFlow, Nsight Systems and ONNX " \
	"Runtime write. Begin with open to find files, then summary: its verdict and causes say "  \
	"why a "                                                                                   \
	"step takes its time. Use table for rows, peek for one name, what_if for the effect of a " \
	"change. If truncated is true, next is the call that returns more. Times are per step "    \
	"unless a name says otherwise. Options of a view: help with its name as topic."

/* A request that is being answered. */
struct rpc {
	struct mcp *m;
	struct arena *a;
	const struct json_node *id, *params;
	bool stated; /* true: the request states its revision */
	struct sink *to;
	struct json j;
	bool silent; /* true: the request was cancelled and gets no answer */
};

/* ---- writing ---- */

static void begin_answer(struct rpc *r)
{
	r->to = sink_memory(r->a);
	json_init(&r->j, r->to);
	json_object(&r->j);
	json_key(&r->j, S("jsonrpc"));
	json_string(&r->j, S("2.0"));
	json_key(&r->j, S("id"));
	if (r->id)
		json_tree_write(r->id, &r->j);
	else
		json_literal(&r->j, S("null"));
}

static void begin_result(struct rpc *r)
{
	begin_answer(r);
	json_key(&r->j, S("result"));
	json_object(&r->j);
}

/* Ends the answer. cacheable: true if the result is a list, which does not change. */
static bool end_result(struct rpc *r, bool cacheable)
{
	if (r->stated) {
		json_key(&r->j, S("resultType"));
		json_string(&r->j, S("complete"));
	}
	if (r->stated && cacheable) {
		json_key(&r->j, S("ttlMs"));
		json_i64(&r->j, CACHE_MS);
		json_key(&r->j, S("cacheScope"));
		json_string(&r->j, S("private"));
	}
	json_object_end(&r->j);
	json_object_end(&r->j);
	return true;
}

static void write_member(struct json *j, const char *key, struct str text)
{
	json_key(j, str_of(key));
	json_string(j, text);
}

/* Writes a text that may contain names of files: bytes that are not UTF-8 become \xNN. */
static void write_sentence(struct rpc *r, const char *key, struct str text)
{
	struct sb b = sb_in(r->a);

	json_key(&r->j, str_of(key));
	json_bytes(&r->j, &b, text);
}

static bool fail(struct rpc *r, enum rpc_error code, struct str text)
{
	begin_answer(r);
	json_key(&r->j, S("error"));
	json_object(&r->j);
	json_key(&r->j, S("code"));
	json_i64(&r->j, code);
	write_sentence(r, "message", text);
	if (code == RPC_NO_REVISION) {
		json_key(&r->j, S("data"));
		json_object(&r->j);
		json_key(&r->j, S("supported"));
		json_array(&r->j);
		json_string(&r->j, str_of(stated_revisions[0]));
		json_array_end(&r->j);
		write_member(&r->j, "requested",
		        json_tree_text(json_tree_find(r->params, "_meta"), REVISION_META));
		json_object_end(&r->j);
	}
	json_object_end(&r->j);
	json_object_end(&r->j);
	return true;
}

/* ---- beginning ---- */

static void write_capabilities(struct json *j)
{
	static const char *const names[] = { "tools", "resources", "prompts" };

	json_key(j, S("capabilities"));
	json_object(j);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		json_key(j, str_of(names[i]));
		json_object(j);
		json_object_end(j);
	}
	json_object_end(j);
}

static void write_server(struct json *j)
{
	json_object(j);
	write_member(j, "name", S("tfprof"));
	write_member(j, "title", S("tfprof"));
	write_member(j, "version", S(TFPROF_VERSION));
	json_object_end(j);
}

static bool initialize(struct rpc *r)
{
	struct str wanted = json_tree_text(r->params, "protocolVersion");
	size_t i = 0;

	if (!wanted.p)
		return fail(r, RPC_INVALID_PARAMS, S("protocolVersion must be a string"));
	while (i < N_REVISIONS && !str_eq(wanted, str_of(revisions[i])))
		i++;
	i = i < N_REVISIONS ? i : 0;
	r->m->batches = strcmp(revisions[i], "2025-03-26") == 0;
	begin_result(r);
	write_member(&r->j, "protocolVersion", str_of(revisions[i]));
	write_capabilities(&r->j);
	json_key(&r->j, S("serverInfo"));
	write_server(&r->j);
	write_member(&r->j, "instructions", S(INSTRUCTIONS));
	return end_result(r, false);
}

static bool discover(struct rpc *r)
{
	begin_result(r);
	json_key(&r->j, S("supportedVersions"));
	json_array(&r->j);
	json_string(&r->j, str_of(stated_revisions[0]));
	for (size_t i = 0; i < N_REVISIONS; i++)
		json_string(&r->j, str_of(revisions[i]));
	json_array_end(&r->j);
	write_capabilities(&r->j);
	write_member(&r->j, "instructions", S(INSTRUCTIONS));
	json_key(&r->j, S("_meta"));
	json_object(&r->j);
	json_key(&r->j, S(SERVER_META));
	write_server(&r->j);
	json_object_end(&r->j);
	return end_result(r, true);
}

static bool ping(struct rpc *r)
{
	begin_result(r);
	return end_result(r, false);
}

/* ---- tools ---- */

static bool list_tools(struct rpc *r)
{
	begin_result(r);
	json_key(&r->j, S("tools"));
	mcp_write_tools(&r->j, r->a);
	return end_result(r, true);
}

static bool write_content(struct rpc *r, struct str text, bool is_error)
{
	begin_result(r);
	json_key(&r->j, S("content"));
	json_array(&r->j);
	json_object(&r->j);
	write_member(&r->j, "type", S("text"));
	write_sentence(r, "text", text);
	json_object_end(&r->j);
	json_array_end(&r->j);
	json_key(&r->j, S("isError"));
	json_literal(&r->j, is_error ? S("true") : S("false"));
	return end_result(r, false);
}

static bool run_tool(struct rpc *r, const struct mcp_tool *tool)
{
	struct mcp *m = r->m;
	struct mcp_call c = { .m = m, .a = r->a, .tool = tool, .out = sink_memory(r->a) };
	const struct json_node *token =
	        json_tree_find(json_tree_find(r->params, "_meta"), "progressToken");

	c.arguments = json_tree_find(r->params, "arguments");
	m->progress_token =
	        token && (token->type == JSON_STRING || token->type == JSON_NUMBER) ? token : NULL;
	m->outside = false;
	m->clock++;
	m->s->error = (struct err){ .a = &m->s->query_arena };
	bool ok = mcp_call_tool(&c);
	m->progress_token = NULL;
	sink_flush(c.out);
	if (ok)
		return write_content(r, sink_text(c.out), false);
	struct str text = m->s->error.text.n ? m->s->error.text : S("the call failed");
	return c.refused || m->outside ? fail(r, RPC_INVALID_PARAMS, text)
	                               : write_content(r, text, true);
}

static bool call_tool(struct rpc *r)
{
	struct str name = json_tree_text(r->params, "name");
	struct str id = mcp_id(r->a, r->id);

	for (size_t i = 0; i < n_mcp_tools; i++) {
		if (!str_eq(name, str_of(mcp_tools[i].name)))
			continue;
		if (r->m->lines && !mcp_lines_begin_request(r->m->lines, id)) {
			r->silent = true;
			return true;
		}
		bool ok = run_tool(r, &mcp_tools[i]);
		r->silent = r->m->lines && mcp_lines_end_request(r->m->lines);
		return ok;
	}
	return fail(r, RPC_INVALID_PARAMS,
	        name.p ? str_fmt(r->a, "unknown tool '%.*s'", STR(name))
	               : S("name must be a string"));
}

/* ---- resources and prompts ---- */

#define HELP_URI "tfprof://help/"

static bool list_resources(struct rpc *r)
{
	begin_result(r);
	json_key(&r->j, S("resources"));
	json_array(&r->j);
	for (size_t i = 0; i < n_help_sections; i++) {
		struct str name = str_of(help_sections[i].name);
		json_object(&r->j);
		write_member(&r->j, "uri", str_fmt(r->a, HELP_URI "%.*s", STR(name)));
		write_member(&r->j, "name", str_fmt(r->a, "help %.*s", STR(name)));
		write_member(&r->j, "mimeType", S("text/plain"));
		json_object_end(&r->j);
	}
	json_array_end(&r->j);
	return end_result(r, true);
}

static bool list_templates(struct rpc *r)
{
	begin_result(r);
	json_key(&r->j, S("resourceTemplates"));
	json_array(&r->j);
	json_object(&r->j);
	write_member(&r->j, "uriTemplate", S(HELP_URI "{topic}"));
	write_member(&r->j, "name", S("help"));
	write_member(&r->j, "description",
	        S("help about a command, an option, a metric, an output or a cause"));
	write_member(&r->j, "mimeType", S("text/plain"));
	json_object_end(&r->j);
	json_array_end(&r->j);
	return end_result(r, true);
}

static bool read_resource(struct rpc *r)
{
	struct str uri = json_tree_text(r->params, "uri"), head = S(HELP_URI);
	struct sink *text = sink_memory(r->a);
	struct strs topic = { 0 };

	if (!uri.p)
		return fail(r, RPC_INVALID_PARAMS, S("uri must be a string"));
	if (!str_starts(uri, head))
		return fail(r, RPC_NO_RESOURCE, S("unknown resource"));
	strs_add(r->a, &topic, str_sub(uri, head.n, SIZE_MAX));
	if (!help_write(r->m->s, &topic, text))
		return fail(r, RPC_NO_RESOURCE, r->m->s->error.text);
	sink_flush(text);
	begin_result(r);
	json_key(&r->j, S("contents"));
	json_array(&r->j);
	json_object(&r->j);
	write_member(&r->j, "uri", uri);
	write_member(&r->j, "mimeType", S("text/plain"));
	write_member(&r->j, "text", sink_text(text));
	json_object_end(&r->j);
	json_array_end(&r->j);
	return end_result(r, true);
}

/* A prompt. %.*s in its text is replaced by the arguments, in order. */
static const struct mcp_prompt {
	const char *name, *text, *arguments[2];
	const char *before, *between, *after;
} prompts[] = {
	{ "diagnose", "Find out why a training or inference step is slow.", { "file" },
	        "Why does a step of ", "",
	        " take as long as it does? Call summary. For the first causes, check the evidence "
	        "with "
	        "what_if (cause:ID) and the places with peek or table. Answer with the verdict, "
	        "the "
	        "saving in ms per step, the place in the code, and what to change." },
	{ "explain_change", "Explain why one run is slower than another.", { "before", "after" },
	        "Why does the step time differ between ", " and ",
	        "? Call compare with view why, then compare with view op. Answer with the parts of "
	        "the difference, the largest first." },
};
#define N_PROMPTS (sizeof prompts / sizeof *prompts)

static bool list_prompts(struct rpc *r)
{
	begin_result(r);
	json_key(&r->j, S("prompts"));
	json_array(&r->j);
	for (size_t i = 0; i < N_PROMPTS; i++) {
		json_object(&r->j);
		write_member(&r->j, "name", str_of(prompts[i].name));
		write_member(&r->j, "description", str_of(prompts[i].text));
		json_key(&r->j, S("arguments"));
		json_array(&r->j);
		for (size_t k = 0; k < 2 && prompts[i].arguments[k]; k++) {
			json_object(&r->j);
			write_member(&r->j, "name", str_of(prompts[i].arguments[k]));
			json_key(&r->j, S("required"));
			json_literal(&r->j, S("true"));
			json_object_end(&r->j);
		}
		json_array_end(&r->j);
		json_object_end(&r->j);
	}
	json_array_end(&r->j);
	return end_result(r, true);
}

static bool write_prompt(struct rpc *r, const struct mcp_prompt *p)
{
	const struct json_node *arguments = json_tree_find(r->params, "arguments");
	struct str v[2] = { STR_NONE, STR_NONE };

	for (size_t k = 0; k < 2 && p->arguments[k]; k++) {
		v[k] = json_tree_text(arguments, p->arguments[k]);
		if (!v[k].p)
			return fail(r, RPC_INVALID_PARAMS,
			        str_fmt(r->a, "argument '%s' must be a string", p->arguments[k]));
	}
	begin_result(r);
	write_member(&r->j, "description", str_of(p->text));
	json_key(&r->j, S("messages"));
	json_array(&r->j);
	json_object(&r->j);
	write_member(&r->j, "role", S("user"));
	json_key(&r->j, S("content"));
	json_object(&r->j);
	write_member(&r->j, "type", S("text"));
	write_member(&r->j, "text",
	        str_fmt(r->a, "%s%.*s%s%.*s%s", p->before, STR(v[0]), p->between, STR(v[1]),
	                p->after));
	json_object_end(&r->j);
	json_object_end(&r->j);
	json_array_end(&r->j);
	return end_result(r, false);
}

static bool get_prompt(struct rpc *r)
{
	struct str name = json_tree_text(r->params, "name");

	for (size_t i = 0; i < N_PROMPTS; i++)
		if (str_eq(name, str_of(prompts[i].name)))
			return write_prompt(r, &prompts[i]);
	return fail(r, RPC_INVALID_PARAMS,
	        name.p ? str_fmt(r->a, "unknown prompt '%.*s'", STR(name))
	               : S("name must be a string"));
}

/* ---- messages ---- */

static const struct method {
	const char *name;
	bool (*run)(struct rpc *r);
} methods[] = { { "initialize", initialize }, { "server/discover", discover }, { "ping", ping },
	{ "tools/list", list_tools }, { "tools/call", call_tool },
	{ "resources/list", list_resources }, { "resources/templates/list", list_templates },
	{ "resources/read", read_resource }, { "prompts/list", list_prompts },
	{ "prompts/get", get_prompt } };

/* Checks the revision that a request states. */
static bool check_stated(struct rpc *r, bool *ok)
{
	const struct json_node *meta = json_tree_find(r->params, "_meta");
	const struct json_node *stated = json_tree_find(meta, REVISION_META);

	*ok = true;
	r->stated = stated != NULL;
	if (!stated)
		return true;
	*ok = false;
	if (stated->type != JSON_STRING)
		return fail(r, RPC_INVALID_PARAMS, S(REVISION_META " must be a string"));
	if (!json_tree_find(meta, CLIENT_META))
		return fail(r, RPC_INVALID_PARAMS, S(CLIENT_META " is missing in _meta"));
	if (!str_eq(stated->text, str_of(stated_revisions[0])))
		return fail(r, RPC_NO_REVISION, S("unsupported protocol version"));
	*ok = true;
	return true;
}

static bool run_method(struct rpc *r, struct str method)
{
	bool ok;

	if (r->params && r->params->type != JSON_OBJECT)
		return fail(r, RPC_INVALID_PARAMS, S("params must be an object"));
	if (!check_stated(r, &ok))
		return false;
	if (!ok)
		return true;
	for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
		if (str_eq(method, str_of(methods[i].name)))
			return methods[i].run(r);
	return fail(r, RPC_NO_METHOD, str_fmt(r->a, "unknown method '%.*s'", STR(method)));
}

/* Answers one message. For a notification or a response, *answer stays empty. */
static bool answer_one(
        struct mcp *m, struct arena *a, const struct json_node *x, struct str *answer)
{
	struct rpc r = { .m = m, .a = a, .params = json_tree_find(x, "params") };
	const struct json_node *id = json_tree_find(x, "id");
	struct str method = json_tree_text(x, "method");
	bool ok = true;

	*answer = STR_NONE;
	if (x->type == JSON_OBJECT && !method.p && id &&
	        (json_tree_find(x, "result") || json_tree_find(x, "error")))
		return true; /* a response; tfprof itself sends no requests */
	if (id && mcp_id(a, id).p)
		r.id = id;
	if (x->type != JSON_OBJECT || !str_eq(json_tree_text(x, "jsonrpc"), S("2.0")) ||
	        !method.p || (id && !r.id))
		ok = fail(&r, RPC_INVALID_REQUEST,
		        S("a request of JSON-RPC 2.0 is expected: an object with jsonrpc, method "
		          "and an id that is a string or a number"));
	else if (!id)
		return true; /* a notification */
	else
		ok = run_method(&r, method);
	if (!ok || r.silent)
		return ok;
	sink_flush(r.to);
	*answer = sink_text(r.to);
	return true;
}

/* Answers the messages of a batch as an array. */
static bool answer_batch(
        struct mcp *m, struct arena *a, const struct json_node *batch, struct str *answer)
{
	struct sb b = sb_in(a);
	struct str one;

	for (const struct json_node *x = batch->first; x; x = x->next) {
		if (!answer_one(m, a, x, &one))
			return false;
		if (!one.n)
			continue;
		sb_char(&b, b.n ? ',' : '[');
		sb_put(&b, one);
	}
	if (b.n)
		sb_char(&b, ']');
	*answer = sb_str(&b);
	return true;
}

bool mcp_message(struct mcp *m, struct arena *a, struct str line, struct str *answer)
{
	struct err e = { .a = a };
	struct rpc r = { .m = m, .a = a };
	const struct json_node *x = str_is_utf8(line) ? json_tree(a, line, &e) : NULL;
	bool ok = true;

	*answer = STR_NONE;
	if (!x) {
		fail(&r, RPC_PARSE, e.text.n ? e.text : S("malformed JSON: it is not UTF-8"));
		sink_flush(r.to);
		*answer = sink_text(r.to);
	} else if (x->type == JSON_ARRAY && m->batches && x->n) {
		ok = answer_batch(m, a, x, answer);
	} else {
		ok = answer_one(m, a, x, answer);
	}
	if (answer->n)
		*answer = str_fmt(a, "%.*s\n", STR(*answer));
	return ok;
}
