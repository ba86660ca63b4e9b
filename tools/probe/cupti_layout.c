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
#define ROW(T, type, name, at, theirs)                                                             \
	_Static_assert(offsetof(T, theirs) == (at), #T "." #theirs);                               \
	_Static_assert(sizeof(((T *)0)->theirs) == sizeof(type), "size of " #T "." #theirs);
#define VALUE(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

REC_KERNEL(ROW, CUpti_ActivityKernel4)
#define KERNEL(T) REC_KERNEL(ROW, T) REC_KERNEL_GRAPH(ROW, T)
KERNEL(CUpti_ActivityKernel5)
KERNEL(CUpti_ActivityKernel6)
KERNEL(CUpti_ActivityKernel7)
REC_MEMCPY(ROW, CUpti_ActivityMemcpy4)
REC_MEMCPY(ROW, CUpti_ActivityMemcpy5)
REC_MEMCPY_PEER(ROW, CUpti_ActivityMemcpyPtoP3)
REC_MEMCPY_PEER(ROW, CUpti_ActivityMemcpyPtoP4)
REC_MEMSET(ROW, CUpti_ActivityMemset3)
REC_MEMSET(ROW, CUpti_ActivityMemset4)
REC_MEMORY(ROW, CUpti_ActivityMemory2)
REC_MEMORY(ROW, CUpti_ActivityMemory3)
REC_API(ROW, CUpti_ActivityAPI)
REC_GRAPH(ROW, CUpti_ActivityGraphTrace)
REC_SYNC(ROW, CUpti_ActivitySynchronization)
REC_OVERHEAD(ROW, CUpti_ActivityOverhead)
REC_CONTEXT(ROW, CUpti_ActivityContext)
REC_DEVICE(ROW, CUpti_ActivityDevice2)
#define DEVICE(T) REC_DEVICE(ROW, T) REC_DEVICE_PART(ROW, T)
DEVICE(CUpti_ActivityDevice4)
#if CUPTI_API_VERSION >= 18
KERNEL(CUpti_ActivityKernel8)
#endif
#if CUPTI_API_VERSION >= 20
KERNEL(CUpti_ActivityKernel9)
#endif
#if CUPTI_API_VERSION >= 24
REC_GRAPH(ROW, CUpti_ActivityGraphTrace2)
REC_OVERHEAD(ROW, CUpti_ActivityOverhead3)
DEVICE(CUpti_ActivityDevice5)
#endif
#if CUPTI_API_VERSION >= 26
REC_SYNC(ROW, CUpti_ActivitySynchronization2)
#endif
#if CUPTI_API_VERSION >= 130001
KERNEL(CUpti_ActivityKernel10)
REC_MEMORY(ROW, CUpti_ActivityMemory4)
#endif
#if CUPTI_API_VERSION >= 22
REC_CONTEXT(ROW, CUpti_ActivityContext2)
#endif
#if CUPTI_API_VERSION >= 23
REC_CONTEXT(ROW, CUpti_ActivityContext3)
#endif
#if CUPTI_API_VERSION >= 26
REC_MEMCPY(ROW, CUpti_ActivityMemcpy6)
#endif
#if CUPTI_API_VERSION >= 130100
KERNEL(CUpti_ActivityKernel11)
REC_CONTEXT(ROW, CUpti_ActivityContext4)
#endif
#if CUPTI_API_VERSION >= 130200
DEVICE(CUpti_ActivityDevice6)
#endif
#if CUPTI_API_VERSION >= 130300
KERNEL(CUpti_ActivityKernel12)
#endif
#if CUPTI_API_VERSION >= 130400
KERNEL(CUpti_ActivityKernel13)
REC_MEMCPY(ROW, CUpti_ActivityMemcpy7)
REC_MEMSET(ROW, CUpti_ActivityMemset5)
#endif

SAME(cb_data, site, CUpti_CallbackData, callbackSite);
SAME(cb_data, function, CUpti_CallbackData, functionName);
#if CUPTI_API_VERSION >= 20
SAME(cb_resource, graph, CUpti_ResourceData, resourceDescriptor);
SAME(cb_graph, node, CUpti_GraphData, node);
SAME(cb_graph, original, CUpti_GraphData, originalNode);
SAME(cb_state, result, CUpti_StateData, notification.result);
SAME(cb_state, message, CUpti_StateData, notification.message);
#endif
/* Functions with a subscriber: ours have pointers and numbers of the same sizes in the same places.
 */
#define FUNCTION(name, ...)                                                                        \
	_Static_assert(                                                                            \
	        __builtin_types_compatible_p(__typeof__(cupti##name), CUptiResult(__VA_ARGS__)),   \
	        #name);
#if CUPTI_API_VERSION >= 130300
SAME(subscriber_params, allow_more, CUpti_SubscriberParams, allowMultipleSubscribers);
_Static_assert(sizeof(struct subscriber_params) == sizeof(CUpti_SubscriberParams), "its size");
FUNCTION(ActivityRegisterCallbacks_v2, CUpti_SubscriberHandle, CUpti_BuffersCallbackRequestFunc_v2,
        CUpti_BuffersCallbackCompleteFunc_v2)
FUNCTION(ActivityEnable_v2, CUpti_SubscriberHandle, CUpti_ActivityKind, CUpti_ActivityConfig *)
FUNCTION(ActivityDisable_v2, CUpti_SubscriberHandle, CUpti_ActivityKind, CUpti_ActivityConfig *)
FUNCTION(ActivityEnableAndDump_v2, CUpti_SubscriberHandle, CUpti_ActivityKind,
        CUpti_ActivityConfig *)
FUNCTION(ActivityGetNextRecord_v2, CUpti_SubscriberHandle, uint8_t *, size_t, CUpti_Activity **)
FUNCTION(ActivityGetNumDroppedRecords_v2, CUpti_SubscriberHandle, CUcontext, uint32_t, size_t *)
FUNCTION(ActivitySetAttribute_v2, CUpti_SubscriberHandle, CUpti_ActivityAttribute, size_t *, void *)
FUNCTION(ActivityGetAttribute_v2, CUpti_SubscriberHandle, CUpti_ActivityAttribute, size_t *, void *)
FUNCTION(ActivityEnableRuntimeApi_v2, CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t)
FUNCTION(ActivityEnableDriverApi_v2, CUpti_SubscriberHandle, CUpti_CallbackId, uint8_t)
FUNCTION(GetTimestamp_v2, CUpti_SubscriberHandle, uint64_t *)
VALUE(CUPTI_ATTR_WHOLE_GRAPHS, CUPTI_ACTIVITY_ATTR_ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE);
VALUE(CUPTI_ATTR_THREAD_ID, CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE);
#endif
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
VALUE(CBID_DRIVER_VERSION, CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion);
VALUE(CBID_CTX_DESTROY, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy);
VALUE(CBID_CTX_DESTROY_V2, CUPTI_DRIVER_TRACE_CBID_cuCtxDestroy_v2);
VALUE(CBID_PRIMARY_RELEASE, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease);
VALUE(CBID_PRIMARY_RELEASE_V2, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRelease_v2);
VALUE(CBID_PRIMARY_RESET, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset);
VALUE(CBID_PRIMARY_RESET_V2, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxReset_v2);
VALUE(CBID_DEVICE_RESET, CUPTI_RUNTIME_TRACE_CBID_cudaDeviceReset_v3020);
VALUE(CB_RESOURCE_NODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
VALUE(CB_RESOURCE_NODE_CLONED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
VALUE(COPY_PTOP, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
VALUE(MEMORY_OP_ALLOC, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
VALUE(MEMORY_OP_FREE, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
VALUE(OBJECT_THREAD, CUPTI_ACTIVITY_OBJECT_THREAD);
