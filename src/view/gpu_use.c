/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_use.h. The records of a spool.
 */
#include "view/gpu_use.h"

#include "base/num.h"
#include "io/block_decode.h"

#define NOTES_MAX   100  /* that are kept */
#define DEVICES_MAX 4096 /* numbers above count as this one */

const char *const gpu_ways[WAY_N] = { [WAY_HTOD] = "HtoD",
	[WAY_DTOH] = "DtoH",
	[WAY_DTOD] = "DtoD",
	[WAY_PTOP] = "PtoP",
	[WAY_HTOH] = "HtoH",
	[WAY_SET] = "Memset",
	[WAY_OTHER] = "other" };

/* CUpti_ActivityMemcpyKind: A is an array on the device. */
static const enum gpu_way way_of[] = { WAY_OTHER, WAY_HTOD, WAY_DTOH, WAY_HTOD, WAY_DTOH, WAY_DTOD,
	WAY_DTOD, WAY_DTOD, WAY_DTOD, WAY_HTOH, WAY_PTOP };

/* CUpti_ActivitySynchronizationType; in the third it is a stream that waits, and no host. */
static const char *const sync_names[GPU_SYNCS] = { "synchronisation", "event synchronize", NULL,
	"stream synchronize", "context synchronize" };

/* A call in which the host waits that may yet turn out to lie in another one: the driver's in the
 * runtime's. */
struct pending {
	uint64_t start, length;
	uint32_t name;
};

/* One spool being read. */
struct reading {
	struct gpu_use *u;
	struct arena *scratch;
	struct block_decoder *g;
	uint32_t process;
	VEC(uint32_t) parts;     /* by the number that the process gives a GPU: 1 + its part */
	VEC(uint32_t) kernel_of; /* by string id: 1 + the kernel */
	struct imap graphs;      /* number -> kernel */
	VEC(uint8_t) call_is;    /* by string id */
	struct imap threads;     /* -> pending */
	VEC(struct pending) pending;
};

static struct str text_of(struct spool_text t)
{
	return str_make(t.p, t.n);
}

static struct gpu_part *part_of(struct reading *r, uint32_t local)
{
	struct gpu_use *u = r->u;

	local = local < DEVICES_MAX ? local : DEVICES_MAX;
	while (r->parts.n <= local)
		VEC_PUSH(r->scratch, &r->parts, 0);
	if (!r->parts.v[local]) {
		struct gpu_part new = { .process = r->process, .local = local };
		VEC_PUSH(u->a, &u->parts, new);
		r->parts.v[local] = (uint32_t)u->parts.n;
	}
	return &u->parts.v[r->parts.v[local] - 1];
}

/* ---- durations by name ---- */

/* The index of what has that name; p is NULL where the name is lost. */
static uint32_t times_index(struct gpu_use *u, struct gpu_list *list, struct str name)
{
	uint32_t id = intern_add(&u->names, name.p ? name : S("(name lost)")), i;
	struct str bytes = intern_str(&u->names, id);

	if (imap_get(&list->at, id, &i))
		return i;
	i = (uint32_t)list->n;
	VEC_PUSH(u->a, list, ((struct gpu_times){ .name = bytes, .mangled = bytes }));
	imap_put(&list->at, id, i, false);
	return i;
}

static struct gpu_times *kernel_times(struct reading *r, uint32_t name)
{
	struct gpu_list *kernels = &r->u->kernels;
	struct str text = block_decode_string(r->g, name);

	if (!text.p) {
		uint32_t i = times_index(r->u, kernels, text);
		return &kernels->v[i];
	}
	while (r->kernel_of.n <= name)
		VEC_PUSH(r->scratch, &r->kernel_of, 0);
	if (!r->kernel_of.v[name])
		r->kernel_of.v[name] = 1 + times_index(r->u, kernels, text);
	return &kernels->v[r->kernel_of.v[name] - 1];
}

/* A graph whose kernels are not recorded one by one counts as a kernel. */
static struct gpu_times *graph_times(struct reading *r, uint32_t graph)
{
	struct gpu_list *kernels = &r->u->kernels;
	uint32_t i;

	if (!imap_get(&r->graphs, graph, &i)) {
		i = times_index(r->u, kernels, str_fmt(r->scratch, "(graph %u)", graph));
		imap_put(&r->graphs, graph, i, false);
	}
	return &kernels->v[i];
}

/* ---- operations ---- */

static void take_span(struct reading *r, struct gpu_part *p, enum gpu_class class, uint64_t start,
        uint64_t length)
{
	spans_add(&p->spans, r->u->a, r->scratch, (struct span){ start, length, class });
}

/* Counts what was launched. NULL if its times are not known. */
static struct gpu_part *take_launch(struct reading *r, uint32_t device, uint64_t start)
{
	struct gpu_part *p = part_of(r, device);

	p->kernels = num_add_u64(p->kernels, 1);
	r->u->untimed += !start;
	return start ? p : NULL;
}

