/* SPDX-License-Identifier: Apache-2.0
 *
 * The binary interface of CUPTI: the fields read from each record, at offsets common to all CUPTI
 * versions from 11 on, the constants passed, and the functions called. Records only grow at their
 * end, so these prefixes fit any version; CUPTI itself handles sizes (cuptiActivityGetNextRecord).
 * No CUDA header is needed; if the headers are installed, tools/probe/cupti_layout.c checks each
 * offset.
 */
#ifndef TFPROF_COLLECT_CUPTI_ABI_H
#define TFPROF_COLLECT_CUPTI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CUPTI_OK = 0,
	CUPTI_E_INVALID_PARAMETER = 1,
	CUPTI_E_MAX_LIMIT_REACHED = 12,
	CUPTI_E_NOT_INITIALIZED = 15,
	CUPTI_E_INVALID_KIND = 21,
	CUPTI_E_MULTIPLE_SUBSCRIBERS = 39,
};

/* Versions as returned by cuptiGetVersion: small numbers up to 12.9, then xxyyzz. */
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
	ACT_KERNEL = 10, /* the concurrent kind, because the other kind serialises kernels */
	ACT_OVERHEAD = 17,
	ACT_MEMCPY_PEER = 22,
	ACT_STREAM = 37,
	ACT_SYNC = 38,
	ACT_MEMORY = 49,
	ACT_GRAPH = 51,
	ACT_KINDS = 64,
};

enum {
	CUPTI_ATTR_ZEROED_OUT = 5,
	CUPTI_ATTR_WHOLE_GRAPHS = 20, /* exists if several subscribers are supported */
	CUPTI_ATTR_THREAD_ID = 21,
};
enum { CUPTI_THREAD_ID_SYSTEM = 1, CUPTI_FLUSH_FORCED = 1 };

enum { CB_DRIVER = 1, CB_RUNTIME = 2, CB_RESOURCE = 3, CB_STATE = 6 };
enum { CB_RESOURCE_MODULE_UNLOAD = 7, CB_STATE_FATAL = 1, CB_STATE_ERROR = 2 };
enum { CB_ENTER = 0, CB_EXIT = 1 };

/* Callbacks after which records would be lost: contexts about to be destroyed or reset. */
enum {
	CBID_CTX_DESTROY = 11,
	CBID_CTX_DESTROY_V2 = 322,
	CBID_PRIMARY_RELEASE = 387,
	CBID_PRIMARY_RELEASE_V2 = 544,
	CBID_PRIMARY_RESET = 389,
	CBID_PRIMARY_RESET_V2 = 545,
	CBID_DEVICE_RESET = 164, /* function of the runtime API */
};

/* Id of cuDriverGetVersion, which may be called at any time. */
enum { CBID_DRIVER_VERSION = 2 };

enum { COPY_PTOP = 10, MEMORY_OP_ALLOC = 1, MEMORY_OP_FREE = 2 };

/* All fields that are read: F(T, type, name, offset, name in CUPTI's own struct T). Structs and the
 * probe are generated from these rows. */
#define REC_KERNEL(F, T)                                                                           \
	F(T, uint16_t, registers, 6, registersPerThread)                                           \
	F(T, uint64_t, start, 16, start)                                                           \
	F(T, uint64_t, end, 24, end)                                                               \
	F(T, uint32_t, device, 40, deviceId)                                                       \
	F(T, uint32_t, context, 44, contextId)                                                     \
	F(T, uint32_t, stream, 48, streamId)                                                       \
	F(T, int32_t, grid_x, 52, gridX)                                                           \
	F(T, int32_t, grid_y, 56, gridY)                                                           \
	F(T, int32_t, grid_z, 60, gridZ)                                                           \
	F(T, int32_t, block_x, 64, blockX)                                                         \
	F(T, int32_t, block_y, 68, blockY)                                                         \
	F(T, int32_t, block_z, 72, blockZ)                                                         \
	F(T, int32_t, static_shared, 76, staticSharedMemory)                                       \
	F(T, int32_t, dynamic_shared, 80, dynamicSharedMemory)                                     \
	F(T, uint32_t, correlation, 92, correlationId)                                             \
	F(T, const char *, name, 104, name)
