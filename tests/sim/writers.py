# SPDX-License-Identifier: Apache-2.0
"""Writes a run of the simulator as profilers write it."""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), 'trace'))
import kineto  # noqa: E402
import nsys  # noqa: E402
import rocprof as roc  # noqa: E402
import xspace  # noqa: E402

EPOCH = 1_700_000_000_000_000_000   # the start of recordings, ns since 1970

CATEGORY = {'compute': 'kernel', 'communication': 'kernel', 'copy': 'gpu_memcpy'}


def shape(work):
    """Returns the blocks of a kernel, and the threads of a block."""
    return work.more.get('grid', [2048])[0], work.more.get('block', [128])[0]


def micros(ns):
    """Returns a number that JSON writes with all its digits."""
    return ns / 1000 if ns % 1000 else ns // 1000


def kineto_events(run, process, sync=True, calls=True):
    """Returns the events of a process as PyTorch writes them. sync: with synchronisation events (`enable_cuda_sync_events`);
    calls: with events of runtime calls."""
    pid, out = 4000 + process, []

    def add(cat, name, start, end, where, tid, **args):
        out.append({'ph': 'X', 'cat': cat, 'name': name, 'pid': where, 'tid': tid, 'ts': micros(start), 'dur': micros(end - start),
                    'args': args})

    for (p, tid), thread in run.threads.items():
        for s in thread.slices if p == process else ():
            if s.call and not calls:
                continue
            where = (-1, 0) if s.category == 'overhead' else (pid, tid)
            add(s.category, s.name, s.start, s.end, *where, **dict(s.more, **({'correlation': s.correlation} if s.call else {})))
            if s.call and sync:
                out += sync_events(s, pid, add)
    for w in run.works:
        if w.process == process:
            add(CATEGORY[w.kind], w.name, w.start, w.end, w.device, w.stream, device=w.device, context=1, stream=w.stream,
                correlation=w.launch.correlation, **dict(w.more))
            for ph, where, tid, at in () if not calls else (('s', pid, w.thread.tid, w.launch.start), ('f', w.device, w.stream, w.start)):
                out.append(dict({'ph': ph, 'id': w.launch.correlation, 'pid': where, 'tid': tid, 'ts': micros(at), 'cat': 'ac2g',
                                 'name': 'ac2g'}, **({'bp': 'e'} if ph == 'f' else {})))
    return out


def sync_events(s, pid, add):
    """Returns the synchronisation events of a call, within the time of the call."""
    call, args = s.call, {'correlation': s.correlation, 'context': 1}
    times = (s.start + 1, s.end - 1)
    if call.block == 'device':
        add('cuda_sync', 'Context Sync', *times, call.on, -1, cuda_sync_kind='Context Sync', stream=-1, device=call.on, **args)
    elif call.block == 'stream':
        device, stream = call.on
        add('cuda_sync', 'Stream Sync', *times, device, stream, cuda_sync_kind='Stream Sync', stream=stream, device=device, **args)
    elif call.block == 'event' or call.wait:
        event, device, stream = call.wait or (call.on, 0, -1)
        _, recorded, _, of = s.event
        kind = 'Stream Wait Event' if call.wait else 'Event Sync'
        add('cuda_sync', kind, *times, device, stream, cuda_sync_kind=kind, wait_on_stream=of,
            wait_on_cuda_event_record_corr_id=recorded, wait_on_cuda_event_id=event, stream=stream, device=device, **args)
    return []


def write_kineto(run, folder, shuffle=None, sync=True, calls=True, **header):
    """Writes a file for each process; shuffle: a seed for another order of the events; header: further
    members of the file. Returns the paths."""
    paths = []
    for process in sorted({p for p, _ in run.threads}):
        events = kineto_events(run, process, sync, calls)
        if shuffle is not None:
            random.Random(shuffle).shuffle(events)
        paths.append(os.path.join(folder, 'rank%d.pt.trace.json' % process))
        with open(paths[-1], 'wb') as f:
            f.write(kineto.trace(events, process if len({p for p, _ in run.threads}) > 1 else None, **header))
    return paths


# ---- Nsight Systems ----

SYNC_TYPE = {'event': 1, 'wait': 2, 'stream': 3, 'device': 4}
NSYS_EVENT = 'timestamp deviceId contextId streamId correlationId globalPid eventId eventSyncId'
NSYS_SYNC = nsys.SYNC + ' eventId eventSyncId'


