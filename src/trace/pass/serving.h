/* SPDX-License-Identifier: Apache-2.0
 *
 * Annotations with which LLM servers mark their steps: the phase, the requests and the tokens are
 * in the name.
 *
 *   vLLM          execute_context_2(14721)_generation_0(0)
 *                 execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37...)
 *                 execute_new_1_cached_3
 *   SGLang        step[EXTEND bs=15 toks=15360]    step[VERIFY bs=8 g_sq=32 g_sqsq=128 ...]
 *                 step[DRAFT_LOOP raw_bs=3 bs=4 topk=1]
 *   TensorRT-LLM  [Executor] _forward_step 12: 1 ctx reqs, 3 gen reqs
 *   others        prefill[bs=1 c_sq=512 ...]    decode[bs=117/128]    execute_diffusion_1_256x256
 */
#ifndef TFPROF_TRACE_SERVING_H
#define TFPROF_TRACE_SERVING_H

#include "flops/flops.h"

#include <stdint.h>

enum serving_phase {
	PHASE_PREFILL,
	PHASE_DECODE,
	PHASE_MIXED,
	PHASE_SPECULATIVE,
	PHASE_OTHER,
	PHASE_N
};
extern const char *const serving_phases[PHASE_N]; /* "prefill", "decode", ... */

struct serving_step {
	enum serving_phase phase;
	int64_t requests, tokens;  /* -1: unknown */
	int64_t prefills, decodes; /* requests of each kind; -1: unknown */
	int64_t padded;            /* requests or tokens of the graph that ran; 0: unknown */
	bool sums;                 /* true: the name has the sums below */
	struct paged_sums context, generation;
};

/* Reads the name of an annotation. Returns false for a name that is not of this form. */
bool serving_parse(struct str name, struct serving_step *out);

#endif
