/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the names of annotations, format by format.
 */
#include "trace/pass/serving.h"

#include "base/num.h"

const char *const serving_phases[PHASE_N] = { "prefill", "decode", "mixed", "speculative",
	"other" };

/* Modes of SGLang batches. */
static const struct {
	const char *word;
	enum serving_phase phase;
} modes[] = {
	{ "EXTEND", PHASE_PREFILL },
	{ "SPLIT_PREFILL", PHASE_PREFILL },
	{ "PREBUILT", PHASE_DECODE },
	{ "DECODE", PHASE_DECODE },
	{ "MIXED", PHASE_MIXED },
	{ "TARGET_VERIFY", PHASE_SPECULATIVE },
	{ "VERIFY", PHASE_SPECULATIVE },
	{ "DRAFT", PHASE_SPECULATIVE },
	{ "DRAFT_LOOP", PHASE_SPECULATIVE },
	{ "DRAFT_EXTEND", PHASE_SPECULATIVE },
	{ "DRAFT_EXTEND_V2", PHASE_SPECULATIVE },
	{ "DLLM_EXTEND", PHASE_OTHER },
	{ "IDLE", PHASE_OTHER },
};

/* Annotations of the form "WORD[bs=4 ...]". */
static const struct {
	const char *word;
	enum serving_phase phase;
} brackets[] = {
	{ "prefill[", PHASE_PREFILL },
	{ "extend[", PHASE_PREFILL },
	{ "decode[", PHASE_DECODE },
	{ "mixed[", PHASE_MIXED },
	{ "verify[", PHASE_SPECULATIVE },
	{ "draft[", PHASE_SPECULATIVE },
};

static bool take(struct str *s, struct str word)
{
	if (!str_starts(*s, word))
		return false;
	*s = str_sub(*s, word.n, SIZE_MAX);
	return true;
}

/* Reads a number that is not negative. */
static bool take_number(struct str *s, int64_t *out)
{
	size_t n = 0;

	while (n < s->n && char_is_digit(s->p[n]))
		n++;
	if (!n || !num_parse_i64(str_sub(*s, 0, n), out))
		return false;
	*s = str_sub(*s, n, SIZE_MAX);
	return true;
}

/* Reads "(sq37sk34489sqsq37sqsk34489)", or "(14721)" with only the tokens. Sets *full if the text
 * has all four sums. */
static bool take_sums(struct str *s, struct paged_sums *out, bool *full)
{
	if (!take(s, S("(")))
		return false;
	*full = take(s, S("sq"));
	if (!take_number(s, &out->q))
		return false;
	if (*full &&
	        !(take(s, S("sk")) && take_number(s, &out->k) && take(s, S("sqsq")) &&
	                take_number(s, &out->qq) && take(s, S("sqsk")) && take_number(s, &out->qk)))
		return false;
	return take(s, S(")"));
}

/* Sets the requests and the phase from the requests of each kind. A step without requests, such as
 * a step of an idle rank, belongs to no phase. */
static void set_requests(struct serving_step *out, int64_t prefills, int64_t decodes)
{
	out->prefills = prefills;
	out->decodes = decodes;
	out->requests = num_add(prefills, decodes);
	out->phase = !prefills ? (decodes ? PHASE_DECODE : PHASE_OTHER)
	             : decodes ? PHASE_MIXED
	                       : PHASE_PREFILL;
}

/* ---- vLLM ---- */

/* Reads "1_cached_3" of vLLM before 0.12: numbers of new and of continued requests. The tokens are
 * unknown. A continued request may still read its prompt, if the server splits prompts. */
static bool parse_new(struct str s, struct serving_step *out)
{
	int64_t fresh, cached;

	if (!take_number(&s, &fresh) || !take(&s, S("_cached_")) || !take_number(&s, &cached))
		return false;
	set_requests(out, fresh, cached);
	return !s.n;
}

/* Reads the part after "execute_". */
static bool parse_execute(struct str s, struct serving_step *out)
{
	bool tokens, context, generation;
	int64_t prefills, decodes;

	if (str_starts(s, S("diffusion_")))
		return true;
	if (take(&s, S("new_")))
		return parse_new(s, out);
	tokens = take_number(&s, &out->tokens) && take(&s, S("_"));
	if (!take(&s, S("context_")) || !take_number(&s, &prefills) ||
	        !take_sums(&s, &out->context, &context) || !take(&s, S("_generation_")) ||
	        !take_number(&s, &decodes) || !take_sums(&s, &out->generation, &generation))
		return false;
	if (!tokens)
		out->tokens = num_add(out->context.q, out->generation.q);
	set_requests(out, prefills, decodes);
	out->sums = context && generation;
	return !s.n;
}

/* ---- TensorRT-LLM ---- */

/* Reads a text such as "3 gen reqs". */
static bool take_count(struct str *s, int64_t *out, struct str what)
{
	return take_number(s, out) && take(s, what);
}

/* Reads the text after the name of the range: "1 ctx reqs, 512 ctx tokens, 3 gen reqs". */
static bool parse_requests(struct str s, struct serving_step *out)
{
	int64_t prefills, decodes, tokens = -1;
	struct str rest;

	if (!take_count(&s, &prefills, S(" ctx reqs, ")))
		return false;
	rest = s;
	if (take_count(&rest, &tokens, S(" ctx tokens, ")))
		s = rest;
	else
		tokens = -1;
	if (!take_count(&s, &decodes, S(" gen reqs")))
		return false;
	set_requests(out, prefills, decodes);
	if (tokens >= 0 && !decodes)
		out->tokens = tokens;
	return !s.n || *s.p == ',';
}