def nsys_calls(x, process, tid, s, sync):
    """Returns the rows of a call: the call itself, its synchronisation, and the event that it records."""
    call, machine_pid = s.call, nsys.pid(process)
    x.row('CUPTI_ACTIVITY_KIND_RUNTIME', start=s.start, end=s.end, globalTid=machine_pid | tid, correlationId=s.correlation,
          nameId=x.string(s.name + '_v7000'), returnValue=0)
    if call.record and sync:
        event, device, stream = call.record
        x.row('CUPTI_ACTIVITY_KIND_CUDA_EVENT', timestamp=0, deviceId=device, contextId=1, streamId=stream,
              correlationId=s.correlation, globalPid=machine_pid, eventId=event, eventSyncId=event)
    if call.block and s.end - s.start > 1000:
        nsys_switch(x, process, tid, s.start + 300, s.end - 300, NSYS_SLEEPING)
    kind = 'wait' if call.wait else call.block
    if kind in SYNC_TYPE and sync:
        event, device, stream = call.wait or {'device': (None, call.on, None), 'stream': (None, *call.on) if kind == 'stream' else None,
                                              'event': (call.on, 0, None)}[kind]
        x.row('CUPTI_ACTIVITY_KIND_SYNCHRONIZATION', start=s.start + 1, end=s.end - 1, deviceId=device, contextId=1, streamId=stream,
              correlationId=s.correlation, globalPid=machine_pid, syncType=SYNC_TYPE[kind], eventId=event, eventSyncId=event)


NSYS_RUNNING, NSYS_SLEEPING = 1, 2      # ids in ENUM_SAMPLING_THREAD_STATE


def nsys_switch(x, process, tid, start, end, state):
    """Returns the rows of a thread that loses its CPU in a state, and of its return."""
    x.table('SCHED_EVENTS', 'start cpu isSchedIn globalTid threadState threadBlock')
    for at, back in ((start, 0), (end, 1)):
        x.row('SCHED_EVENTS', start=at, cpu=3, isSchedIn=back, globalTid=nsys.pid(process) | tid, threadState=0 if back else state)


def write_nsys(run, folder, sync=True, nodes=True):
    """Writes an export with all processes; annotations and ops are NVTX ranges. nodes: False for --cuda-graph-trace=graph,
    where a launch of a graph is one slice, of which often only a part is recorded. Returns its path."""
    x, path = nsys.Export(), os.path.join(folder, 'run.sqlite')
    for table, columns in (('RUNTIME', nsys.RUNTIME), ('KERNEL', nsys.KERNEL), ('MEMCPY', nsys.COPY + ' srcKind dstKind'), ('SYNCHRONIZATION', NSYS_SYNC),
                           ('CUDA_EVENT', NSYS_EVENT)):
        x.table('CUPTI_ACTIVITY_KIND_' + table, columns)
    for (process, tid), thread in run.threads.items():
        for s in thread.slices:
            if s.call:
                nsys_calls(x, process + 1, tid, s, sync)
            elif s.category == 'preempted':
                nsys_switch(x, process + 1, tid, s.start, s.end, NSYS_RUNNING)
            else:
                x.range(process + 1, s.name, s.start, s.end, thread=tid)
    for w in run.works:
        if w.launch.name == 'cudaGraphLaunch' and not nodes:
            if w is w.launch.works[0]:
                x.table('CUPTI_ACTIVITY_KIND_GRAPH_TRACE', 'start end deviceId contextId streamId correlationId globalPid graphId graphExecId')
                x.row('CUPTI_ACTIVITY_KIND_GRAPH_TRACE', start=w.start, end=w.start + (w.launch.works[-1].end - w.start) // 10, deviceId=w.device,
                      contextId=1, streamId=w.stream, correlationId=w.launch.correlation, globalPid=nsys.pid(w.process + 1), graphId=1, graphExecId=2)
        elif w.kind == 'copy':
            back, memory = 'DtoH' in w.name, 0 if 'Pageable' in w.name else 1     # 2: device memory
            x.row('CUPTI_ACTIVITY_KIND_MEMCPY', srcKind=2 if back else memory, dstKind=memory if back else 2, start=w.start, end=w.end, deviceId=w.device, contextId=1, streamId=w.stream,
                  correlationId=w.launch.correlation, globalPid=nsys.pid(w.process + 1), bytes=w.more['bytes'],
                  copyKind=1 + back)
        else:
            grid, block = shape(w)
            x.row('CUPTI_ACTIVITY_KIND_KERNEL', start=w.start, end=w.end, deviceId=w.device, contextId=1, streamId=w.stream,
                  correlationId=w.launch.correlation, globalPid=nsys.pid(w.process + 1), demangledName=x.string(w.name),
                  shortName=x.string(w.name.split('<')[0].split('::')[-1]), registersPerThread=64, gridX=grid, gridY=1, gridZ=1,
                  blockX=block, blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=0)
    x.table('TARGET_INFO_GPU', 'id name busLocation totalMemory memoryBandwidth clockRate smCount chipName cuDevice')
    for d in sorted({w.device for w in run.works}):
        x.row('TARGET_INFO_GPU', id=d, name='NVIDIA H100 80GB HBM3', busLocation='0000:0%d:00.0' % d, totalMemory=85029158912,
              memoryBandwidth=3352320000000, clockRate=1980000000, smCount=132, chipName='GH100', cuDevice=d)
    if os.path.exists(path):
        os.unlink(path)
    return [x.save(path)]


