/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs PCRE2 within a budget of steps. Independent of pattern lists and substitution rules.
 *
 * A step is one callout, or 64 bytes of text that the match has moved over since the last callout.
 * Each match returns steps to the budget, in proportion to its text. So matching many names may use
 * many steps, but at most ENGINE_STEPS more than this proportion.
 */
#include "base/pattern_engine.h"

#include <stdlib.h>

#include "base/arena_internal.h"

#define ENGINE_STEPS       100000000  /* limit for one work, without the steps given back */
#define ENGINE_STEPS_MATCH 256        /* number of steps given back by each match, */
#define ENGINE_STEPS_BYTE  16         /* and by each byte of its text */
#define ENGINE_STRIDE      64         /* bytes of text that cost one step */
#define QUICK_STEPS        2000       /* match limit of the uncounted first try, */
#define QUICK_TEXT         1024       /* which is used for texts up to this size, in bytes */
#define UNCOUNTED_STEPS    1000000    /* match limit of a pattern that is too large for callouts */
#define ENGINE_HEAP        (64 << 10) /* limit for backtracking state, KiB */
#define ENGINE_NEST        1000       /* maximum depth of parentheses, as in RE2 */

/* ---- memory ---- */

/* Header of each piece: its size, padded to the alignment of malloc. */
union piece {
	size_t size;
	max_align_t align;
};

static void *engine_alloc(PCRE2_SIZE n, void *account)
{
	union piece *p;
	size_t size = sizeof *p + n;

	if (size < n || !account_take(account, size))
		return NULL;
	p = malloc(size);
	if (!p) {
		account_give(account, size);
		return NULL;
	}
	p->size = size;
	return p + 1;
}

static void engine_free(void *memory, void *account)
{
	union piece *p = memory;

	if (!p)
		return;
	p--;
	account_give(account, p->size);
	free(p);
}

/* ---- contexts ---- */

/* Called at each item of a counted pattern. Returns nonzero to end the match. */
static int count(pcre2_callout_block *b, void *engine)
{
	struct engine *x = engine;
	size_t at = b->current_position, moved = at > x->at ? at - x->at : x->at - at;

	x->at = at;
	x->steps += x->reach + moved / ENGINE_STRIDE;
	if (x->steps > x->most)
		return ENGINE_STEPS_USED;
	return work_cancelled(x->a->work) ? PCRE2_ERROR_CALLOUT : 0;
}

void engine_open(
        struct engine *x, struct arena *a, struct guard *g, void (*close)(void *), void *what)
{
	*x = (struct engine){ .a = a, .account = a->work->account };
	arena_guard(a, g, close, what);
	x->general = pcre2_general_context_create(engine_alloc, engine_free, x->account);
	if (x->general) {
		x->compiling = pcre2_compile_context_create(x->general);
		x->matching = pcre2_match_context_create(x->general);
		x->data = pcre2_match_data_create(1, x->general);
	}
	if (!x->compiling || !x->matching || !x->data)
		work_escape(a->work);
	pcre2_set_newline(x->compiling, PCRE2_NEWLINE_LF);
	pcre2_set_parens_nest_limit(x->compiling, ENGINE_NEST);
	pcre2_set_heap_limit(x->matching, ENGINE_HEAP);
}

void engine_close(struct engine *x)
{
	pcre2_match_data_free(x->data);
	pcre2_match_context_free(x->matching);
	pcre2_compile_context_free(x->compiling);
	pcre2_general_context_free(x->general);
	x->data = NULL;
	x->matching = NULL;
	x->compiling = NULL;
	x->general = NULL;
}

/* ---- compiling ---- */