/* Reads "[Executor] _forward_step 12: ...", "_forward_step: ..." and "executeStep: ...". Sets *is
 * if the name has one of these forms. */
static bool parse_tensorrt(struct str s, struct serving_step *out, bool *is)
{
	int64_t number;

	take(&s, S("[Executor] "));
	if (take(&s, S("_forward_step"))) {
		if (take(&s, S(" ")) && !take_number(&s, &number))
			return false;
	} else if (!take(&s, S("executeStep"))) {
		return false;
	}
	*is = take(&s, S(": "));
	return *is && parse_requests(s, out);
}

/* ---- SGLang ---- */

/* Returns a pointer to the member of *out with this name, or NULL. */
static int64_t *value_of(struct serving_step *out, struct str key)
{
	struct paged_sums *sums = str_starts(key, S("c_"))   ? &out->context
	                          : str_starts(key, S("g_")) ? &out->generation
	                                                     : NULL;
	struct str which = str_sub(key, 2, SIZE_MAX);

	if (str_eq(key, S("bs")))
		return &out->requests;
	if (str_eq(key, S("toks")))
		return &out->tokens;
	if (str_eq(key, S("c")))
		return &out->prefills;
	if (str_eq(key, S("g")))
		return &out->decodes;
	if (!sums)
		return NULL;
	return str_eq(which, S("sq"))     ? &sums->q
	       : str_eq(which, S("sk"))   ? &sums->k
	       : str_eq(which, S("sqsq")) ? &sums->qq
	       : str_eq(which, S("sqsk")) ? &sums->qk
	                                  : NULL;
}

/* Returns the text up to a blank or the closing bracket. */
static struct str word_of(struct str s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] != ' ' && s.p[n] != ']')
		n++;
	return str_sub(s, 0, n);
}

/* Reads the words "bs=117/128 toks=32" up to the bracket. Ignores other words. In "raw_bs=3 bs=4",
 * bs is the size of the graph. */
static void parse_values(struct str s, struct serving_step *out)
{
	int64_t raw = -1;

	while (s.n && *s.p != ']') {
		struct str word = word_of(s);
		size_t equals = str_find_char(word, '=');
		take(&s, word.n ? word : S(" "));
		if (equals == SIZE_MAX)
			continue;
		struct str value = str_sub(word, equals + 1, SIZE_MAX);
		bool is_raw = str_eq(str_sub(word, 0, equals), S("raw_bs"));
		int64_t *to = value_of(out, str_sub(word, 0, equals)), ignored;
		if (!take_number(&value, is_raw ? &raw : to ? to : &ignored))
			continue;
		if (to == &out->requests && take(&value, S("/")))
			take_number(&value, &out->padded);
		out->sums |= to == &out->context.qk || to == &out->generation.qk;
	}
	if (raw >= 0 && out->requests > 0) {
		out->padded = out->requests;
		out->requests = raw;
	}
}

/* True for a mode name that the table lacks. */
static bool is_mode(struct str word)
{
	size_t n = 0;

	while (n < word.n && ((word.p[n] >= 'A' && word.p[n] <= 'Z') || word.p[n] == '_' ||
	                             char_is_digit(word.p[n])))
		n++;
	return n && n == word.n && !char_is_digit(*word.p);
}

/* Reads the mode of "DECODE bs=32 toks=32]". Modes of later versions have no known phase. */
static bool take_mode(struct str *s, enum serving_phase *out)
{
	take(s, S("ForwardMode."));
	struct str word = word_of(*s);

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (str_eq(word, str_of(modes[i].word))) {
			*out = modes[i].phase;
			return take(s, word);
		}
	*out = PHASE_OTHER;
	return is_mode(word) && take(s, word) && str_starts(*s, S(" bs="));
}

/* Reads "step[DECODE bs=32]", "prefill[bs=1 ...]" and similar names, and "ForwardMode.DECODE
 * bs=32".
 */
static bool parse_brackets(struct str s, struct serving_step *out)
{
	if (str_starts(s, S("ForwardMode."))) {
		if (!take_mode(&s, &out->phase) || (s.n && *s.p != ' '))
			return false;
		parse_values(s, out);
		return true;
	}
	if (!str_ends(s, S("]")))
		return false;
	if (take(&s, S("step["))) {
		if (!take_mode(&s, &out->phase))
			return false;
		parse_values(s, out);
		return true;
	}
	for (size_t i = 0; i < sizeof brackets / sizeof *brackets; i++)
		if (take(&s, str_of(brackets[i].word))) {
			out->phase = brackets[i].phase;
			parse_values(s, out);
			return out->requests >= 0 || out->phase == PHASE_PREFILL ||
			       out->phase == PHASE_DECODE;
		}
	return false;
}

/* Derives the values that the name does not state: tokens come from the sums, otherwise each
 * request in a decode step has one token. */
static void complete(struct serving_step *out)
{
	if (out->tokens < 0 && out->sums)
		out->tokens = num_add(out->context.q, out->generation.q);
	if (out->phase == PHASE_DECODE && out->tokens < 0)
		out->tokens = out->requests;
	if (out->phase == PHASE_PREFILL || out->phase == PHASE_DECODE) {
		out->prefills = out->phase == PHASE_PREFILL ? out->requests : 0;
		out->decodes = out->phase == PHASE_DECODE ? out->requests : 0;
	}
}

bool serving_parse(struct str name, struct serving_step *out)
{
	bool tensorrt = false;

	*out = (struct serving_step){ PHASE_OTHER, -1, -1, -1, -1, .padded = 0 };
	if (take(&name, S("execute_")))
		return parse_execute(name, out);
	if (!parse_tensorrt(name, out, &tensorrt) && (tensorrt || !parse_brackets(name, out)))
		return false;
	complete(out);
	return true;
}