# ---- rocprofv3 ----

HIP_NAMES = {'cudaLaunchKernel': 'hipLaunchKernel', 'cudaMemcpyAsync': 'hipMemcpyAsync', 'cudaStreamSynchronize': 'hipStreamSynchronize',
             'cudaDeviceSynchronize': 'hipDeviceSynchronize', 'cudaEventRecord': 'hipEventRecord', 'cudaStreamWaitEvent': 'hipStreamWaitEvent',
             'cudaGraphLaunch': 'hipGraphLaunch', 'cudaEventSynchronize': 'hipEventSynchronize', 'cudaMalloc': 'hipMalloc', 'cudaFree': 'hipFree'}


def rocprof_process(run, process):
    """Returns the member of a process."""
    hip = sorted(set(HIP_NAMES.values()))
    symbols = {n: i + 1 for i, n in enumerate(sorted({w.name for w in run.works}))}
    calls, markers, names, kernels, copies = [], [], [], [], []
    for (p, tid), thread in run.threads.items():
        for s in thread.slices if p == process else ():
            if s.call:
                calls.append(roc.record(roc.HIP, hip.index(HIP_NAMES[s.name]), s.start, s.end, s.correlation, thread=tid))
            else:
                names.append((1000000 + len(names), s.name))
                markers.append(roc.record(roc.MARKER, 1, s.start, s.end, names[-1][0], thread=tid))
    for w in run.works:
        if w.process == process and w.kind == 'copy':
            copies.append(roc.copy(w.start, w.end, w.launch.correlation, bytes=w.more['bytes'], stream_id=roc.handle(w.stream)))
        elif w.process == process:
            grid, block = shape(w)
            kernels.append(roc.dispatch(symbols[w.name], w.start, w.end, w.launch.correlation, stream=w.stream))
            kernels[-1]['dispatch_info'].update(workgroup_size={'x': block, 'y': 1, 'z': 1}, grid_size={'x': grid * block, 'y': 1, 'z': 1})
    made = roc.process(pid=4000 + process, markers=names, kernel_dispatch=kernels, hip_api=calls, marker_api=markers, memory_copy=copies)
    made['kernel_symbols'] = [roc.symbol(i, n) for n, i in symbols.items()]
    made['strings']['buffer_records'] = [{'kind': k, 'operations': hip if k == 'HIP_RUNTIME_API' else o} for k, o in roc.KINDS]
    return made


def write_rocprof(run, folder):
    """Writes a result with all processes; annotations and ops are roctx ranges. Returns its path."""
    path = os.path.join(folder, 'run_results.json')
    with open(path, 'wb') as f:
        f.write(roc.text(*(rocprof_process(run, p) for p in sorted({p for p, _ in run.threads}))))
    return [path]


# ---- XSpace ----

