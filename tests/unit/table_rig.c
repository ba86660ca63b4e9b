/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes entries in blocks, and the files around them.
 */
#include "table_rig.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/crc32c.h"

static char folder[64];

static void put_varint(struct sb *b, uint64_t v)
{
	uint8_t text[VARINT_MAX];

	sb_put(b, str_make(text, (size_t)(varint_put(text, v) - text)));
}

static void put_fixed32(struct sb *b, uint32_t v)
{
	for (unsigned i = 0; i < 32; i += 8)
		sb_char(b, (char)(v >> i));
}

void table_rig_block(struct sb *to, struct str contents, char type)
{
	uint32_t crc = crc32c_more(crc32c(contents.p, contents.n), &type, 1);

	sb_put(to, contents);
	sb_char(to, type);
	put_fixed32(to, crc32c_mask(crc));
}

static struct str entries(struct arena *a, const struct pair *v, size_t n)
{
	struct sb b = sb_in(a), restarts = sb_in(a);

	for (size_t i = 0; i < n; i++) {
		size_t shared = 0, most = 0;
		if (i % 2)
			most = v[i].key.n < v[i - 1].key.n ? v[i].key.n : v[i - 1].key.n;
		else
			put_fixed32(&restarts, (uint32_t)b.n);
		while (shared < most && v[i].key.p[shared] == v[i - 1].key.p[shared])
			shared++;
		put_varint(&b, shared);
		put_varint(&b, v[i].key.n - shared);
		put_varint(&b, v[i].value.n);
		sb_put(&b, str_sub(v[i].key, shared, SIZE_MAX));
		sb_put(&b, v[i].value);
	}
	if (n == 0)
		put_fixed32(&restarts, 0);
	put_fixed32(&restarts, n ? (uint32_t)(restarts.n / 4) : 1);
	sb_put(&b, sb_str(&restarts));
	return sb_str(&b);
}

static struct str handle(struct arena *a, size_t at, size_t n)
{
	struct sb b = sb_in(a);

	put_varint(&b, at);
	put_varint(&b, n);
	return sb_str(&b);
}

struct str table_rig_make(struct arena *a, const struct pair *v, size_t n, size_t per_block)
{
	struct sb b = sb_in(a), footer = sb_in(a);
	struct pair *index = ARENA_ARRAY(a, n, struct pair);
	size_t blocks = 0;

	for (size_t i = 0; i < n; i += per_block) {
		size_t now = n - i < per_block ? n - i : per_block;
		struct str text = entries(a, v + i, now);
		index[blocks++] = (struct pair){ v[i + now - 1].key, handle(a, b.n, text.n) };
		table_rig_block(&b, text, 0);
	}
	for (int last = 0; last < 2; last++) {
		struct str text = entries(a, index, last ? blocks : 0);
		sb_put(&footer, handle(a, b.n, text.n));
		table_rig_block(&b, text, 0);
	}
	sb_repeat(&footer, 0, 40 - footer.n);
	put_fixed32(&footer, 0x8b80fb57);
	put_fixed32(&footer, 0xdb477524);
	sb_put(&b, sb_str(&footer));
	return sb_str(&b);
}

struct str table_rig_file(struct arena *a, const char *name, struct str bytes)
{
	if (!folder[0]) {
		strcpy(folder, "/tmp/tfprof_unit_XXXXXX");
		if (!mkdtemp(folder))
			abort();
	}
	struct str path = str_fmt(a, "%s/%s", folder, name);
	FILE *f = fopen(str_z(a, path), "wb");
	if (!f || fwrite(bytes.p, 1, bytes.n, f) != bytes.n || fclose(f) != 0)
		abort();
	return path;
}

void table_rig_remove(void)
{
	DIR *d = folder[0] ? opendir(folder) : NULL;
	struct dirent *e;

	if (!d)
		return;
	while ((e = readdir(d)) != NULL)
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	rmdir(folder);
	folder[0] = '\0';
}
