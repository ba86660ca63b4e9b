/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a device in the table of peak rates.
 */
#include "flops/peak.h"

static const struct peak peaks[] = {
#define PEAK(words, name, f64, f32, tf32, f16, bf16, f8, i8, f4, memory, source)                   \
	{ (words), (name), (source),                                                               \
		{ [NUMBERS_F64] = (f64),                                                           \
		        [NUMBERS_F32] = (f32),                                                     \
		        [NUMBERS_TF32] = (tf32),                                                   \
		        [NUMBERS_F16] = (f16),                                                     \
		        [NUMBERS_BF16] = (bf16),                                                   \
		        [NUMBERS_F8] = (f8),                                                       \
		        [NUMBERS_I8] = (i8),                                                       \
		        [NUMBERS_F4] = (f4) },                                                     \
		(memory) },
#include "flops/peak.def"
};

static bool is_between(char c)
{
	return c == ' ' || c == '-' || c == '_' || c == ',';
}

/* True if a name contains a word. Words end at blanks, dashes, underscores and commas. */
static bool has_word(struct str name, const char *word, size_t n)
{
	for (size_t i = 0; i + n <= name.n; i++)
		if (!memcmp(name.p + i, word, n) && (!i || is_between(name.p[i - 1])) &&
		        (i + n == name.n || is_between(name.p[i + n])))
			return true;
	return false;
}

static bool has_words(struct str name, const char *words)
{
	while (*words) {
		size_t n = strcspn(words, " ");
		if (!has_word(name, words, n))
			return false;
		words += n + (words[n] == ' ');
	}
	return true;
}

/* True for partitions of a device, and for versions for laptops or with less power: they have lower
 * peaks than the data sheet states. */
static bool is_reduced(struct str model)
{
	return has_word(model, "MIG", 3) || has_word(model, "Laptop", 6) ||
	       has_word(model, "Max", 3) || has_word(model, "D", 1);
}

/* True if a row is for the version of the device: "RTX 3080 Ti" is a different device from "RTX
 * 3080". */
static bool has_version(struct str model, const char *words)
{
	struct str row = str_of(words);

	return has_word(model, "Ti", 2) == has_word(row, "Ti", 2) &&
	       has_word(model, "SUPER", 5) == has_word(row, "SUPER", 5);
}

const struct peak *peak_find(struct str model)
{
	if (is_reduced(model))
		return NULL;
	for (size_t i = 0; i < sizeof peaks / sizeof *peaks; i++)
		if (has_words(model, peaks[i].words) && has_version(model, peaks[i].words))
			return &peaks[i];
	return NULL;
}

double peak_flops(const struct peak *p, enum number_type type)
{
	if (type == NUMBERS_F32 && p->tflops[NUMBERS_TF32] > 0)
		type = NUMBERS_TF32;
	return p->tflops[type] * 1e12;
}

double peak_rate(const struct peak *p, enum flops_class class, enum number_type type)
{
	if (class == CLASS_MATRIX)
		return peak_flops(p, type);
	return p->tflops[type == NUMBERS_F64 ? type : NUMBERS_F32] * 1e12;
}

struct roof peak_roof(const struct peak *p, enum flops_class class, const struct flops *f)
{
	double rate = peak_rate(p, class, f->type), memory = p->gbytes * 1e9;
	double bytes =
	        (double)(f->read > 0 ? f->read : 0) + (double)(f->written > 0 ? f->written : 0);

	return (struct roof){ rate > 0 ? (double)f->flops / rate : 0,
		memory > 0 ? bytes / memory : 0 };
}

struct peak peak_given(const char *name, double flops, double bytes)
{
	struct peak p = { .name = name, .gbytes = bytes / 1e9 };

	for (unsigned i = 0; i < NUMBER_TYPES; i++)
		p.tflops[i] = flops / 1e12;
	return p;
}
