/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists the saved baselines, from the first lines of their files.
 */
#include "lib/baseline_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "export/out.h"
#include "export/table/table.h"

#define HEAD_BYTES 65536 /* bytes read of a file; comments and steps are at its beginning */

struct baseline_row {
	struct str date, command, host, devices;
	int64_t steps;
	bool known; /* true: the steps have been counted */
};

/* Reads the beginning of a file, and its date. Returns an empty text if it cannot be read. */
static struct str read_head(struct arena *a, struct str path, struct str *date)
{
	int fd = open(str_z(a, path), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	char *text = ARENA_ARRAY(a, HEAD_BYTES, char), day[32] = "";
	struct stat st;
	struct tm tm;

	if (fd < 0)
		return STR_NONE;
	ssize_t n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, text, HEAD_BYTES) : -1;
	close(fd);
	if (n < 0)
		return STR_NONE;
	if (localtime_r(&st.st_mtime, &tm))
		strftime(day, sizeof day, "%Y-%m-%d %H:%M", &tm);
	*date = str_copy(a, str_of(day));
	return str_make(text, (size_t)n);
}

static bool take_fact(struct str line, const char *name, struct str *to)
{
	if (!str_starts(line, str_of(name)))
		return false;
	*to = str_sub(line, strlen(name), SIZE_MAX);
	return true;
}

static struct baseline_row read_row(struct arena *a, struct str path)
{
	struct baseline_row row = { 0 };
	struct str text = read_head(a, path, &row.date);

	while (text.n && !row.known) {
		size_t end = str_find_char(text, '\n');
		struct str line = str_sub(text, 0, end);
		text = end == SIZE_MAX ? STR_NONE : str_sub(text, end + 1, SIZE_MAX);
		bool fact = take_fact(line, BASELINE_COMMAND, &row.command) ||
		            take_fact(line, BASELINE_HOST, &row.host) ||
		            take_fact(line, BASELINE_DEVICES, &row.devices);
		if (fact)
			continue;
		row.steps += str_starts(line, S("step\t"));
		row.known = str_starts(line, S("node\t")) || str_starts(line, S("end\t"));
	}
	return row;
}

static void put_row(struct table *x, struct str name, const struct baseline_row *row)
{
	table_text_if(x, true, name);
	table_text_if(x, row->date.n, row->date);
	table_number_if(x, row->known, row->steps);
	table_text_if(x, row->host.n, row->host);
	table_text_if(x, row->devices.n, row->devices);
	table_text_if(x, row->command.n, row->command);
	x->rows++;
}

void baseline_list_write(struct arena *a, struct str folder, const struct strs *names,
        unsigned columns, struct sink *out)
{
	static const struct column heads[] = { TEXT_COLUMN("name"), TEXT_COLUMN("date"),
		NUMBER_COLUMN("steps", NULL), { S("host"), COLUMN_TEXT, NULL, 2 },
		{ S("devices"), COLUMN_TEXT, NULL, 1 }, TEXT_COLUMN("command") };
	struct table x = { .a = a, .columns = heads, .n_columns = sizeof heads / sizeof *heads };

	for (size_t i = 0; i < names->n; i++) {
		struct str path = str_fmt(a, "%.*s/%.*s", STR(folder), STR(names->v[i]));
		struct baseline_row row = read_row(a, path);
		put_row(&x, names->v[i], &row);
	}
	if (names->n)
		table_put_text(&x, 0, columns, out);
}
