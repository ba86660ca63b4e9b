/* SPDX-License-Identifier: Apache-2.0
 *
 * Holds src/collect/cupti_abi.h against CUPTI's own headers, where they are found: compiled, never
 * run.
 */
#include <cupti.h>

#include "collect/cupti_abi.h"

#define SAME(ours, field, theirs, member)                                                          \
	_Static_assert(                                                                            \
	        offsetof(struct ours, field) == offsetof(theirs, member), #ours "." #field);       \
	_Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->member),         \
	        "size of " #ours "." #field)
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

#define KERNEL(T)                                                                                  \
	SAME(rec_kernel, registers, T, registersPerThread);                                        \
	SAME(rec_kernel, start, T, start);                                                         \
	SAME(rec_kernel, end, T, end);                                                             \
	SAME(rec_kernel, device, T, deviceId);                                                     \
	SAME(rec_kernel, context, T, contextId);                                                   \
	SAME(rec_kernel, stream, T, streamId);                                                     \
	SAME(rec_kernel, grid[0], T, gridX);                                                       \
	SAME(rec_kernel, grid[2], T, gridZ);                                                       \
	SAME(rec_kernel, block[0], T, blockX);                                                     \
	SAME(rec_kernel, block[2], T, blockZ);                                                     \
	SAME(rec_kernel, static_shared, T, staticSharedMemory);                                    \
	SAME(rec_kernel, dynamic_shared, T, dynamicSharedMemory);                                  \
	SAME(rec_kernel, local_per_thread, T, localMemoryPerThread);                               \
	SAME(rec_kernel, correlation, T, correlationId);                                           \
	SAME(rec_kernel, name, T, name);                                                           \
	SAME(rec_kernel, queued, T, queued);                                                       \
	SAME(rec_kernel, launch_type, T, launchType)
#define KERNEL5(T)                                                                                 \
	KERNEL(T);                                                                                 \
	SAME(rec_kernel, graph_node, T, graphNodeId);                                              \
	SAME(rec_kernel, graph, T, graphId)
KERNEL(CUpti_ActivityKernel4);
KERNEL5(CUpti_ActivityKernel5);
KERNEL5(CUpti_ActivityKernel7);
#if CUPTI_API_VERSION >= 18
KERNEL5(CUpti_ActivityKernel8);
#endif
#if CUPTI_API_VERSION >= 20
KERNEL5(CUpti_ActivityKernel9);
#endif
#if CUPTI_API_VERSION >= 130001
KERNEL5(CUpti_ActivityKernel10);
#endif
#if CUPTI_API_VERSION >= 130400
KERNEL5(CUpti_ActivityKernel13);
#endif

#define COPY(T)                                                                                    \
	SAME(rec_memcpy, copy_kind, T, copyKind);                                                  \
	SAME(rec_memcpy, src_kind, T, srcKind);                                                    \
	SAME(rec_memcpy, dst_kind, T, dstKind);                                                    \
	SAME(rec_memcpy, bytes, T, bytes);                                                         \
	SAME(rec_memcpy, start, T, start);                                                         \
	SAME(rec_memcpy, end, T, end);                                                             \
	SAME(rec_memcpy, device, T, deviceId);                                                     \
	SAME(rec_memcpy, context, T, contextId);                                                   \
	SAME(rec_memcpy, stream, T, streamId);                                                     \
	SAME(rec_memcpy, correlation, T, correlationId);                                           \
	SAME(rec_memcpy, graph_node, T, graphNodeId);                                              \
	SAME(rec_memcpy, graph, T, graphId)
COPY(CUpti_ActivityMemcpy4);
COPY(CUpti_ActivityMemcpy5);
#if CUPTI_API_VERSION >= 130001
COPY(CUpti_ActivityMemcpy6);
#endif

#define PEER(T)                                                                                    \
	SAME(rec_memcpy_peer, copy_kind, T, copyKind);                                             \
	SAME(rec_memcpy_peer, bytes, T, bytes);                                                    \
	SAME(rec_memcpy_peer, start, T, start);                                                    \
	SAME(rec_memcpy_peer, end, T, end);                                                        \
	SAME(rec_memcpy_peer, device, T, deviceId);                                                \
	SAME(rec_memcpy_peer, context, T, contextId);                                              \
	SAME(rec_memcpy_peer, stream, T, streamId);                                                \
	SAME(rec_memcpy_peer, src_device, T, srcDeviceId);                                         \
	SAME(rec_memcpy_peer, dst_device, T, dstDeviceId);                                         \
	SAME(rec_memcpy_peer, correlation, T, correlationId);                                      \
	SAME(rec_memcpy_peer, graph_node, T, graphNodeId);                                         \
	SAME(rec_memcpy_peer, graph, T, graphId)
