/* SPDX-License-Identifier: Apache-2.0
 *
 * Help texts. Names, presets and explanations come from the tables alone.
 */
#include "app/help.h"
#include "app/cmd.h"

static const char *const EXAMPLES =
        "tfprof answers where a TensorFlow model's time, memory, parameters and float operations "
        "go.\n"
        "\n"
        "Examples\n"
        "  tfprof scope --graph_path=graph.pbtxt --run_meta_path=run_meta -select micros,bytes\n"
        "  tfprof op --profile_path=profile_100 -order_by micros -select micros,occurrence\n"
        "  tfprof code --profile_path=profile_100 -max_depth 20 -show_name_regexes '.*train.*'\n"
        "  printf 'scope -max_depth 3\\nset -select bytes\\nscope\\n' | tfprof "
        "--profile_path=profile_100\n"
        "\n"
        "Usage: tfprof [COMMAND] [INPUTS] [OPTIONS]\n"
        "  Options are -name value, --name value or --name=value, before or after the command.\n"
        "  Without a command, lines of commands are read from standard input.\n"
        "\n"
        "Inputs (gzip is undone; one of them may be -)\n"
        "  --graph_path=FILE      GraphDef, text or binary: the model\n"
        "  --run_meta_path=A,B,C  RunMetadata of steps 0, 1, 2: times and memory\n"
        "  --op_log_path=FILE     OpLogProto: float operations, types, Python call stacks\n"
        "  --profile_path=FILE    ProfileProto: all of that in one file, instead of the three\n"
        "  --lazy-steps           read a step's file when a command asks for it\n"
        "  --max-memory=SIZE      hold no more than so much (500M, 2G); end with a sentence\n";

static void put_outputs(struct sink *out)
{
	sink_put(out, S("\nOutputs (-output TYPE or TYPE:outfile=FILE)\n"));
	for (enum output_kind i = 0; i < OUT_N; i++)
		sink_fmt(out, "  %-10s %s\n", output_rows[i].name, output_rows[i].help);
}

static void put_options(struct session *s, struct sink *out)
{
	struct option rows[OPTIONS_MAX];
	size_t n = option_rows(rows);

	sink_put(out, S("\nOptions\n"));
	for (size_t i = 0; i < n; i++)
		sink_fmt(out, "  -%-26s %s%s%s%s\n", rows[i].name, rows[i].help,
		        rows[i].preset[0] ? " [" : "", rows[i].preset,
		        rows[i].preset[0] ? "]" : "");
	struct sb b = sb_in(&s->query_arena);
	sb_put(&b, S("  -select: "));
	metric_names(&b, USE_SELECT, ", ");
	sb_put(&b, S("\n  -order_by: "));
	metric_names(&b, USE_ORDER, ", ");
	sb_put(&b, S("\n  Lists are separated by commas; patterns are regular expressions that "
	             "match the whole name.\n"));
	sink_put(out, sb_str(&b));
}

void help_usage(struct session *s, struct sink *out)
{
	sink_put(out, str_of(EXAMPLES));
	sink_put(out, S("\nCommands\n"));
	for (size_t i = 0; i < n_commands; i++)
		sink_fmt(out, "  %-7s %s\n", commands[i].name, commands[i].help);
	put_options(s, out);
	put_outputs(out);
}

static bool put_topic(struct session *s, struct str topic, struct sink *out)
{
	const struct command *c = cmd_find(topic);
	size_t dashes = 0;
	struct option row;

	while (dashes < topic.n && topic.p[dashes] == '-')
		dashes++;
	if (c) {
		sink_fmt(out, "%s: %s\n", c->name, c->help);
		if (c->view)
			sink_fmt(out, "%s\n", c->view->doc);
		return true;
	}
	if (!option_find(str_sub(topic, dashes, SIZE_MAX), &row))
		return session_fail(
		        s, ERR_INVALID_ARGUMENT, "there is no help on '%.*s'", STR(topic));
	sink_fmt(out, "-%s: %s%s%s\n", row.name, row.help, row.preset[0] ? "; default " : "",
	        row.preset);
	return true;
}

bool help_write(struct session *s, const struct strs *topics, struct sink *out)
{
	if (topics->n == 0)
		help_usage(s, out);
	for (size_t i = 0; i < topics->n; i++)
		if (!put_topic(s, topics->v[i], out))
			return false;
	return true;
}