def write_xspace(run, folder):
    """Writes an XSpace with host lines; ops are TraceMes with the group of their step. Returns its path."""
    host, path = xspace.Plane('/host:CPU'), os.path.join(folder, 'run.xplane.pb')
    planes = [host]
    marks = sorted({s.start: s for t in run.threads.values() for s in t.slices if s.name.startswith('ProfilerStep#')}.items())

    def group(at):
        return {'group_id': n for n, (_, s) in enumerate(marks, 1) if s.start <= at < s.end}

    for (process, tid), thread in run.threads.items():
        events = []
        for s in thread.slices:
            more = dict(group(s.start), **({'correlation_id': s.correlation} if s.call else {}))
            events.append((host.meta(s.name.replace('ProfilerStep#', 'train_step#')), s.start * 1000, (s.end - s.start) * 1000, more))
        host.line(tid, 'thread %d' % tid, events)
    for device in sorted({w.device for w in run.works}):
        plane = xspace.Plane('/device:GPU:%d' % device)
        planes.append(plane)
        for stream in sorted({w.stream for w in run.works if w.device == device}):
            events = []
            for w in run.works:
                if (w.device, w.stream) == (device, stream):
                    details = {'memcpy_details': 'size:%d dest:0 async:1' % w.more['bytes']} if w.kind == 'copy' else {
                        'kernel_details': ('ref', 'regs:64 grid:%d,1,1 block:%d,1,1' % shape(w))}
                    events.append((plane.meta(w.name if w.kind != 'copy' else 'MemcpyD2H' if 'DtoH' in w.name else 'MemcpyH2D'), w.start * 1000,
                                   (w.end - w.start) * 1000, dict(details, correlation_id=w.launch.correlation, **group(w.launch.start))))
            plane.line(stream, 'Stream #%d(Compute)' % stream, events)
    with open(path, 'wb') as f:
        f.write(xspace.space(*planes))
    return [path]


# ---- recordings ----

def recording_script(run, process):
    """Returns the script from which spool_make makes the recording of a process."""
    lines = []
    head = ['info key=pid value=%d' % (4000 + process)]
    head += ['gpu id=%d uuid=GPU-%04d name="NVIDIA H100 80GB HBM3" memory=85029158912' % (d, d) for d in sorted({w.device for w in run.works if w.process == process})]
    head.append('clock realtime=%d monotonic=1000000000' % EPOCH)
    for (p, tid), thread in run.threads.items():
        for s in thread.slices if p == process else ():
            at = EPOCH + s.start
            if s.call:
                lines.append((s.start, s.depth, 'api start=%d length=%d correlation=%d name=%s tid=%d' % (
                    at, s.end - s.start, s.correlation, s.name, tid)))
                kind = 'wait' if s.call.wait else s.call.block
                if kind in SYNC_TYPE:
                    device, stream = s.call.wait[1:] if s.call.wait else s.call.on if kind == 'stream' else (0, 4294967295)
                    lines.append((s.start, s.depth, 'sync start=%d length=%d correlation=%d type=%d context=%d stream=%d' % (
                        at + 1, s.end - s.start - 2, s.correlation, SYNC_TYPE[kind], 1 + device, stream)))
            else:
                lines.append((s.start, s.depth, 'push start=%d tid=%d name="%s"' % (at, tid, s.name)))
                lines.append((s.end, -s.depth - 1, 'pop start=%d tid=%d' % (EPOCH + s.end, tid)))
    for w in run.works:
        if w.process == process:
            what = 'kernel start=%d length=%d correlation=%d name="%s" grid=%d block=%d registers=64'
            more = (w.name,) + shape(w)
            if w.kind == 'copy':    # memory of the host: 1 pageable, 2 pinned; 3 of the device
                what, back = 'copy start=%d length=%d correlation=%d kind=%d from=%d to=%d bytes=%d', 'DtoH' in w.name
                memory = 1 if 'Pageable' in w.name else 2
                more = (1 + back, 3 if back else memory, memory if back else 3, w.more['bytes'])
            lines.append((w.start, 0, (what + ' device=%d context=%d stream=%d') % (
                (EPOCH + w.start, w.end - w.start, w.launch.correlation) + more + (w.device, 1 + w.device, w.stream))))
    last = max(w.end for w in run.works) + 1_000_000
    return '\n'.join(head + [text for _, _, text in sorted(lines, key=lambda x: x[:2])] + ['end start=%d' % (EPOCH + last)]) + '\n'


def write_recording(run, folder, make):
    """Makes the recording of a run with the program spool_make: a folder with a file for each process. Returns its path."""
    place = os.path.join(folder, 'recording')
    os.makedirs(place, exist_ok=True)
    for old in os.listdir(place):
        os.unlink(os.path.join(place, old))
    for process in sorted({p for p, _ in run.threads}):
        path = os.path.join(place, '%d.tfspool' % (4000 + process))
        subprocess.run([make, path], input=recording_script(run, process).encode(), check=True)
    return [place]