PEER(CUpti_ActivityMemcpyPtoP3);
PEER(CUpti_ActivityMemcpyPtoP4);

#define SET(T)                                                                                     \
	SAME(rec_memset, value, T, value);                                                         \
	SAME(rec_memset, bytes, T, bytes);                                                         \
	SAME(rec_memset, start, T, start);                                                         \
	SAME(rec_memset, end, T, end);                                                             \
	SAME(rec_memset, device, T, deviceId);                                                     \
	SAME(rec_memset, context, T, contextId);                                                   \
	SAME(rec_memset, stream, T, streamId);                                                     \
	SAME(rec_memset, correlation, T, correlationId);                                           \
	SAME(rec_memset, memory_kind, T, memoryKind);                                              \
	SAME(rec_memset, graph_node, T, graphNodeId);                                              \
	SAME(rec_memset, graph, T, graphId)
SET(CUpti_ActivityMemset3);
SET(CUpti_ActivityMemset4);

#define MEMORY(T)                                                                                  \
	SAME(rec_memory, operation, T, memoryOperationType);                                       \
	SAME(rec_memory, memory_kind, T, memoryKind);                                              \
	SAME(rec_memory, correlation, T, correlationId);                                           \
	SAME(rec_memory, address, T, address);                                                     \
	SAME(rec_memory, bytes, T, bytes);                                                         \
	SAME(rec_memory, time, T, timestamp);                                                      \
	SAME(rec_memory, device, T, deviceId);                                                     \
	SAME(rec_memory, context, T, contextId);                                                   \
	SAME(rec_memory, stream, T, streamId)
MEMORY(CUpti_ActivityMemory2);
MEMORY(CUpti_ActivityMemory3);
#if CUPTI_API_VERSION >= 130001
MEMORY(CUpti_ActivityMemory4);
#endif

SAME(rec_api, cbid, CUpti_ActivityAPI, cbid);
SAME(rec_api, start, CUpti_ActivityAPI, start);
SAME(rec_api, end, CUpti_ActivityAPI, end);
SAME(rec_api, thread, CUpti_ActivityAPI, threadId);
SAME(rec_api, correlation, CUpti_ActivityAPI, correlationId);
SAME(rec_api, status, CUpti_ActivityAPI, returnValue);

#define GRAPH(T)                                                                                   \
	SAME(rec_graph, correlation, T, correlationId);                                            \
	SAME(rec_graph, start, T, start);                                                          \
	SAME(rec_graph, end, T, end);                                                              \
	SAME(rec_graph, device, T, deviceId);                                                      \
	SAME(rec_graph, graph, T, graphId);                                                        \
	SAME(rec_graph, context, T, contextId);                                                    \
	SAME(rec_graph, stream, T, streamId)
GRAPH(CUpti_ActivityGraphTrace);
#if CUPTI_API_VERSION >= 24
GRAPH(CUpti_ActivityGraphTrace2);
#endif

#define SYNC(T)                                                                                    \
	SAME(rec_sync, type, T, type);                                                             \
	SAME(rec_sync, start, T, start);                                                           \
	SAME(rec_sync, end, T, end);                                                               \
	SAME(rec_sync, correlation, T, correlationId);                                             \
	SAME(rec_sync, context, T, contextId);                                                     \
	SAME(rec_sync, stream, T, streamId)
SYNC(CUpti_ActivitySynchronization);
#if CUPTI_API_VERSION >= 26
SYNC(CUpti_ActivitySynchronization2);
#endif

#define OVERHEAD(T)                                                                                \
	SAME(rec_overhead, overhead_kind, T, overheadKind);                                        \
	SAME(rec_overhead, object_kind, T, objectKind);                                            \
	SAME(rec_overhead, object, T, objectId);                                                   \
	SAME(rec_overhead, start, T, start);                                                       \
	SAME(rec_overhead, end, T, end)
OVERHEAD(CUpti_ActivityOverhead);
#if CUPTI_API_VERSION >= 24
OVERHEAD(CUpti_ActivityOverhead3);
#endif

