/* SPDX-License-Identifier: Apache-2.0
 *
 * The process command line: the files to load, and the words left for the command.
 */
#ifndef TFPROF_LIB_FLAGS_H
#define TFPROF_LIB_FLAGS_H

#include "base/option.h"
#include "lib/session.h"

struct flags {
	struct strs profiles; /* paths, patterns and lists, as given; one element per flag */
	struct str graph, run_meta, op_log, checkpoint; /* as given; run_meta is a list */
	struct str spool;                               /* a file or a folder */
	/* How spools are read; see struct recording_options. */
	struct str step_nvtx, step_kernel, process, job, gpu, detail_steps;
	int64_t step_every;          /* nanoseconds; 0: not given */
	int step_merge, leaf, merge; /* indexes of choices */
	bool keep_warmup, tf_layout;
	int64_t max_memory; /* bytes; 0: no limit */
	bool recover;       /* reads damaged files up to the damage */
	struct str sample;  /* sample type of a pprof profile */
	bool lazy_steps;    /* run_meta is read when a command selects one of its steps */
	int color;          /* enum term_color */
	bool no_pager;
	bool help, version;
	struct str baseline; /* bare words are allowed too */
	struct strs runs;    /* step files given as bare words; they follow those of run_meta */
	struct strs words;   /* command and view options */
	struct strs names;   /* names of the flags above, for "did you mean" */
	struct strs given;   /* names of the given ones */
};

extern const struct option flag_options[]; /* the first row; option_next returns the others */
/* Returns the flag with that name, without dashes, or NULL. */
const struct option *flag_find(struct str name);

/* Inside a session_guard; strings stay in argv. */
bool flags_parse(struct session *s, int argc, char **argv, struct flags *f);

/* Determines the role of each file, and checks that they can be loaded together. */
bool flags_sort(struct session *s, struct flags *f, const struct strs *files);

/* True if there is anything to load. */
bool flags_inputs(const struct flags *f);

/* True if an op log is the only input. */
bool flags_op_log_alone(const struct flags *f);

/* True if an input is standard input. */
bool flags_use_stdin(struct session *s, const struct flags *f);

/* Checks the flags for recordings. */
bool flags_check_recording(struct session *s, const struct flags *f);

/* Reads a recording by these flags and those in the options file of its folder. */
void flags_recording_options(struct session *s, const struct flags *f,
        const struct recording_set *files, struct recording_options *o);

/* Sets one of them from the library's text form: "step-nvtx=pytorch", "keep-warmup". */
bool flags_spool_word(struct session *s, struct flags *f, struct str word);

/* Loads the recordings, by these flags and those in the session's options file. */
bool flags_load_spools(struct session *s, const struct flags *f);
/* Loads a recording from memory; f->spool is its name. */
bool flags_load_spool_bytes(struct session *s, const struct flags *f, struct str bytes);

/* Loads everything and writes the original's progress sentences to out. */
bool flags_load(struct session *s, const struct flags *f, struct sink *out);

/* Determines the role of each file and loads them without output; seals the model. */
bool flags_load_files(struct session *s, const struct strs *files);

#endif
