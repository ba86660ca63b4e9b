# SPDX-License-Identifier: Apache-2.0
"""Makes rocprofv3 results in JSON, in the order in which rocprofv3 writes the members."""
import json

KINDS = [('NONE', ['NONE']), ('HIP_RUNTIME_API', ['hipMalloc', 'hipLaunchKernel', 'hipMemcpyAsync']),
         ('HSA_CORE_API', ['hsa_queue_create']), ('MARKER_CORE_RANGE_API', ['roctxMarkA', 'roctxThreadRangeA']),
         ('MEMORY_COPY', ['MEMORY_COPY_NONE', 'MEMORY_COPY_HOST_TO_DEVICE']), ('KERNEL_DISPATCH', ['KERNEL_DISPATCH_COMPLETE']),
         ('RCCL_API', ['ncclAllReduce'])]
HIP, HSA, MARKER, COPY, KERNEL, RCCL = range(1, 7)


def handle(n):
    return {'handle': n}


def record(kind, operation, start, end, correlation=0, thread=11, **more):
    return dict({'size': 64, 'kind': kind, 'operation': operation, 'thread_id': thread,
                 'correlation_id': {'internal': correlation, 'external': 0}, 'start_timestamp': start, 'end_timestamp': end}, **more)


def dispatch(kernel, start, end, correlation, agent=102, queue=7, stream=None):
    size = {'x': 64, 'y': 2, 'z': 1}
    more = {'stream_id': handle(stream)} if stream is not None else {}
    return record(KERNEL, 0, start, end, correlation, dispatch_info={
        'size': 96, 'agent_id': handle(agent), 'queue_id': handle(queue), 'kernel_id': kernel, 'dispatch_id': correlation,
        'private_segment_size': 0, 'group_segment_size': 512, 'workgroup_size': size, 'grid_size': {'x': 130, 'y': 4, 'z': 1}}, **more)


def copy(start, end, correlation, **more):
    return record(COPY, 1, start, end, correlation, src_agent_id=handle(100), dst_agent_id=handle(102), **more)


def agent(number, kind, index, name):
    return {'size': 312, 'id': handle(number), 'type': kind, 'name': name, 'product_name': 'AMD Instinct ' + name if kind == 2 else '',
            'logical_node_id': number - 100, 'logical_node_type_id': index, 'mem_banks': [{'size_in_bytes': 5}]}


def symbol(number, name):
    return {'size': 96, 'kernel_id': number, 'kernel_name': '_Z%d.kd' % number, 'formatted_kernel_name': '_Z%d' % number,
            'demangled_kernel_name': 'void %s<float>(float*, int)' % name, 'truncated_kernel_name': name}


def process(pid=40, markers=(), **records):
    """Returns a process with two GPUs. records: keyed by the names of their lists."""
    return {'metadata': {'pid': pid, 'init_time': 1, 'fini_time': 9, 'config': {'environment': {'TOKEN': 'hidden'}}, 'command': ['train', '--key=hidden']},
            'agents': [agent(100, 1, 0, 'EPYC'), agent(101, 2, 0, 'gfx942'), agent(102, 2, 1, 'gfx942')], 'counters': [],
            'strings': {'callback_records': [], 'buffer_records': [{'kind': k, 'operations': o} for k, o in KINDS],
                        'marker_api': [{'key': k, 'value': v} for k, v in markers], 'correlation_id': {'external': []}},
            'code_objects': [], 'kernel_symbols': [symbol(1, 'gemm'), symbol(2, 'relu')], 'host_functions': [],
            'summary': [{'domain': 'HIP', 'stats': {}}], 'callback_records': {'counter_collection': []}, 'buffer_records': records}


def steps():
    """Returns two marked ranges with a kernel each, and a copy before them."""
    calls, kernels, markers, names = [record(HIP, 2, 1000, 1100, 1)], [], [], [(50, 'forward'), (51, 'backward'), (52, 'done')]
    for i in range(2):
        t = 2000 + 3000 * i
        markers.append(record(MARKER, 1, t, t + 2500, 50 + i))
        calls.append(record(HIP, 1, t + 100, t + 150, 10 + i))
        kernels.append(dispatch(1 + i, t + 300, t + 1300 + 500 * i, 10 + i, stream=3))
    markers.append(record(MARKER, 0, 9000, 9000, 52))
    return process(markers=names, kernel_dispatch=kernels, hip_api=calls, marker_api=markers,
                   memory_copy=[copy(1200, 1900, 1, bytes=4096, stream_id=handle(0))], memory_allocation=[{'size': 1}] * 2)


def text(*processes, **how):
    return json.dumps({'rocprofiler-sdk-tool': list(processes)}, indent=1, **how).encode()
