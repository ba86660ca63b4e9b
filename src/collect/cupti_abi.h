/* SPDX-License-Identifier: Apache-2.0
 *
 * What the collector knows of CUPTI: the fields it reads of each record, at the places where every
 * CUPTI from 11 on has them, the numbers it passes, and the functions it calls. Records only ever
 * grow at their end, so these prefixes fit any version; sizes are CUPTI's own business
 * (cuptiActivityGetNextRecord). No CUDA header is needed; where there are some,
 * tools/probe/cupti_layout.c holds each offset against them.
 */
#ifndef TFPROF_COLLECT_CUPTI_ABI_H
#define TFPROF_COLLECT_CUPTI_ABI_H

#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_E_INVALID_PARAMETER = 1,
	CUPTI_E_MAX_LIMIT_REACHED = 12,
	CUPTI_E_NOT_INITIALIZED = 15,
	CUPTI_E_MULTIPLE_SUBSCRIBERS = 39,
};

/* Versions as cuptiGetVersion tells them: small numbers up to 12.9, then xxyyzz. */
enum {
	CUPTI_API_11_0 = 13,
	CUPTI_API_11_1 = 14,
	CUPTI_API_11_8 = 18,
	CUPTI_API_12_9 = 27,
	CUPTI_API_13_2 = 130200,
};

enum {
	ACT_MEMCPY = 1,
	ACT_MEMSET = 2,
	ACT_DRIVER = 4,
	ACT_RUNTIME = 5,
	ACT_DEVICE = 8,
	ACT_CONTEXT = 9,
	ACT_KERNEL = 10, /* the concurrent kind: the other one serialises */
	ACT_OVERHEAD = 17,
	ACT_MEMCPY_PEER = 22,
	ACT_STREAM = 37,
	ACT_SYNC = 38,
	ACT_MEMORY = 49,
	ACT_GRAPH = 51,
	ACT_KINDS = 64,
};

enum { CUPTI_ATTR_ZEROED_OUT = 5, CUPTI_THREAD_ID_SYSTEM = 1, CUPTI_FLUSH_FORCED = 1 };

enum { CB_DRIVER = 1, CB_RUNTIME = 2, CB_RESOURCE = 3, CB_STATE = 6 };
enum { CB_RESOURCE_MODULE_UNLOAD = 7, CB_STATE_FATAL = 1, CB_STATE_ERROR = 2 };
enum { CB_ENTER = 0, CB_EXIT = 1 };

/* Callbacks that come before records would be lost: contexts about to be destroyed or reset. */
enum {
	CBID_CTX_DESTROY = 11,
	CBID_CTX_DESTROY_V2 = 322,
	CBID_PRIMARY_RELEASE = 387,
	CBID_PRIMARY_RELEASE_V2 = 544,
	CBID_PRIMARY_RESET = 389,
	CBID_PRIMARY_RESET_V2 = 545,
	CBID_DEVICE_RESET = 164, /* of the runtime */
};

enum { COPY_PTOP = 10, MEMORY_OP_ALLOC = 1, MEMORY_OP_FREE = 2 };

#define REC_PACKED __attribute__((packed, aligned(8)))

struct rec_kernel {
	uint32_t kind;
	uint16_t cache_config;
	uint16_t registers;
	uint32_t partitioned[2];
	uint64_t start; /* 16 */
	uint64_t end;
	uint64_t completed;
	uint32_t device; /* 40 */
	uint32_t context;
	uint32_t stream;
	int32_t grid[3];  /* 52 */
	int32_t block[3]; /* 64 */
	int32_t static_shared;
	int32_t dynamic_shared;
	uint32_t local_per_thread; /* 84 */
	uint32_t local_total;
	uint32_t correlation; /* 92 */
	int64_t grid_id;
	const char *name; /* 104 */
	void *reserved;
	uint64_t queued; /* 120 */
	uint64_t submitted;
	uint8_t launch_type; /* 136 */
	uint8_t carveout[3];
	uint32_t shared_executed;
	uint64_t graph_node; /* 144 */
	uint32_t shared_limit;
	uint32_t graph; /* 156 */
} REC_PACKED;

