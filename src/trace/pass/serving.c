/* SPDX-License-Identifier: Apache-2.0
 *
 * Parses the names of annotations, format by format.
 */
#include "trace/pass/serving.h"

#include "base/num.h"

const char *const serving_phases[PHASE_N] = { "prefill", "decode", "mixed", "speculative",
	"other" };

/* Modes of SGLang's batches. */
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
	{ "DRAFT_EXTEND", PHASE_SPECULATIVE },
	{ "DRAFT_EXTEND_V2", PHASE_SPECULATIVE },
	{ "DLLM_EXTEND", PHASE_OTHER },
	{ "IDLE", PHASE_OTHER },
};

static bool take(struct str *s, struct str word)
{
	if (!str_starts(*s, word))
		return false;
	*s = str_sub(*s, word.n, SIZE_MAX);
	return true;
}

/* Takes a number that is not negative. */
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

static enum serving_phase phase_of(int64_t prefills, int64_t decodes)
{
	return !prefills ? PHASE_DECODE : decodes ? PHASE_MIXED : PHASE_PREFILL;
}

/* Reads the part after "execute_". */
static bool parse_execute(struct str s, struct serving_step *out)
{
	bool tokens, context, generation;

	if (str_starts(s, S("diffusion_"))) {
		*out = (struct serving_step){ PHASE_OTHER, -1, -1, -1, -1, .padded = 0 };
		return true;
	}
	tokens = take_number(&s, &out->tokens) && take(&s, S("_"));
	if (!take(&s, S("context_")) || !take_number(&s, &out->prefills) ||
	        !take_sums(&s, &out->context, &context) || !take(&s, S("_generation_")) ||
	        !take_number(&s, &out->decodes) || !take_sums(&s, &out->generation, &generation))
		return false;
	if (!tokens)
		out->tokens = num_add(out->context.q, out->generation.q);
	out->requests = num_add(out->prefills, out->decodes);
	out->phase = phase_of(out->prefills, out->decodes);
	out->sums = context && generation;
	return !s.n;
}

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

/* Reads the words "bs=117/128 toks=32" up to the bracket. Other words are ignored. */
static void parse_values(struct str s, struct serving_step *out)
{
	while (s.n && *s.p != ']') {
		struct str word = word_of(s);
		size_t equals = str_find_char(word, '=');
		take(&s, word.n ? word : S(" "));
		if (equals == SIZE_MAX)
			continue;
		struct str value = str_sub(word, equals + 1, SIZE_MAX);
		int64_t *to = value_of(out, str_sub(word, 0, equals)), ignored;
		if (!take_number(&value, to ? to : &ignored))
			continue;
		if (to == &out->requests && take(&value, S("/")))
			take_number(&value, &out->padded);
		out->sums |= to == &out->context.qk || to == &out->generation.qk;
	}
}

/* Takes the mode of "DECODE bs=32 toks=32]". */
static bool parse_mode(struct str *s, enum serving_phase *out)
{
	struct str word = word_of(*s);

	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (str_eq(word, str_of(modes[i].word))) {
			*out = modes[i].phase;
			return take(s, word);
		}
	return false;
}

/* Derives missing values from the phase: each request generates one token per decode step. */
static void complete(struct serving_step *out)
{
	if (out->phase == PHASE_DECODE && out->tokens < 0)
		out->tokens = out->requests;
	if (out->phase == PHASE_PREFILL || out->phase == PHASE_DECODE) {
		out->prefills = out->phase == PHASE_PREFILL ? out->requests : 0;
		out->decodes = out->phase == PHASE_DECODE ? out->requests : 0;
	}
}

bool serving_parse(struct str name, struct serving_step *out)
{
	bool known = true;

	*out = (struct serving_step){ PHASE_OTHER, -1, -1, -1, -1, .padded = 0 };
	if (take(&name, S("execute_")))
		return parse_execute(name, out);
	if (!str_ends(name, S("]")))
		return false;
	if (take(&name, S("step[")))
		known = parse_mode(&name, &out->phase);
	else if (take(&name, S("prefill[")))
		out->phase = PHASE_PREFILL;
	else if (take(&name, S("decode[")))
		out->phase = PHASE_DECODE;
	else
		return false;
	parse_values(name, out);
	complete(out);
	return known;
}