#define REC_KERNEL_GRAPH(F, T)                                                                     \
	F(T, uint64_t, graph_node, 144, graphNodeId)                                               \
	F(T, uint32_t, graph, 156, graphId)

/* Common prefix of both kinds of copies; the graph fields of copies and sets exist since 11.1. */
#define REC_COPY(F, T)                                                                             \
	F(T, uint8_t, copy_kind, 4, copyKind)                                                      \
	F(T, uint8_t, src_kind, 5, srcKind)                                                        \
	F(T, uint8_t, dst_kind, 6, dstKind)                                                        \
	F(T, uint8_t, flags, 7, flags)                                                             \
	F(T, uint64_t, bytes, 8, bytes)                                                            \
	F(T, uint64_t, start, 16, start)                                                           \
	F(T, uint64_t, end, 24, end)                                                               \
	F(T, uint32_t, device, 32, deviceId)                                                       \
	F(T, uint32_t, context, 36, contextId)                                                     \
	F(T, uint32_t, stream, 40, streamId)
#define REC_MEMCPY(F, T)                                                                           \
	REC_COPY(F, T)                                                                             \
	F(T, uint32_t, correlation, 44, correlationId)                                             \
	F(T, uint64_t, graph_node, 64, graphNodeId)                                                \
	F(T, uint32_t, graph, 72, graphId)
#define REC_MEMCPY_PEER(F, T)                                                                      \
	REC_COPY(F, T)                                                                             \
	F(T, uint32_t, src_device, 44, srcDeviceId)                                                \
	F(T, uint32_t, dst_device, 52, dstDeviceId)                                                \
	F(T, uint32_t, correlation, 60, correlationId)                                             \
	F(T, uint64_t, graph_node, 72, graphNodeId)                                                \
	F(T, uint32_t, graph, 80, graphId)

#define REC_MEMSET(F, T)                                                                           \
	F(T, uint64_t, bytes, 8, bytes)                                                            \
	F(T, uint64_t, start, 16, start)                                                           \
	F(T, uint64_t, end, 24, end)                                                               \
	F(T, uint32_t, device, 32, deviceId)                                                       \
	F(T, uint32_t, context, 36, contextId)                                                     \
	F(T, uint32_t, stream, 40, streamId)                                                       \
	F(T, uint32_t, correlation, 44, correlationId)                                             \
	F(T, uint16_t, memory_kind, 50, memoryKind)                                                \
	F(T, uint64_t, graph_node, 64, graphNodeId)                                                \
	F(T, uint32_t, graph, 72, graphId)

#define REC_MEMORY(F, T)                                                                           \
	F(T, uint32_t, operation, 4, memoryOperationType)                                          \
	F(T, uint32_t, memory_kind, 8, memoryKind)                                                 \
	F(T, uint32_t, correlation, 12, correlationId)                                             \
	F(T, uint64_t, address, 16, address)                                                       \
	F(T, uint64_t, bytes, 24, bytes)                                                           \
	F(T, uint64_t, time, 32, timestamp)                                                        \
	F(T, uint32_t, device, 52, deviceId)                                                       \
	F(T, uint32_t, context, 56, contextId)                                                     \
	F(T, uint32_t, stream, 60, streamId)                                                       \
	F(T, const char *, name, 64, name)

#define REC_API(F, T)                                                                              \
	F(T, uint32_t, cbid, 4, cbid)                                                              \
	F(T, uint64_t, start, 8, start)                                                            \
	F(T, uint64_t, end, 16, end)                                                               \
	F(T, uint32_t, thread, 28, threadId)                                                       \
	F(T, uint32_t, correlation, 32, correlationId)                                             \
	F(T, uint32_t, status, 36, returnValue)