SAME(rec_context, context, CUpti_ActivityContext, contextId);
SAME(rec_context, device, CUpti_ActivityContext, deviceId);
SAME(rec_context, null_stream, CUpti_ActivityContext, nullStreamId);

#define DEVICE(T)                                                                                  \
	SAME(rec_device, memory_size, T, globalMemorySize);                                        \
	SAME(rec_device, multiprocessors, T, numMultiprocessors);                                  \
	SAME(rec_device, capability_major, T, computeCapabilityMajor);                             \
	SAME(rec_device, capability_minor, T, computeCapabilityMinor);                             \
	SAME(rec_device, id, T, id);                                                               \
	SAME(rec_device, uuid, T, uuid);                                                           \
	SAME(rec_device, name, T, name)
#define DEVICE4(T)                                                                                 \
	DEVICE(T);                                                                                 \
	SAME(rec_device, mig, T, isMigEnabled);                                                    \
	SAME(rec_device, mig_uuid, T, migUuid)
DEVICE(CUpti_ActivityDevice2);
DEVICE4(CUpti_ActivityDevice4);
#if CUPTI_API_VERSION >= 24
DEVICE4(CUpti_ActivityDevice5);
#endif

SAME(cb_data, site, CUpti_CallbackData, callbackSite);
SAME(cb_data, function, CUpti_CallbackData, functionName);
#if CUPTI_API_VERSION >= 130001
SAME(subscriber_params, size, CUpti_SubscriberParams, structSize);
SAME(subscriber_params, name, CUpti_SubscriberParams, subscriberName);
SAME(subscriber_params, holder, CUpti_SubscriberParams, oldSubscriberName);
SAME(subscriber_params, holder_size, CUpti_SubscriberParams, oldSubscriberSize);
#endif

VALUE(CUPTI_E_MULTIPLE_SUBSCRIBERS, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
VALUE(CUPTI_E_MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
VALUE(CUPTI_E_NOT_INITIALIZED, CUPTI_ERROR_NOT_INITIALIZED);
VALUE(ACT_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY);
VALUE(ACT_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET);
VALUE(ACT_DRIVER, CUPTI_ACTIVITY_KIND_DRIVER);
VALUE(ACT_RUNTIME, CUPTI_ACTIVITY_KIND_RUNTIME);
VALUE(ACT_DEVICE, CUPTI_ACTIVITY_KIND_DEVICE);
VALUE(ACT_CONTEXT, CUPTI_ACTIVITY_KIND_CONTEXT);
VALUE(ACT_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
VALUE(ACT_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD);
VALUE(ACT_MEMCPY_PEER, CUPTI_ACTIVITY_KIND_MEMCPY2);
VALUE(ACT_STREAM, CUPTI_ACTIVITY_KIND_STREAM);
VALUE(ACT_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
VALUE(ACT_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2);
VALUE(ACT_GRAPH, CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
VALUE(CUPTI_ATTR_ZEROED_OUT, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER);
VALUE(CUPTI_FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
#if CUPTI_API_VERSION >= 18
VALUE(CUPTI_THREAD_ID_SYSTEM, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
#endif
VALUE(CB_DRIVER, CUPTI_CB_DOMAIN_DRIVER_API);
VALUE(CB_RUNTIME, CUPTI_CB_DOMAIN_RUNTIME_API);
VALUE(CB_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
VALUE(CB_RESOURCE_MODULE_UNLOAD, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING);
#if CUPTI_API_VERSION >= 20
VALUE(CB_STATE, CUPTI_CB_DOMAIN_STATE);
VALUE(CB_STATE_FATAL, CUPTI_CBID_STATE_FATAL_ERROR);
#endif
VALUE(CB_ENTER, CUPTI_API_ENTER);
VALUE(CBID_CTX_DESTROY, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy);
VALUE(CBID_CTX_DESTROY_V2, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2);
VALUE(CBID_PRIMARY_RELEASE, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease);
VALUE(CBID_PRIMARY_RELEASE_V2, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
VALUE(CBID_PRIMARY_RESET, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset);
VALUE(CBID_PRIMARY_RESET_V2, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
VALUE(CBID_DEVICE_RESET, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
VALUE(COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
VALUE(MEMORY_OP_ALLOC, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
VALUE(MEMORY_OP_FREE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
VALUE(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
