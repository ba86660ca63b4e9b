/* SPDX-License-Identifier: Apache-2.0
 *
 * Options of single commands, and flags of the process: parsing by the rows of metric/option.def.
 */
#ifndef TFPROF_LIB_OPTIONS_H
#define TFPROF_LIB_OPTIONS_H

#include "lib/command.h"
#include "base/option.h"
#include "lib/session.h"

/* struct <command>_options of each command with options: choices are indices, -1 if not given and
 * without default; times are nanoseconds; numbers without default are 0 if not given. */
#define OPTIONS_BEGIN(command)                struct command##_options {
#define OF_COMMAND(command, type, field, ...) OPTION_C_##type field;
#define OPTIONS_END                                                                                \
	}                                                                                          \
	;
/* clang-format off */
#include "metric/option.def"
/* clang-format on */

/* Returns the first row of a scope (a command, or SCOPE_VIEWS), for option_next and option_in; NULL
 * if the scope has none. */
const struct option *options_of(const char *scope);

/* Stores the defaults of a scope in its zeroed struct. */
void options_preset(const char *scope, void *in);

/* Stores a value, or the presence of a switch. Fails with a sentence. References strings; lists
 * grow in a. */
bool option_set(
        struct session *s, struct arena *a, const struct option *row, struct str value, void *in);

/* State of reading the options of a command. */
struct option_words {
	const struct command *command; /* the command */
	void *into;                    /* struct of the command, initially with the defaults */
	struct opts *opts;             /* for a command with view_options: their struct */
	struct strs rest;              /* arguments that are not options, or that follow "--" */
	struct strs given;             /* names of view options among the arguments */
};
bool options_read(struct session *s, const struct strs *words, struct option_words *w);

/* True if --help or -h is among the command's own arguments. */
bool options_want_help(const struct command *c, const struct strs *words);

/* Reads the option at words->v[*i] and, if it takes one, its value. */
bool options_take(struct session *s, const struct strs *words, size_t *i, struct option_words *w);

/* Returns an option of the command itself, or NULL. -n and --top name the same option. */
const struct option *option_of(const struct command *c, struct str name);

/* Returns "-" for a view option or an option of one letter, otherwise "--". */
const char *option_dashes(const struct option *row);

/* Returns the name of the option's argument, or its choices; NULL if it has none. */
const char *option_argument(const struct option *row);

/* Appends "--name=value", or "-n value" if the name is one letter. */
void option_usage(struct sb *b, const struct option *row);

/* ---- options of the views ---- */

/* True if the command reads its own arguments, and lists the view options that it accepts. */
bool cmd_takes_some(const struct command *c);

/* True if the view option applies to the command. */
bool cmd_has_option(const struct command *c, const struct option *row);
/* True if the help of the command lists the view option. The command of a table lists the options
 * of its output. */
bool cmd_lists_option(const struct command *c, const struct option *row);

/* Fails if the view option does not apply to the command. */
bool cmd_check_option(struct session *s, const struct command *c, const struct option *row);

/* Sets an option from its value or, without '=', from the word after words[*i]. */
bool cmd_set_option(struct session *s, const struct option *row, const struct strs *words,
        size_t *i, bool has_value, struct str value, struct opts *o);

/* Returns the option that a word such as --step=3 names, and the text after '='. Returns false if
 * the word is not an option. */
bool cmd_option_word(struct str word, struct str *name, struct str *value, bool *has_value);

/* ---- cmd ----
 *
 * The command language: one parser for the command line, the prompt, scripts and the library. Words
 * are split by the caller or by cmd_parse_line.
 */

/* Reads words: a command and options, in any order, as -name value, --name value or --name=value.
 * more: names of options (without dashes) that the caller has already read, for "did you mean".
 * Must be called inside a session_guard. Strings of the request live in the query arena. */
bool cmd_parse(
        struct session *s, const struct strs *words, const struct strs *more, struct request *r);