#define REC_GRAPH(F, T)                                                                            \
	F(T, uint32_t, correlation, 4, correlationId)                                              \
	F(T, uint64_t, start, 8, start)                                                            \
	F(T, uint64_t, end, 16, end)                                                               \
	F(T, uint32_t, device, 24, deviceId)                                                       \
	F(T, uint32_t, graph, 28, graphId)                                                         \
	F(T, uint32_t, context, 32, contextId)                                                     \
	F(T, uint32_t, stream, 36, streamId)

#define REC_SYNC(F, T)                                                                             \
	F(T, uint32_t, type, 4, type)                                                              \
	F(T, uint64_t, start, 8, start)                                                            \
	F(T, uint64_t, end, 16, end)                                                               \
	F(T, uint32_t, correlation, 24, correlationId)                                             \
	F(T, uint32_t, context, 28, contextId)                                                     \
	F(T, uint32_t, stream, 32, streamId)                                                       \
	F(T, uint32_t, event, 36, cudaEventId)

/* The object is process and thread, or device, context and stream. */
#define REC_OVERHEAD(F, T)                                                                         \
	F(T, uint32_t, overhead_kind, 4, overheadKind)                                             \
	F(T, uint32_t, object_kind, 8, objectKind)                                                 \
	F(T, uint32_t[3], object, 12, objectId)                                                    \
	F(T, uint64_t, start, 24, start)                                                           \
	F(T, uint64_t, end, 32, end)

#define REC_CONTEXT(F, T)                                                                          \
	F(T, uint32_t, context, 4, contextId)                                                      \
	F(T, uint32_t, device, 8, deviceId)

#define REC_DEVICE(F, T)                                                                           \
	F(T, uint64_t, memory_size, 16, globalMemorySize)                                          \
	F(T, uint32_t, multiprocessors, 44, numMultiprocessors)                                    \
	F(T, uint32_t, capability_major, 104, computeCapabilityMajor)                              \
	F(T, uint32_t, capability_minor, 108, computeCapabilityMinor)                              \
	F(T, uint32_t, id, 112, id)                                                                \
	F(T, uint8_t[16], uuid, 120, uuid)                                                         \
	F(T, const char *, name, 136, name)
/* Fields that exist since 11.8. */
#define REC_DEVICE_PART(F, T)                                                                      \
	F(T, uint8_t, mig, 145, isMigEnabled)                                                      \
	F(T, uint8_t[16], mig_uuid, 160, migUuid)

/* Declares a field at an offset. */
#define REC_FIELD(T, type, name, at, theirs)                                                       \
	struct {                                                                                   \
		uint8_t before_##name[at];                                                         \
		__typeof__(type)(name);                                                            \
	} __attribute__((packed));
#define REC(rec, rows)                                                                             \
	struct rec {                                                                               \
		union {                                                                            \
			uint32_t kind;                                                             \
			rows                                                                       \
		};                                                                                 \
	} __attribute__((aligned(8)))

REC(rec_kernel, REC_KERNEL(REC_FIELD, ) REC_KERNEL_GRAPH(REC_FIELD, ));
REC(rec_memcpy, REC_MEMCPY(REC_FIELD, ));
REC(rec_memcpy_peer, REC_MEMCPY_PEER(REC_FIELD, ));
REC(rec_memset, REC_MEMSET(REC_FIELD, ));
REC(rec_memory, REC_MEMORY(REC_FIELD, ));
REC(rec_api, REC_API(REC_FIELD, ));
REC(rec_graph, REC_GRAPH(REC_FIELD, ));
REC(rec_sync, REC_SYNC(REC_FIELD, ));
REC(rec_overhead, REC_OVERHEAD(REC_FIELD, ));
REC(rec_context, REC_CONTEXT(REC_FIELD, ));
REC(rec_device, REC_DEVICE(REC_FIELD, ) REC_DEVICE_PART(REC_FIELD, ));

enum { OBJECT_THREAD = 2 };

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

/* Arguments of a callback for an API function; later fields are not read. */
struct cb_data {
	uint32_t site; /* CB_ENTER, CB_EXIT */
	const char *function;
	const void *params;     /* the function's arguments, as a struct */
	const uint32_t *result; /* at CB_EXIT: the returned value */
};