/* Returns the largest number after a brace or a comma: {17}, {3,17}. */
static uint64_t largest_repeat(struct str p)
{
	uint64_t most = 0, n = 0;
	bool counts = false;

	for (size_t i = 0; i < p.n; i++) {
		bool digit = p.p[i] >= '0' && p.p[i] <= '9';
		if (digit && counts && n < UINT32_MAX)
			n = n * 10 + (uint64_t)(p.p[i] - '0');
		else if (!digit) {
			counts = p.p[i] == '{' || p.p[i] == ',';
			n = 0;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* Compiles to machine code, and charges its memory. Without machine code, the pattern is
 * interpreted. */
static void translate(struct engine *x, struct engine_code *c)
{
	size_t size = 0;

	c->translated = true;
	if (pcre2_jit_compile(c->plain, PCRE2_JIT_COMPLETE) != 0 ||
	        pcre2_pattern_info(c->plain, PCRE2_INFO_JITSIZE, &size) != 0)
		return;
	if (!account_take(x->account, size))
		work_escape(x->a->work);
	c->machine = size;
}

bool engine_compile(struct engine *x, struct engine_code *c, struct str text, uint32_t options,
        int *code, size_t *offset)
{
	uint32_t most = 0;

	*c = (struct engine_code){ .text = text, .options = options };
	c->plain = pcre2_compile(
	        (PCRE2_SPTR)(text.n ? text.p : ""), text.n, options, code, offset, x->compiling);
	if (!c->plain && *code == PCRE2_ERROR_HEAP_FAILED)
		work_escape(x->a->work);
	if (!c->plain)
		return false;
	c->refers_back =
	        pcre2_pattern_info(c->plain, PCRE2_INFO_BACKREFMAX, &most) == 0 && most > 0;
	c->repeat = largest_repeat(text);
	return true;
}

void engine_drop(struct engine *x, struct engine_code *c)
{
	pcre2_code_free(c->plain);
	pcre2_code_free(c->counted);
	account_give(x->account, c->machine);
	*c = (struct engine_code){ .text = c->text };
}

/* ---- matching ---- */

/* Compiles the pattern with callouts, unless that makes it larger than PCRE2 allows. */
static void add_callouts(struct engine *x, struct engine_code *c)
{
	size_t offset;
	int code;

	if (c->counted || c->too_large)
		return;
	c->counted = pcre2_compile((PCRE2_SPTR)(c->text.n ? c->text.p : ""), c->text.n,
	        c->options | PCRE2_AUTO_CALLOUT, &code, &offset, x->compiling);
	if (!c->counted && code == PCRE2_ERROR_HEAP_FAILED)
		work_escape(x->a->work);
	c->too_large = !c->counted;
}

/* Runs the pattern within the remaining steps of the work, and charges the steps used. */
static int run_counted(struct engine *x, struct engine_code *c, const struct engine_run *run)
{
	struct work *w = x->a->work;
	int n;

	add_callouts(x, c);
	x->at = 0;
	x->steps = 0;
	x->most = w->pattern_work < ENGINE_STEPS ? ENGINE_STEPS - w->pattern_work : 0;
	x->reach = 1 + c->repeat / ENGINE_STRIDE + (c->refers_back ? run->n / ENGINE_STRIDE : 0);
	pcre2_set_callout(x->matching, count, x);
	pcre2_set_match_limit(x->matching, ENGINE_STEPS);
	if (c->too_large) { /* only PCRE2's own limit applies, so it is assumed to be used up */
		uint64_t most = x->most < UNCOUNTED_STEPS ? x->most : UNCOUNTED_STEPS;
		uint64_t each = x->reach + run->n / ENGINE_STRIDE;
		pcre2_set_match_limit(x->matching, (uint32_t)(most / each));
		x->steps = most;
	}
	n = run->f(run->user, c->too_large ? c->plain : c->counted, PCRE2_NO_JIT);
	w->pattern_work += x->steps;
	return n == PCRE2_ERROR_MATCHLIMIT ? ENGINE_STEPS_USED : n;
}

/* Gives back the steps that a match on n bytes may use. */
static void give_back_steps(struct work *w, size_t n)
{
	uint64_t back = ENGINE_STEPS_MATCH + (uint64_t)n * ENGINE_STEPS_BYTE;

	w->pattern_work = w->pattern_work > back ? w->pattern_work - back : 0;
}

/* Runs the pattern on a short text without counting. Returns false if it needs more steps or memory
 * than the first try has. */
static bool run_quick(struct engine *x, struct engine_code *c, const struct engine_run *run, int *n)
{
	if (c->refers_back || run->n > QUICK_TEXT)
		return false;
	if (!c->translated)
		translate(x, c);
	pcre2_set_callout(x->matching, NULL, NULL);
	pcre2_set_match_limit(x->matching, QUICK_STEPS);
	*n = run->f(run->user, c->plain, 0);
	return *n != PCRE2_ERROR_MATCHLIMIT && *n != PCRE2_ERROR_JIT_STACKLIMIT;
}

int engine_run(struct engine *x, struct engine_code *c, const struct engine_run *run)
{
	struct work *w = x->a->work;
	int n;

	work_poll(w); /* many matches may follow one another */
	if (w->pattern_work)
		give_back_steps(w, run->n);
	if (!run_quick(x, c, run, &n))
		n = run_counted(x, c, run);
	if (n == PCRE2_ERROR_NOMEMORY)
		work_escape(w);
	if (n == PCRE2_ERROR_CALLOUT)
		work_poll(w);
	return n;
}

struct str engine_reason(struct arena *a, int code)
{
	PCRE2_UCHAR reason[256];

	if (code == ENGINE_STEPS_USED)
		return S("the limit of matching steps is reached");
	if (code == PCRE2_ERROR_CALLOUT)
		return S("cancelled");
	pcre2_get_error_message(code, reason, sizeof reason);
	return str_copy(a, str_of((const char *)reason));
}
