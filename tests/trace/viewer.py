# SPDX-License-Identifier: Apache-2.0
"""Converts XSpaces to the JSON of TensorBoard's trace viewer, as TensorFlow, JAX and XProf export it."""
import json
import struct

# Stats that the export leaves out.
INTERNAL = {'kernel_details', 'producer_type', 'producer_id', 'consumer_type', 'consumer_id', '_pt', '_p', '_ct', '_c', '_r', 'program_id', 'symbol_id'}
HOST = 701  # process of the host; planes of devices count from 1


def fields(data):
    """Yields (field, value) of a message; fixed values as bytes."""
    at = 0

    def take():
        nonlocal at
        v = shift = 0
        while True:
            at += 1
            v |= (data[at - 1] & 0x7f) << shift
            shift += 7
            if data[at - 1] < 0x80:
                return v
    while at < len(data):
        tag = take()
        if tag & 7 == 0:
            yield tag >> 3, take()
            continue
        n = {1: 8, 5: 4}.get(tag & 7) or take()
        at += n
        yield tag >> 3, data[at - n:at]


def one(data, field, default=0):
    return next((v for f, v in fields(data) if f == field), default)


def signed(v):
    return v - (1 << 64) if v >> 63 else v


def stat(data, names):
    """Returns (name, text)."""
    name, text = '', ''
    for f, v in fields(data):
        if f == 1:
            name = names.get(v, '')
        elif f == 2:
            text = repr(struct.unpack('<d', v)[0])
        elif f in (3, 4):
            text = str(signed(v) if f == 4 else v)
        elif f == 5:
            text = v.decode()
        elif f == 7:
            text = names.get(v, '')
    return name, text


def of_plane(plane, pid):
    name = one(plane, 2, b'').decode()
    names = {one(v, 1): one(one(v, 2, b''), 2, b'').decode() for f, v in fields(plane) if f == 5}
    metas = {one(v, 1): one(v, 2, b'') for f, v in fields(plane) if f == 4}
    yield {'ph': 'M', 'pid': pid, 'name': 'process_name', 'args': {'name': name}}
    yield {'ph': 'M', 'pid': pid, 'name': 'process_sort_index', 'args': {'sort_index': pid}}
    for line in [v for f, v in fields(plane) if f == 3]:
        tid, label = one(line, 1) & 0xffffffff, one(line, 11, b'') or one(line, 2, b'')
        yield {'ph': 'M', 'pid': pid, 'tid': tid, 'name': 'thread_name', 'args': {'name': label.decode()}}
    for line in [v for f, v in fields(plane) if f == 3]:
        for event in [v for f, v in fields(line) if f == 4]:
            meta = metas.get(one(event, 1), b'')
            long_name, display = one(meta, 2, b'').decode(), one(meta, 4, b'').decode()
            args = {'long_name': long_name} if display else {}
            args.update(x for x in (stat(v, names) for f, v in list(fields(meta)) if f == 5) if x[0] not in INTERNAL)
            args.update(x for x in (stat(v, names) for f, v in fields(event) if f == 4) if x[0] not in INTERNAL)
            start = one(line, 3) * 1000 + signed(one(event, 2))
            yield {'ph': 'X', 'pid': pid, 'tid': one(line, 1) & 0xffffffff, 'ts': start / 1e6, 'dur': one(event, 3) / 1e6, 'name': display or long_name, 'args': args}


def of_xspace(space):
    """Returns the bytes of trace.json: first the names of processes and threads, then the events."""
    events, devices = [], 0
    for plane in [v for f, v in fields(space) if f == 1]:
        name = one(plane, 2, b'').decode()
        devices += name.startswith('/device:')
        if name != '/host:metadata':
            events += of_plane(plane, devices if name.startswith('/device:') else HOST)
    events.sort(key=lambda e: e['ph'] != 'M')
    return json.dumps({'displayTimeUnit': 'ns', 'metadata': {'highres-ticks': True}, 'traceEvents': events + [{}]}).encode()
