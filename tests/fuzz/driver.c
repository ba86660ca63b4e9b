/* SPDX-License-Identifier: Apache-2.0
 *
 * Replays a corpus through a fuzz target with any compiler: files, or folders of files.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* declared by libFuzzer; changes nothing here */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max)
{
	(void)data;
	(void)max;
	return size;
}

static size_t replayed;

static void replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *p = NULL;
	size_t n = 0, got = 1;

	if (!f) {
		perror(path);
		exit(1);
	}
	for (; got; n += got) {
		p = realloc(p, n + 65536);
		if (!p)
			exit(1);
		got = fread(p + n, 1, 65536, f);
	}
	fclose(f);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(p, n);
	free(p);
	replayed++;
}

static void replay(const char *path)
{
	struct stat st;
	DIR *d = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? opendir(path) : NULL;
	char inner[4096];

	if (!d) {
		replay_file(path);
		return;
	}
	for (struct dirent *e; (e = readdir(d));) {
		snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
		if (e->d_name[0] != '.')
			replay_file(inner);
	}
	closedir(d);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	printf("%zu inputs\n", replayed);
	return replayed == 0;
}