static void take_kernel(struct reading *r, const struct spool_kernel *k)
{
	struct gpu_part *p = take_launch(r, k->at.device, k->start);

	if (!p)
		return;
	hist_add(&kernel_times(r, k->name)->h, r->u->a, num_from_u64(k->length));
	take_span(r, p, GPU_KERNEL, k->start, k->length);
}

static void take_graph(struct reading *r, const struct spool_graph *g)
{
	struct gpu_part *p = take_launch(r, g->at.device, g->start);

	if (!p)
		return;
	hist_add(&graph_times(r, g->graph)->h, r->u->a, num_from_u64(g->length));
	take_span(r, p, GPU_KERNEL, g->start, g->length);
}

static void take_copy(struct reading *r, enum gpu_way way, const struct spool_where *at,
        uint64_t start, uint64_t length, uint64_t bytes)
{
	struct gpu_part *p = part_of(r, at->device);
	struct gpu_copies *c = &p->ways[way];

	c->count = num_add_u64(c->count, 1);
	c->bytes = num_add(c->bytes, num_from_u64(bytes));
	if (!start) {
		r->u->untimed++;
		return;
	}
	c->ns = num_add(c->ns, num_from_u64(length));
	if (way != WAY_HTOH)
		take_span(r, p, way == WAY_SET ? GPU_SET : GPU_COPY, start, length);
}

static enum gpu_way way(const struct spool_copy *c)
{
	return c->kind < sizeof way_of / sizeof *way_of ? way_of[c->kind] : WAY_OTHER;
}

static void take_sum_of_copies(struct gpu_part *p, enum gpu_way way, const struct spool_sum *s)
{
	struct gpu_copies *c = &p->ways[way];

	c->count = num_add_u64(c->count, s->count);
	c->bytes = num_add(c->bytes, num_from_u64(s->bytes));
	c->ns = num_add(c->ns, num_from_u64(s->sum));
}

static void take_sum(struct reading *r, const struct spool_sum *s)
{
	struct str name = block_decode_string(r->g, s->name);
	struct gpu_use *u = r->u;

	if (s->what == SPOOL_API)
		return;
	struct gpu_part *p = part_of(r, s->device);
	u->summed = num_add_u64(u->summed, s->count);
	if (s->what == SPOOL_SET) {
		take_sum_of_copies(p, WAY_SET, s);
		return;
	}
	if (s->what == SPOOL_COPY) {
		enum gpu_way w = 0;
		while (w < WAY_OTHER && !str_ends(name, str_of(gpu_ways[w])))
			w++;
		take_sum_of_copies(p, w, s);
		return;
	}
	struct gpu_times *t = kernel_times(r, s->name);
	int64_t min = num_from_u64(s->min), max = num_from_u64(s->max);
	p->kernels = num_add_u64(p->kernels, s->count);
	t->summed_min = t->summed && t->summed_min < min ? t->summed_min : min;
	t->summed_max = t->summed_max > max ? t->summed_max : max;
	t->summed = num_add_u64(t->summed, s->count);
	t->summed_ns = num_add(t->summed_ns, num_from_u64(s->sum));
}

/* ---- waiting ---- */

enum { CALL_NEW, CALL_WAITS, CALL_OTHER }; /* what is known of a name */

/* Does the host wait in a call of this name? */
static bool says_wait(struct str name)
{
	if (str_contains(name, S("Synchronize")))
		return true;
	return (str_contains(name, S("Memcpy")) || str_contains(name, S("Memset"))) &&
	       !str_contains(name, S("Async")) && !str_contains(name, S("Graph"));
}

static bool is_wait(struct reading *r, uint32_t name)
{
	struct str text = block_decode_string(r->g, name);

	if (!text.p)
		return false;
	while (r->call_is.n <= name)
		VEC_PUSH(r->scratch, &r->call_is, CALL_NEW);
	if (r->call_is.v[name] == CALL_NEW)
		r->call_is.v[name] = says_wait(text) ? CALL_WAITS : CALL_OTHER;
	return r->call_is.v[name] == CALL_WAITS;
}

static void count_wait(struct reading *r, const struct pending *p)
{
	struct gpu_use *u = r->u;
	uint32_t i = times_index(u, &u->waits, block_decode_string(r->g, p->name));

	hist_add(&u->waits.v[i].h, u->a, num_from_u64(p->length));
}

static void take_call(struct reading *r, const struct spool_api *c)
{
	struct pending now = { c->start, c->length, c->name };
	uint32_t i;

	if (!is_wait(r, c->name))
		return;
	if (!imap_get(&r->threads, c->tid, &i)) {
		imap_put(&r->threads, c->tid, (uint32_t)r->pending.n, false);
		VEC_PUSH(r->scratch, &r->pending, now);
		return;
	}
	struct pending *p = &r->pending.v[i];
	bool inside = p->start >= now.start && p->start - now.start <= now.length &&
	              p->length <= now.length - (p->start - now.start);
	if (!inside)
		count_wait(r, p);
	*p = now;
}