/* Positions of the stream in the arguments of driver functions. */
struct launch_params {
	uint8_t before[40];
	void *stream;
};
struct launch_ex_params {
	const struct {
		uint8_t before[32];
		void *stream;
	} * config;
};
#define CUPTI_STREAM_PER_THREAD ((void *)2) /* written as NULL in functions named *_ptsz */

/* Arguments of a state callback. */
struct cb_state {
	uint32_t result;
	const char *message; /* may be NULL */
};

struct subscriber_params {
	size_t size;
	const char *name;
	char *holder; /* out: name of the current subscriber, if any */
	size_t holder_size;
	uint8_t allow_more; /* since 13.2; 1: other subscribers are permitted */
	uint8_t pad[7];
};
/* The size in the version that introduced the function; later versions accept it. */
#define SUBSCRIBER_PARAMS_SIZE offsetof(struct subscriber_params, allow_more)
#define SUBSCRIBER_HOLDER_SIZE 64

typedef void cupti_requested(uint8_t **buffer, size_t *size, size_t *most_records);
typedef void cupti_completed(
        void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);
/* Callbacks for cuptiActivityRegisterCallbacks_v2. */
typedef void cupti_requested_v2(
        uint8_t **buffer, size_t *size, size_t *most_records, const void *info);
typedef void cupti_completed_v2(uint8_t *buffer, size_t size, size_t valid, const void *info);
typedef void cupti_callback(void *user, uint32_t domain, uint32_t cbid, const void *data);

/* For each function: name without "cupti", whether it is optional, and its arguments. */
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
	F(ActivityGetEnabledKinds, 1, (void *, uint32_t *, uint32_t *, uint32_t *))                \
	F(Finalize, 1, (void))                                                                     \
	F(ActivityGetAttribute_v2, 1, (void *, uint32_t, size_t *, void *))                        \
	CUPTI_FUNCTIONS_V2(F)

/* Functions for one of several subscribers, since 13.3. The second argument of Enable and Disable
 * configures fields; NULL: all fields. */
#define CUPTI_FUNCTIONS_V2(F)                                                                      \
	F(ActivityRegisterCallbacks_v2, 1, (void *, cupti_requested_v2 *, cupti_completed_v2 *))   \
	F(ActivityEnable_v2, 1, (void *, uint32_t, void *))                                        \
	F(ActivityDisable_v2, 1, (void *, uint32_t, void *))                                       \
	F(ActivityEnableAndDump_v2, 1, (void *, uint32_t, void *))                                 \
	F(ActivityGetNextRecord_v2, 1, (void *, uint8_t *, size_t, union rec **))                  \
	F(ActivityGetNumDroppedRecords_v2, 1, (void *, void *, uint32_t, size_t *))                \
	F(ActivitySetAttribute_v2, 1, (void *, uint32_t, size_t *, void *))                        \
	F(ActivityEnableRuntimeApi_v2, 1, (void *, uint32_t, uint8_t))                             \
	F(ActivityEnableDriverApi_v2, 1, (void *, uint32_t, uint8_t))                              \
	F(GetTimestamp_v2, 1, (void *, uint64_t *))

/* ---- cupti open ----
 *
 * Finds libcupti and its functions at run time.
 */

/* The functions of libcupti; NULL if the library lacks the function. */
struct cupti {
/* NOLINTBEGIN(bugprone-macro-parentheses): args are the parentheses of a prototype */
#define CUPTI_MEMBER(name, optional, args) uint32_t(*name) args;
	CUPTI_FUNCTIONS(CUPTI_MEMBER)
#undef CUPTI_MEMBER
	/* NOLINTEND(bugprone-macro-parentheses) */
	uint32_t version; /* version of CUPTI; 0: unknown */
	int driver;       /* 12040 for CUDA 12.4; 0: unknown */
};

/* Opens the libcupti that the process has already loaded, otherwise one that matches the driver. On
 * failure, why names the missing library or function. */
bool cupti_open(struct cupti *, char *why, size_t n);

/* Returns the path of libcupti; "" if unknown. */
const char *cupti_path(void);

#endif