struct rec_memcpy {
	uint32_t kind;
	uint8_t copy_kind; /* 4 */
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes; /* 8 */
	uint64_t start;
	uint64_t end;
	uint32_t device; /* 32 */
	uint32_t context;
	uint32_t stream;
	uint32_t correlation; /* 44 */
	uint32_t runtime_correlation;
	uint32_t pad;
	void *reserved;
	uint64_t graph_node; /* 64 */
	uint32_t graph;      /* 72, from here on since 11.1 */
} REC_PACKED;

struct rec_memcpy_peer {
	uint32_t kind;
	uint8_t copy_kind; /* 4 */
	uint8_t src_kind;
	uint8_t dst_kind;
	uint8_t flags;
	uint64_t bytes; /* 8 */
	uint64_t start;
	uint64_t end;
	uint32_t device; /* 32 */
	uint32_t context;
	uint32_t stream;
	uint32_t src_device; /* 44 */
	uint32_t src_context;
	uint32_t dst_device; /* 52 */
	uint32_t dst_context;
	uint32_t correlation; /* 60 */
	void *reserved;
	uint64_t graph_node; /* 72 */
	uint32_t graph;      /* 80, from here on since 11.1 */
} REC_PACKED;

struct rec_memset {
	uint32_t kind;
	uint32_t value;
	uint64_t bytes; /* 8 */
	uint64_t start;
	uint64_t end;
	uint32_t device; /* 32 */
	uint32_t context;
	uint32_t stream;
	uint32_t correlation; /* 44 */
	uint16_t flags;
	uint16_t memory_kind; /* 50 */
	uint32_t pad;
	void *reserved;
	uint64_t graph_node; /* 64 */
	uint32_t graph;      /* 72, from here on since 11.1 */
} REC_PACKED;

struct rec_memory {
	uint32_t kind;
	uint32_t operation; /* 4 */
	uint32_t memory_kind;
	uint32_t correlation; /* 12 */
	uint64_t address;
	uint64_t bytes; /* 24 */
	uint64_t time;
	uint64_t pc;
	uint32_t process; /* 48 */
	uint32_t device;
	uint32_t context;
	uint32_t stream; /* 60 */
	const char *name;
} REC_PACKED;

struct rec_api {
	uint32_t kind;
	uint32_t cbid; /* 4 */
	uint64_t start;
	uint64_t end;
	uint32_t process; /* 24 */
	uint32_t thread;
	uint32_t correlation; /* 32 */
	uint32_t status;
} REC_PACKED;

struct rec_graph {
	uint32_t kind;
	uint32_t correlation; /* 4 */
	uint64_t start;
	uint64_t end;
	uint32_t device; /* 24 */
	uint32_t graph;
	uint32_t context; /* 32 */
	uint32_t stream;
	void *reserved;
} REC_PACKED;

struct rec_sync {
	uint32_t kind;
	uint32_t type; /* 4 */
	uint64_t start;
	uint64_t end;
	uint32_t correlation; /* 24 */
	uint32_t context;
	uint32_t stream; /* 32 */
	uint32_t event;
} REC_PACKED;

/* Alike in all three generations. */
struct rec_overhead {
	uint32_t kind;
	uint32_t overhead_kind; /* 4 */
	uint32_t object_kind;   /* 8 */
	uint32_t object[3];     /* 12: process and thread, or device, context and stream */
	uint64_t start;         /* 24 */
	uint64_t end;
} REC_PACKED;

enum { OBJECT_THREAD = 2 };

struct rec_context {
	uint32_t kind;
	uint32_t context; /* 4 */
	uint32_t device;
	uint16_t api; /* 12 */
	uint16_t null_stream;
} REC_PACKED;