static void take_sync(struct gpu_use *u, const struct spool_sync *s)
{
	unsigned type = s->type < GPU_SYNCS ? s->type : 0;

	if (!sync_names[type])
		return;
	u->syncs[type].name = str_of(sync_names[type]);
	hist_add(&u->syncs[type].h, u->a, num_from_u64(s->length));
}

/* ---- facts ---- */

static void take_device(struct reading *r, const struct spool_device *d)
{
	static const uint8_t none[16];
	struct gpu_part *p = part_of(r, d->id);
	bool mig = memcmp(d->mig_uuid, none, 16) != 0;

	memcpy(p->uuid, mig ? d->mig_uuid : d->uuid, 16);
	p->known = memcmp(p->uuid, none, 16) != 0;
	p->name = str_copy(r->u->a, block_decode_string(r->g, d->name));
}

static void take_note(struct gpu_use *u, struct str text)
{
	for (size_t i = 0; i < u->notes.n; i++)
		if (str_eq(u->notes.v[i], text))
			return;
	if (u->notes.n < NOTES_MAX)
		strs_add(u->a, &u->notes, str_copy(u->a, text));
}

static void take(struct reading *r, const struct spool_record *x)
{
	struct gpu_use *u = r->u;

	u->processes.v[r->process].ended = x->kind == SPOOL_END;
	switch (x->kind) {
	case SPOOL_KERNEL: take_kernel(r, &x->kernel); break;
	case SPOOL_API: take_call(r, &x->api); break;
	case SPOOL_COPY:
		take_copy(r, way(&x->copy), &x->copy.at, x->copy.start, x->copy.length,
		        x->copy.bytes);
		break;
	case SPOOL_SET:
		take_copy(r, WAY_SET, &x->set.at, x->set.start, x->set.length, x->set.bytes);
		break;
	case SPOOL_GRAPH: take_graph(r, &x->graph); break;
	case SPOOL_SYNC: take_sync(u, &x->sync); break;
	case SPOOL_SUM: take_sum(r, &x->sum); break;
	case SPOOL_INFO:
		process_identity_take(&u->processes.v[r->process].who, u->a, &x->info);
		break;
	case SPOOL_DEVICE: take_device(r, &x->device); break;
	case SPOOL_LOST:
		if (x->lost.why < SPOOL_LOST_WHY_N)
			u->lost[x->lost.why] = num_add_u64(u->lost[x->lost.why], x->lost.count);
		break;
	case SPOOL_GAP:
		u->gaps++;
		if (x->gap.to > x->gap.from)
			u->gap_ns = num_add(u->gap_ns, num_from_u64(x->gap.to - x->gap.from));
		take_note(u, block_decode_string(r->g, x->gap.why));
		break;
	case SPOOL_NOTE: take_note(u, text_of(x->note.text)); break;
	default: break;
	}
}

/* ---- a spool ---- */

void gpu_use_init(struct gpu_use *u, struct arena *a)
{
	*u = (struct gpu_use){ .a = a };
	intern_init(&u->names, a);
	imap_init(&u->kernels.at, a);
	imap_init(&u->waits.at, a);
}

static bool read_spool(struct reading *r, struct src *s, struct err *e)
{
	struct spool_damage damage;
	struct spool_record x;
	enum spool_event event;

	r->g = ARENA_NEW(r->scratch, struct block_decoder);
	imap_init(&r->threads, r->scratch);
	imap_init(&r->graphs, r->scratch);
	block_decode_init(r->g, s, r->scratch, e);
	while ((event = block_decode(r->g, &x, &damage)) < SPOOL_EVENT_END) {
		spool_fault_take(&r->u->processes.v[r->process].fault, event, &x, &damage);
		if (event == SPOOL_EVENT_RECORD)
			take(r, &x);
		else if (!damage.cut)
			r->u->damaged += damage.skipped;
	}
	for (size_t i = 0; i < r->pending.n; i++)
		count_wait(r, &r->pending.v[i]);
	for (size_t i = 0; i < r->parts.n; i++)
		if (r->parts.v[i])
			spans_end(&r->u->parts.v[r->parts.v[i] - 1].spans, r->u->a);
	return event == SPOOL_EVENT_END;
}

bool gpu_use_add(struct gpu_use *u, struct str path, struct err *e)
{
	struct gpu_process process = { .file = path };
	struct scratch scratch;
	struct src *s;

	process_identity_init(&process.who);
	scratch_open(&scratch, u->a->work);
	struct reading r = { .u = u, .scratch = &scratch.a, .process = (uint32_t)u->processes.n };
	bool ok = src_open_file(&s, &scratch.a, path, e);
	if (ok) {
		VEC_PUSH(u->a, &u->processes, process);
		ok = read_spool(&r, s, e);
		src_close(s);
	}
	scratch_close(&scratch);
	return ok;
}
