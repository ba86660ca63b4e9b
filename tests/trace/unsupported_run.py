#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests files that tfprof does not read: each is refused with status 3, its format and one line of advice. Also tests files
without an event.

    tests/trace/unsupported_run.py --bin build/check [NAME...]

The files are made by the program that writes the format, where Python has it (pickle, cProfile, zip, tar, SQLite, gzip, its own
program, Go), and by hand from the format's header otherwise.
"""
import bz2
import cProfile
import gzip
import io
import json
import lzma
import os
import pickle
import shutil
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile

TESTS = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(TESTS), 'check'), TESTS]
import cases  # noqa: E402
import pprof  # noqa: E402
import trace_case  # noqa: E402
from trace_case import program, write  # noqa: E402


def zipped(*names):
    out = io.BytesIO()
    with zipfile.ZipFile(out, 'w') as z:
        for name in names:
            z.writestr(name, b'x')
    return out.getvalue()


def tarred():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w') as t:
        t.addfile(tarfile.TarInfo('trace.json'))
    return out.getvalue()


def cprofiled():
    with cProfile.Profile() as p:
        sorted(range(100), key=lambda x: -x)
    p.dump_stats('stats')
    with open('stats', 'rb') as f:
        return f.read()


def database(*statements):
    if os.path.exists('made.db'):
        os.unlink('made.db')
    with sqlite3.connect('made.db') as db:
        for s in statements:
            db.execute(s)
    db.close()
    with open('made.db', 'rb') as f:
        return f.read()


def safetensors():
    head = json.dumps({'__metadata__': {'format': 'pt'}, 'w': {'dtype': 'F32', 'shape': [1], 'data_offsets': [0, 4]}}).encode()
    return struct.pack('<Q', len(head)) + head + bytes(4)


def tfrecord(data):
    """Encodes a TFRecord: length, masked CRC-32C of the length, data; the checksum of the data is not examined."""
    length = struct.pack('<Q', len(data))
    crc = 0xffffffff
    for byte in length:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    crc ^= 0xffffffff
    return length + struct.pack('<I', ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff) + data + bytes(4)


def own_program():
    with open(sys.executable, 'rb') as f:
        return f.read(4096)


def core():
    """Returns the ELF header of a core dump (type 4)."""
    return b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHI', 4, 62, 1) + bytes(40)


SPEEDSCOPE = {'$schema': 'https://www.speedscope.app/file-format-schema.json', 'shared': {'frames': [{'name': 'a'}]},
              'profiles': [{'type': 'sampled', 'name': 'x', 'unit': 'none', 'startValue': 0, 'endValue': 1, 'samples': [[0]], 'weights': [1]}]}
V8 = {'nodes': [{'id': 1, 'callFrame': {'functionName': '(root)', 'scriptId': '0', 'url': '', 'lineNumber': -1, 'columnNumber': -1}, 'hitCount': 0}],
      'startTime': 1, 'endTime': 2, 'samples': [1], 'timeDeltas': [1]}
HEAP = {'snapshot': {'meta': {'node_fields': ['type', 'name'], 'node_types': []}, 'node_count': 0}, 'nodes': []}
GECKO = {'meta': {'version': 27, 'startTime': 1, 'processType': 0, 'stackwalk': 1}, 'libs': [], 'threads': []}
FIREFOX = {'meta': {'interval': 1, 'startTime': 1, 'processType': 0, 'preprocessedProfileVersion': 48}, 'libs': [], 'threads': []}
PROTON = [{'children': [{'children': [], 'frame': {'name': 'kernel', 'type': 'function'}, 'metrics': {'time (ns)': 1, 'count': 1}}],
           'frame': {'name': 'ROOT', 'type': 'function'}, 'metrics': {}}]
PERF_SCRIPT = '''python  1234 [001]  5000.123456:     250000 cycles:u:
\t    55d3c5a1b2c3 _PyEval_EvalFrameDefault+0x123 (/usr/bin/python3.11)
\t    7f0000001234 main+0x10 (/usr/bin/python3.11)

python  1234 [001]  5000.124456:     250000 cycles:u:
'''
STACKS = 'main;load;read 12\nmain;train;forward 40\nmain 1\n'
JAX_HLO = 'HloModule jit_f, entry_computation_layout={(f32[2]{0})->f32[2]{0}}\n\nENTRY main.3 {\n}\n'


def files():
    """Returns (name, content, words of the format, words of the advice)."""
    text = [(n, json.dumps(v).encode(), a, b) for n, v, a, b in (
        ('py-spy.json', SPEEDSCOPE, 'a speedscope profile', '--format chrometrace'),
        ('node.cpuprofile', V8, 'a V8 CPU profile', 'Performance panel'),
        ('node.heapsnapshot', HEAP, 'a V8 heap snapshot', 'DevTools'),
        ('gecko.json', GECKO, 'a Firefox', 'profiler.firefox.com'),
        ('samply.json', FIREFOX, 'a Firefox', 'profiler.firefox.com'),
        ('firefox.json', {'meta': {'interval': 1, 'version': 24, 'product': 'Firefox'}, 'libs': [], 'threads': []}, 'a Firefox',
         'profiler.firefox.com'),
        ('saved.json', {'meta': {'preprocessedProfileVersion': 48}, 'libs': [], 'threads': []}, 'a Firefox', 'profiler.firefox.com'),
        ('scalene.json', {'alloc_samples': 0, 'elapsed_time_sec': 1.0, 'files': {}, 'program': 'x.py'}, 'a Scalene profile', 'scalene view'),
        ('workload_graph.json', {'name': 'workload', 'nodes': [{'id': 1, 'name': 'COMP', 'type': 'COMP_NODE', 'duration_micros': 5}]},
         "a workload graph for Chakra simulators", 'ExecutionTraceObserver'),
        ('astra.json', {'workload_graph': [{'id': 1, 'deps': []}]}, 'a workload graph for Chakra simulators', 'ExecutionTraceObserver'),
        ('otlp.json', {'resourceSpans': []}, 'an OpenTelemetry export', 'torch.profiler'),
        ('otlp2.json', {'resourceMetrics': []}, 'an OpenTelemetry export', 'torch.profiler'),
        ('otlp3.json', {'resourceProfiles': []}, 'an OpenTelemetry export', 'torch.profiler'),
        ('run.hatchet', PROTON, "a Proton profile (Triton)", 'proton-viewer'))]
    made = [
        ('events.out.tfevents.1.host', tfrecord(struct.pack('<Bd', 9, 1.7e9) + b'\x1a\x0dbrain.Event:2'), "a TensorBoard event file", 'summary_iterator'),
        ('train.tfrecord', tfrecord(b'\x0a\x02ab'), 'a TFRecord file', 'data'),
        ('module.pb', pprof.sub(1, pprof.sub(1, b'm') + pprof.sub(2, b'main') + pprof.sub(3, pprof.sub(1, b'c'))), 'an XLA HloProto', 'tfprof record'),
        ('module.txt', JAX_HLO.encode(), 'an XLA module in text form', 'xplane.pb'),
        ('m.meta.txt', b'meta_info_def {\n}\n', 'a MetaGraphDef or SavedModel as text', 'as_text=False'),
        ('checkpoints', b'model_checkpoint_path: "m"\n', 'the checkpoint list', 'tfprof checkpoint'),
        ('m.h5', b'\x89HDF\r\n\x1a\n' + bytes(80), 'an HDF5 file', 'model.export'),
        ('m.keras', zipped('metadata.json', 'config.json', 'model.weights.h5'), 'a Keras model', 'model.export'),
        ('m.zip', zipped('metadata.json', 'config.json', 'model.weights.h5'), 'a Keras model', 'model.export'),
        ('model.pt', zipped('model/data.pkl', 'model/version'), 'a PyTorch model or checkpoint', 'tfprof record'),
        ('renamed.bin', zipped('archive/data.pkl', 'archive/version'), 'a PyTorch model or checkpoint', 'tfprof record'),
        ('old.pth', pickle.dumps(0x1950a86a20f9469cfc6c, 2) + pickle.dumps(1001, 2), 'a PyTorch model or checkpoint', 'tfprof record'),
        ('old.bin', pickle.dumps(0x1950a86a20f9469cfc6c, 2) + pickle.dumps(1001, 2), 'a PyTorch model or checkpoint', 'tfprof record'),
        ('m.safetensors', safetensors(), 'a safetensors file', 'tfprof record'),
        ('m.gguf', b'GGUF' + struct.pack('<IQQ', 3, 0, 0), 'a GGUF model', 'tfprof record'),
        ('m.tflite', struct.pack('<I', 28) + b'TFL3' + bytes(40), 'a TensorFlow Lite model', 'SavedModel'),
        ('m.pte', struct.pack('<I', 28) + b'ET12' + bytes(40), 'an ExecuTorch program', 'tfprof record'),
        ('m.etdp', struct.pack('<I', 28) + b'ED00' + bytes(40), 'an ExecuTorch ETDump', 'Inspector'),
        ('x.npz', zipped('x.npy'), 'a file with NumPy arrays', 'data'),
        ('x.npy', b"\x93NUMPY\1\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }" + b' ' * 60 + b'\n', 'a NumPy array', 'data'),
        ('x.parquet', b'PAR1\x15\x04' + bytes(20) + b'PAR1', 'a Parquet file', 'data'),
        ('x.arrow', b'ARROW1\0\0' + bytes(40), 'an Arrow file', 'data'),
        ('x.feather', b'FEA1' + bytes(40), 'a Feather file', 'data'),
        ('core.77', core(), 'a core dump', 'gdb'),
        ('python', own_program(), 'a program', 'tfprof record -- FILE'),
        ('train.py', b'import torch\n', 'a program', 'python FILE'),
        ('paper.pdf', b'%PDF-1.7\n%\xb5\xb5\n', 'a PDF document', 'data'),
        ('x.png', b'\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'an image', 'data'),
        ('other.pickle', pickle.dumps({'a': 1}), 'a Python pickle', 'data'),
        ('stats.prof', cprofiled(), "a cProfile profile (Python)", 'pstats'),
        ('memray.bin', b'memray\0' + bytes(40), 'a memray report', 'memray tree'),
        ('a.ncu-rep', b'NVR\0' + struct.pack('<I', 4) + b'\x08\x01', 'an Nsight Compute report', 'ncu --import'),
        ('b.ncu-rep', b'??', 'an Nsight Compute report', 'ncu --import'),
        ('a.nsys-rep', b'??', 'an Nsight Systems report', 'nsys export --type=sqlite'),
        ('a.qdrep', b'??', 'an Nsight Systems report', 'nsys export --type=sqlite'),
        ('a.qdstrm', b'??', 'an unfinished Nsight Systems recording', 'QdstrmImporter'),
        ('1_results.db', database('CREATE TABLE rocpd_string_1 (id INTEGER, string TEXT)', 'CREATE VIEW kernels AS SELECT 1'),
         'a rocprofv3 database (rocpd)', 'rocpd convert'),
        ('perf.data', b'PERFILE2' + struct.pack('<Q', 104) + bytes(88), 'a perf recording', 'perf_to_profile'),
        ('perf.swapped', b'2ELIFREP' + struct.pack('>Q', 104), 'a perf recording with the other byte order', 'perf script'),
        ('perf.txt', PERF_SCRIPT.encode(), 'the text that perf script prints', 'perf_to_profile'),
        ('out.folded', STACKS.encode(), 'a list of collapsed stacks', 'flamegraph.pl'),
        ('a.jfr', b'FLR\0\0\2\0\1' + bytes(60), 'a Java Flight Recorder recording', 'jfrconv'),
        ('a.hprof', b'JAVA PROFILE 1.0.2\0' + bytes(12), 'a Java heap dump', 'data'),
        ('trace.out', b'go 1.22 trace\0\0\0' + bytes(20), 'a Go execution trace', 'go tool trace'),
        ('cpu.prof', struct.pack('<11Q', 0, 3, 0, 10000, 0, 1, 1, 4096, 0, 1, 0), 'a gperftools CPU profile', 'go tool pprof -proto'),
        ('goroutine.txt', b'goroutine profile: total 1\n1 @ 0x442b31\n', 'a Go profile as text', 'debug=1'),
        ('mutex.txt', b'--- mutex:\ncycles/second=25\n', 'a Go profile as text', 'debug=1'),
        ('block.txt', b'--- contention:\ncycles/second=25\n', 'a Go profile as text', 'debug=1'),
        ('heap.txt', b'heap profile: 1: 8 [1: 8] @ heap/8192\n', 'a Go or gperftools heap profile as text', 'go tool pprof -proto'),
        ('callgrind.out.1', b'# callgrind format\nversion: 1\n', 'a Callgrind profile', 'callgrind_annotate'),
        ('callgrind.out.2', b'version: 1\ncreator: callgrind-3.19.0\n', 'a Callgrind profile', 'callgrind_annotate'),
        ('ftrace.txt', b'# tracer: nop\n#\n', 'an ftrace trace in text form', 'ui.perfetto.dev'),
        ('stream_0', b'\xc1\x1f\xfc\xc1' + bytes(30), 'a CTF trace', 'babeltrace2'),
        ('kernel_trace.csv', b'"Kind","Agent_Id","Queue_Id"\n', 'a rocprofv3 table', '--output-format json'),
        ('hip_stats.csv', b'"Domain","Function","Process_Id"\n', 'a rocprofv3 table', '--output-format json'),
        ('chakra.0.et', b'\x03\x0a\x01x', 'a Chakra execution trace in protobuf', 'ExecutionTraceObserver'),
        ('flame.svg', b'<?xml version="1.0"?>\n<svg>', 'a page or picture for a browser', 'made of'),
        ('memory.html', b'<html>\n<head><meta charset="utf-8" /><title>GPU Memory Timeline HTML</title></head>', 'a torch.profiler memory timeline',
         '_dump_snapshot'),
        ('report.html', b'<!DOCTYPE html>\n<html>', 'a page or picture for a browser', 'made of'),
        ('a.zip', zipped('a/b.pt.trace.json'), 'a zip archive', 'unpack'),
        ('a.tar', tarred(), 'a tar archive', 'unpack'),
        ('a.tar.gz', gzip.compress(tarred()), 'a tar archive', 'unpack'),
        ('a.7z', b'7z\xbc\xaf\x27\x1c\0\4', 'a 7z archive', 'unpack'),
        ('a.json.zst', b'\x28\xb5\x2f\xfd\x24\0', 'a zstd-compressed file', 'zstd -d'),
        ('a.json.xz', lzma.compress(b'{}'), 'an xz-compressed file', 'xz -d'),
        ('a.json.bz2', bz2.compress(b'{}'), 'a bzip2-compressed file', 'bzip2 -d'),
        ('a.json.lz4', b'\x04\x22\x4d\x18\x64\x40\xa7', 'an lz4-compressed file', 'lz4 -d')]
    return made + text


def named_by_content():
    """Every format is named, with advice, and the status is 3; also if the file is compressed, on standard input, and as a --profile_path."""
    for name, content, what, advice in files():
        write(content, name)
        for words in ([name], ['--profile_path=' + name]):
            _, err = program(*words, 'scope', status=3)
            last = err.splitlines()[-1]
            assert last.startswith("tfprof: '%s' is %s" % (name, what)) and advice in last, (words, err)


def compressed():
    """A compressed file is named by what it contains."""
    for name, content, what, _ in files():
        if not name.endswith(('.nsys-rep', '.qdrep', '.qdstrm', '.ncu-rep', '.py', '.et', '.gz')):
            write(gzip.compress(content), 'x.gz')
            _, err = program('x.gz', 'scope', status=3)
            if "'x.gz' is %s" % what not in err:
                raise AssertionError((name, err))


def every_row_has_a_file():
    """Each sentence of the table is tested."""
    with open(os.path.join(os.path.dirname(os.path.dirname(TESTS)), 'src', 'model', 'unsupported_format.c')) as f:
        table = f.read().partition('} rows[] = {')[2].partition('\n};')[0]
    rows = table.split('{ { "')[1:]
    found = [what for _, _, what, _ in files()]
    assert len(set(r.partition('"')[0] for r in rows)) >= 25
    for r in rows:
        what = r.partition('"')[0]
        assert any(what.startswith(f) or f.startswith(what) for f in found), what


def supported_first():
    """Words and names of other formats do not hide a supported format."""
    event = {'ph': 'X', 'name': 'a', 'cat': 'cpu_op', 'pid': 1, 'tid': 1, 'ts': 1, 'dur': 5,
             'args': {'data': {'cpuProfile': V8}, 'meta': 'processType', 'x': SPEEDSCOPE['$schema'], 'more': {'frame': 1, 'metrics': 1, 'children': 1}}}
    trace = json.dumps({'traceEvents': [event]}).encode()
    for name in ('a.json', 'a.pt', 'train.py', 'a.nsys-rep', 'x.ncu-rep', 'x.tflite', 'x.keras', 'x.et'):
        assert 'a' in trace_case.rows(write(trace, name), 'op', '-select', 'micros'), name
    for name in ('a.pt', 'a.nsys-rep'):
        assert 'main' in trace_case.rows(write(pprof.cpu().bytes(), name), 'op', '-select', 'micros'), name


def nothing_understood():
    """A file in which no event is supported gives status 3."""
    for name, content in (('a.json', b'{"a": 1}'), ('b.json', b'[]'), ('c.json', b'{"traceEvents": []}'), ('d.json', b'[{}]'),
                          ('e.json', json.dumps({'schemaVersion': 1, 'traceEvents': []}).encode()),
                          ('f.json', b'{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "x"}}]}'),
                          ('g.json.gz', gzip.compress(b'\0')), ('h.json.gz', gzip.compress(b'{')), ('i.pt.trace.json', b'{}'),
                          ('j.json', b'{"schema": "1.1.1-chakra.0.0.4", "nodes": []}'),
                          ('k.json', b'{"Layers": [], "Bindings": []}'), ('l.xplane.pb', pprof.sub(1, pprof.sub(2, b'/host:CPU')))):
        write(content, name)
        for words in ([name, 'op'], [name, 'summary'], ['--profile_path=' + name, 'scope']):
            if words[0].startswith('--') and name[0] in 'jk':
                continue  # not a profile
            _, err = program(*words, status=3)
            assert name in err and '--recover' not in err, err


def go_writes_other_forms():
    """The trace and the texts that Go writes are named."""
    go = shutil.which('go') or '/usr/local/go/bin/go'
    if not os.path.exists(go):
        raise cases.Skip('no Go here')
    home = {'HOME': os.getcwd(), 'GOCACHE': os.path.join(os.getcwd(), 'go')} if not os.access(os.environ.get('HOME', '/'), os.W_OK) else {}
    write(b"""package main

import (
	"os"
	"runtime/pprof"
	"runtime/trace"
)

func main() {
	f, _ := os.Create("trace.out")
	trace.Start(f)
	for _, name := range []string{"heap", "goroutine", "mutex", "block"} {
		text, _ := os.Create(name)
		pprof.Lookup(name).WriteTo(text, 1)
		text.Close()
	}
	trace.Stop()
	f.Close()
}
""", 'main.go')
    subprocess.run([go, 'run', 'main.go'], check=True, env=dict(os.environ, GOTOOLCHAIN='local', **home))
    for name, what in (('trace.out', 'a Go execution trace'), ('heap', 'a Go or gperftools heap profile as text'), ('goroutine', 'a Go profile as text'),
                       ('mutex', 'a Go profile as text'), ('block', 'a Go profile as text')):
        _, err = program(name, 'scope', status=3)
        assert "'%s' is %s" % (name, what) in err, err


CASES = [named_by_content, compressed, every_row_has_a_file, supported_first, nothing_understood, go_writes_other_forms]

if __name__ == '__main__':
    sys.exit(trace_case.main(__doc__, CASES))