/* Fails because the option, given as typed, does not exist. c: the command, or NULL. more: names of
 * options that the caller has already read, for "did you mean". */
bool cmd_unknown_option(struct session *s, const struct command *c, struct str word,
        struct str name, const struct strs *more);

/* Splits and parses one line. A blank line has no command, and shows the sticky options. */
bool cmd_parse_line(struct session *s, struct str line, struct request *r);
bool cmd_parse_words(
        struct session *s, struct strs *words, struct request *r); /* parses a line that is already
                                                                      split */
/* Runs the command of a request on loaded inputs, with the step that -step chooses by its time. */
bool request_run(struct session *s, const struct request *r, struct sink *out);
bool cmd_run(struct session *s, const struct request *r, struct sink *out);

/* ---- flags ----
 *
 * The command line of the process: the files to load, and the arguments of the command.
 */

struct flags {
	struct strs profiles; /* paths, patterns and lists, as given; one element per flag */
	struct str graph, run_meta, op_log, checkpoint; /* words as given; run_meta is a list */
	struct strs calls;                              /* execution traces that accompany traces */
	struct str spool;                               /* file or folder of a recording */
	/* Options for reading recordings (see struct recording_options). */
	struct str step_nvtx, step_kernel, process, job, gpu, detail_steps;
	int64_t step_every;          /* nanoseconds; 0: not given */
	int step_merge, leaf, merge; /* index of the choice */
	bool keep_warmup, tf_layout;
	int64_t max_memory, assume_batch; /* bytes; 0: no limit */
	bool recover;                     /* true: reads damaged files up to the damage */
	struct str sample;                /* sample type of a pprof profile */
	bool guess_steps;                 /* for traces that do not mark their steps */
	struct str graph_capture;         /* file or folder with captures of graphs */
	bool lazy_steps; /* run_meta is read when a command selects one of its steps */
	int color;       /* enum term_color */
	int64_t width;   /* columns of text; 0: those of the terminal */
	bool no_pager;
	bool help, version, interactive;
	struct str baseline; /* file name or name of a baseline */
	struct strs runs;    /* step files given without a flag; loaded after run_meta */
	struct strs words;   /* command and view options */
	struct strs names;   /* names of all flags, for "did you mean" */
	struct strs given;   /* names of the given flags */
};

extern const struct option flag_options[]; /* first row; option_next returns the next rows */
/* Finds a flag by name, without dashes. Returns NULL if unknown. */
const struct option *flag_find(struct str name);

/* Parses the command line. Must run inside session_guard. The strings in *f point into argv. */
bool flags_parse(struct session *s, int argc, char **argv, struct flags *f);

/* Determines the role of each file, and checks that the files can be loaded together. */
bool flags_sort(struct session *s, struct flags *f, const struct strs *files);

/* True if at least one input is given. */
bool flags_inputs(const struct flags *f);

/* Fails if the inputs have no nodes: only a checkpoint, or only an op log given without its flag
 * (bare). command: named in the error message; NULL accepts an op log. */
bool flags_check_nodes(struct session *s, const struct flags *f, const char *command, bool bare);

/* True if an input is standard input. */
bool flags_use_stdin(struct session *s, const struct flags *f);

/* Checks that flags for recordings are used only with recordings. */
bool flags_check_recording(struct session *s, const struct flags *f);

/* Sets a flag for recordings from the library's text form: "step-nvtx=pytorch", "keep-warmup". */
bool flags_recording_word(struct session *s, struct flags *f, struct str word);

/* Loads the recordings with these flags and the options file of the session. */
bool flags_load_spools(struct session *s, const struct flags *f);
/* Loads a recording from memory; f->spool is its name. */
bool flags_load_spool_bytes(struct session *s, const struct flags *f, struct str bytes);

/* Loads all inputs and writes the original's progress messages to out. */
bool flags_load(struct session *s, const struct flags *f, struct sink *out);

/* Determines the role of each file, loads all files without output, and seals the model. */
bool flags_load_files(struct session *s, const struct strs *files);

#endif
