/* SPDX-License-Identifier: Apache-2.0
 *
 * The process command line: which files to load, and the words that are left for the command.
 */
#ifndef TFPROF_LIB_FLAGS_H
#define TFPROF_LIB_FLAGS_H

#include "base/option.h"
#include "lib/session.h"

struct flags {
	struct strs profiles; /* paths, patterns and lists, as given; once for each flag */
	struct str graph, run_meta, op_log, checkpoint; /* as given; run_meta is a list */
	struct str spool;                               /* a file or a folder */
	/* How spools are read; see struct recording_options. */
	struct str step_nvtx, step_kernel, process, job, gpu, detail_steps;
	int64_t step_every;          /* nanoseconds; 0: not given */
	int step_merge, leaf, merge; /* indexes of choices */
	bool keep_warmup, tf_layout;
	int64_t max_memory; /* bytes; 0: no limit */
	bool recover;       /* of damaged files what comes before the damage is read */
	bool lazy_steps;    /* run_meta is read when a command asks for a step of it */
	int color;          /* enum term_color */
	bool no_pager;
	bool help, version;
	struct str baseline; /* a bare word too */
	struct strs runs;  /* step files that were given as bare words; behind those of run_meta */
	struct strs words; /* command and view options */
	struct strs names; /* of the flags above, for "did you mean" */
	struct strs given; /* names of those among them that were given */
};

extern const struct option flag_options[]; /* its first row stands for all of them */
/* The flag of that name, without dashes, or NULL. */
const struct option *flag_find(struct str name);

/* Inside a session_guard; strings stay in argv. */
bool flags_parse(struct session *s, int argc, char **argv, struct flags *f);

/* Finds out which file is which, and whether all of them go together. */
bool flags_sort(struct session *s, struct flags *f, const struct strs *files);

/* Is there anything to load? */
bool flags_inputs(const struct flags *f);

/* Does one of the inputs come from standard input? */
bool flags_use_stdin(struct session *s, const struct flags *f);

/* Do the flags about spools make sense? */
bool flags_check_recording(struct session *s, const struct flags *f);

/* How a recording is to be read: by these flags and those in the options file of its folder. */
void flags_recording_options(struct session *s, const struct flags *f,
        const struct recording_set *files, struct recording_options *o);

/* Takes one of them as the library is given it: "step-nvtx=pytorch", "keep-warmup". */
bool flags_spool_word(struct session *s, struct flags *f, struct str word);

/* Loads the spools, by these flags and those that stand in the session's options file. */
bool flags_load_spools(struct session *s, const struct flags *f);
/* Loads a recording from memory; f->spool is its name. */
bool flags_load_spool_bytes(struct session *s, const struct flags *f, struct str bytes);

/* Loads them all, with the original's progress sentences on out. */
bool flags_load(struct session *s, const struct flags *f, struct sink *out);

/* Finds out which file is which, and loads them without a word; the model is sealed then. */
bool flags_load_files(struct session *s, const struct strs *files);

#endif