struct rec_device {
	uint32_t kind;
	uint32_t flags;
	uint64_t bandwidth;
	uint64_t memory_size; /* 16 */
	uint32_t constant_size;
	uint32_t l2_size;
	uint32_t warp;
	uint32_t clock;
	uint32_t engines;
	uint32_t multiprocessors; /* 44 */
	uint32_t limits[14];
	uint32_t capability_major; /* 104 */
	uint32_t capability_minor;
	uint32_t id; /* 112 */
	uint32_t ecc;
	uint8_t uuid[16];     /* 120 */
	const char *name;     /* 136 */
	uint8_t cuda_visible; /* 144, from here on known since 11.8 */
	uint8_t mig;
	uint8_t reserved[6];
	uint32_t gpu_instance;
	uint32_t compute_instance;
	uint8_t mig_uuid[16]; /* 160 */
} REC_PACKED;

union rec {
	uint32_t kind;
	struct rec_kernel kernel;
	struct rec_memcpy copy;
	struct rec_memcpy_peer peer;
	struct rec_memset set;
	struct rec_memory memory;
	struct rec_api api;
	struct rec_graph graph;
	struct rec_sync sync;
	struct rec_overhead overhead;
	struct rec_context context;
	struct rec_device device;
};

/* What a callback of an API function is told; later fields are not read. */
struct cb_data {
	uint32_t site; /* CB_ENTER, CB_EXIT */
	const char *function;
};

struct subscriber_params {
	size_t size;
	const char *name;
	char *holder; /* out: who has the slot, if it is taken */
	size_t holder_size;
	uint8_t allow_more;
	uint8_t pad[7];
};
/* As in the version that first had the function: that much every later one accepts. */
#define SUBSCRIBER_PARAMS_SIZE offsetof(struct subscriber_params, allow_more)
#define SUBSCRIBER_HOLDER_SIZE 64

typedef void cupti_requested(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_completed(
        void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
typedef void cupti_callback(void *user, uint32_t domain, uint32_t cbid, const void *data);

/* Name without "cupti", whether a session can do without it, and its arguments. */
#define CUPTI_FUNCTIONS(F)                                                                         \
	F(GetVersion, 0, (uint32_t *))                                                             \
	F(Subscribe, 0, (void **, cupti_callback *, void *))                                       \
	F(Unsubscribe, 0, (void *))                                                                \
	F(ActivityRegisterCallbacks, 0, (cupti_requested *, cupti_completed *))                    \
	F(ActivityEnable, 0, (uint32_t))                                                           \
	F(ActivityDisable, 0, (uint32_t))                                                          \
	F(ActivityFlushAll, 0, (uint32_t))                                                         \
	F(ActivityGetNextRecord, 0, (uint8_t *, size_t, union rec **))                             \
	F(Subscribe_v2, 1, (void **, cupti_callback *, void *, struct subscriber_params *))        \
	F(EnableCallback, 1, (uint32_t, void *, uint32_t, uint32_t))                               \
	F(ActivityGetNumDroppedRecords, 1, (void *, uint32_t, size_t *))                           \
	F(ActivityEnableAndDump, 1, (uint32_t))                                                    \
	F(ActivitySetAttribute, 1, (uint32_t, size_t *, void *))                                   \
	F(ActivityEnableRuntimeApi, 1, (uint32_t, uint8_t))                                        \
	F(ActivityEnableDriverApi, 1, (uint32_t, uint8_t))                                         \
	F(SetThreadIdType, 1, (uint32_t))                                                          \
	F(GetTimestamp, 1, (uint64_t *))                                                           \
	F(GetCallbackName, 1, (uint32_t, uint32_t, const char **))                                 \
	F(GetResultString, 1, (uint32_t, const char **))                                           \
	F(Finalize, 1, (void))

#endif
