#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the command mcp over raw lines: the protocol, the tools, and answers to bad input.

    tests/mcp/run.py --program build/check/tfprof [NAME...]
"""
import ctypes
import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
from cases import TESTDATA, equal  # noqa: E402
from client import PATIENCE, REVISION, Server  # noqa: E402

TRACE = 'traces/training.pt.trace.json.gz'
NSYS = 'traces/nsys.sqlite'
TOOLS = ['open', 'summary', 'table', 'peek', 'compare', 'what_if', 'memory', 'help']


def serve(*words, begin=True):
    return Server(ARGS.program, '--allow', TESTDATA, *words, begin=begin)


def document(*words):
    """Returns the JSON document of a command line."""
    out = subprocess.run([ARGS.program, *words, '-output', 'json'], capture_output=True, check=True, timeout=PATIENCE)
    return json.loads(out.stdout)


# ---- protocol ----

def negotiates():
    """A known revision is accepted; for another one the server offers its newest."""
    for asked, given in [(r, r) for r in ('2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05')] + [('1999-01-01', REVISION)]:
        with serve(begin=False) as s:
            result = s.ask('initialize', protocolVersion=asked, capabilities={}, clientInfo={})['result']
            equal(result['protocolVersion'], given, asked)
            equal(sorted(result['capabilities']), ['prompts', 'resources', 'tools'])
            equal(result['serverInfo']['name'], 'tfprof')
    with serve(begin=False) as s:
        equal(s.ask('initialize', protocolVersion=7)['error']['code'], -32602)


def states_revision():
    """Requests of revision 2026-07-28 need no initialize; another stated revision is refused with the supported ones."""
    key = 'io.modelcontextprotocol/'
    meta = {key + 'protocolVersion': '2026-07-28', key + 'clientCapabilities': {}}
    with serve(begin=False) as s:
        found = s.ask('server/discover', _meta=meta)['result']
        assert '2026-07-28' in found['supportedVersions'] and found['resultType'] == 'complete', found
        tools = s.ask('tools/list', _meta=meta)['result']
        assert tools['resultType'] == 'complete' and tools['ttlMs'] >= 0 and tools['cacheScope'] == 'private', list(tools)
        equal(s.ask('tools/list', _meta={key + 'protocolVersion': '2026-07-28'})['error']['code'], -32602)
        error = s.ask('tools/list', _meta=dict(meta, **{key + 'protocolVersion': '2030-01-01'}))['error']
        equal((error['code'], error['data']['requested']), (-32022, '2030-01-01'))
        assert 'resultType' not in s.ask('tools/list')['result']


def lists():
    """Tools, resources and prompts are listed; each tool is read-only, and has a schema with its required arguments."""
    with serve() as s:
        equal(s.ask('ping')['result'], {})
        tools = s.ask('tools/list')['result']['tools']
        equal([t['name'] for t in tools], TOOLS)
        for t in tools:
            assert t['annotations'] == {'readOnlyHint': True} and t['inputSchema']['type'] == 'object', t
            assert set(t['inputSchema'].get('required', [])) <= set(t['inputSchema']['properties']), t
        uris = [r['uri'] for r in s.ask('resources/list')['result']['resources']]
        text = s.ask('resources/read', uri=uris[0])['result']['contents'][0]
        assert text['uri'] == uris[0] and len(text['text']) > 100
        assert s.ask('resources/templates/list')['result']['resourceTemplates'][0]['uriTemplate'] == 'tfprof://help/{topic}'
        assert 'idle' in s.ask('resources/read', uri='tfprof://help/idle')['result']['contents'][0]['text']
        equal(s.ask('resources/read', uri='tfprof://help/no-such')['error']['code'], -32002)
        equal(s.ask('resources/read', uri='file:///etc/passwd')['error']['code'], -32002)
        prompts = s.ask('prompts/list')['result']['prompts']
        equal([p['name'] for p in prompts], ['diagnose', 'explain_change'])
        text = s.ask('prompts/get', name='diagnose', arguments={'file': 'a.json'})['result']['messages'][0]
        assert text['role'] == 'user' and 'a.json' in text['content']['text'], text
        equal(s.ask('prompts/get', name='diagnose')['error']['code'], -32602)


def malformed():
    """Malformed messages get errors with their codes, and the server goes on."""
    bad = [(b'{"a\n', -32700), (b'{"jsonrpc":"2.0","id":1,"method":"ping"\n', -32700), (b'{"a":1,}\n', -32700),
           (b'{"a":NaN}\n', -32700), (b'\x1f\x8b\x08\n', -32700), (b'\xff\xfe{\x00\n', -32700), (b'[' * 1000 + b'\n', -32700),
           (b'{"jsonrpc":"2.0","id":1,"method":"ping"} x\n', -32700), (b'[]\n', -32600), (b'{}\n', -32600),
           (b'{"id":-}\n', -32700), (b'[1e]\n', -32700), (b'-\n', -32700), (b'1.\n', -32700), (b'nul\n', -32700), (b'7 7\n', -32700),
           (b'"x"\n', -32600), (b'7\n', -32600), (b'null\n', -32600), (b' true\n', -32600), (b'-7.5e3\n', -32600), (b'{"jsonrpc":"1.0","id":1,"method":"ping"}\n', -32600),
           (b'{"jsonrpc":"2.0","id":{},"method":"ping"}\n', -32600), (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600),
           (b'{"jsonrpc":"2.0","id":1,"method":7}\n', -32600), (b'{"jsonrpc":"2.0","id":1,"method":"no/such"}\n', -32601),
           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}\n', -32602),
           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}\n', -32602),
           (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"help","arguments":[]}}\n', -32602)]
    with serve() as s:
        for line, code in bad:
            s.raw(line)
            equal(s.read()['error']['code'], code, line[:80])
        for line, words in ((b'{"a', 'malformed JSON at byte 3'), (b'{"a":1,}', 'malformed JSON at byte 6'), (b'\x1f', 'malformed JSON at byte 0'),
                            (b'[' * 99, 'JSON with more than 48 nested arrays and objects')):
            s.raw(line + b'\n')
            assert s.read()['error']['message'].startswith(words), words
        s.raw(b'\n\r\n{"jsonrpc":"2.0","method":"notifications/whatever"}\n{"jsonrpc":"2.0","id":9,"result":{}}\n')
        equal(s.ask('ping')['result'], {})


def batches():
    """Batches are answered as an array in revision 2025-03-26 only."""
    line = b'[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},{"jsonrpc":"2.0","id":2,"method":"ping"}]\n'
    with serve(begin=False) as s:
        s.ask('initialize', protocolVersion='2025-03-26')
        s.raw(line)
        equal([x['id'] for x in s.read()], [1, 2])
    with serve() as s:
        s.raw(line)
        equal(s.read()['error']['code'], -32600)


def long_lines():
    """A line of 100 MB gets an error and is not stored in memory; an incomplete line at the end is answered."""
    with serve() as s:
        for _ in range(100):
            s.raw(b'x' * 1000000)
        s.raw(b'\n')
        equal(s.read()['error']['code'], -32600)
        with open('/proc/%d/status' % s.process.pid) as f:
            peak = [int(x.split()[1]) for x in f if x.startswith('VmHWM')][0]
        assert peak < 100000 or 'san' in ARGS.program, '%d kB' % peak
        equal(s.ask('ping')['result'], {})
        s.raw(b'{"jsonrpc":"2.0","id":3,"method":"ping"}')
        s.process.stdin.close()
        equal(s.read()['id'], 3)
        equal(s.end(), 0)


def closed_pipes():
    """The server ends with status 0 if its input ends, or if its output has no reader."""
    with serve() as s:
        equal(s.end(), 0)
    s = serve()
    s.process.stdout.close()
    for i in range(3):
        try:
            s.send({'jsonrpc': '2.0', 'id': i, 'method': 'tools/list'})
        except BrokenPipeError:
            break
    try:
        s.process.stdin.close()
    except BrokenPipeError:
        pass
    s.process.stderr.close()
    equal(s.process.wait(PATIENCE), 0)


def texts():
    """Messages must be UTF-8; names of files and of nodes that are not have their bytes as \\xNN."""
    os.mkdir('in')
    with open(os.path.join(TESTDATA, 'example/profile_100'), 'rb') as f, open(b'in/\xf6\xbf\xbf\xbf', 'wb') as to:
        to.write(f.read())
    with open('in/trace.json', 'wb') as f:
        f.write(b'{"schemaVersion":1,"traceEvents":[{"ph":"X","cat":"cpu_op","name":"a\xf6\xbf\xbf\xbf","pid":1,"tid":1,"ts":1,"dur":9}]}')
    with Server(ARGS.program, '--allow', 'in') as s:
        s.raw(b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"peek","arguments":{"\xf6\xbf\xbf\xbf":1}}}\n')
        equal(s.read()['error']['code'], -32700)
        s.raw(b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n')
        equal(s.read()['error']['code'], -32700)
        equal(s.ask('ping')['result'], {})
        found = json.dumps(s.call('open')) + json.dumps(s.call('table', file='trace.json', view='op'))
        assert not re.search(r'\\ud[89a-f]', found), found
        assert 'a\\\\xf6' in found, found


def noise():
    """Random bytes and broken requests never end the server."""
    random.seed(41)
    good = json.dumps({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call',
                       'params': {'name': 'table', 'arguments': {'file': TRACE, 'view': 'kernels', 'filter': ['a<1']}}}).encode()
    with serve() as s:
        for _ in range(300):
            line = bytearray(good)
            for _ in range(random.randrange(1, 6)):
                at = random.randrange(len(line))
                line[at:at + random.randrange(3)] = bytes(random.randrange(256) for _ in range(random.randrange(3)))
            s.raw(bytes(line).replace(b'\n', b' ').replace(b'\r', b' ') + b'\n')
        s.send({'jsonrpc': '2.0', 'id': 'end', 'method': 'ping'})
        while True:
            answer = s.read()
            assert answer is not None
            if answer.get('id') == 'end':
                break
        equal(s.end(), 0)


def cancels():
    """A waiting request that is cancelled gets no answer, and other requests do; progress is reported during loading on
    request."""
    with serve() as s:
        s.raw(b''.join(json.dumps(x).encode() + b'\n' for x in [
            {'jsonrpc': '2.0', 'id': 'a', 'method': 'tools/call', 'params': {'name': 'summary', 'arguments': {'file': TRACE}}},
            {'jsonrpc': '2.0', 'id': 'b', 'method': 'tools/call', 'params': {'name': 'summary', 'arguments': {'file': TRACE}}},
            {'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 'b', 'reason': 'test'}},
            {'jsonrpc': '2.0', 'id': 'c', 'method': 'ping'}]))
        ids = []
        while not ids or ids[-1] != 'c':
            ids.append(s.read()['id'])
        assert ids in (['a', 'c'], ['a', 'b', 'c']), ids  # b may be answered before the line about it arrives


def cancels_running():
    """A running request is cancelled: loading a large trace ends early and gets no answer."""
    head = '{"schemaVersion":1,"traceEvents":['
    event = '{"ph":"X","cat":"cpu_op","name":"op%d","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"External id":%d}}'
    with open('large.json', 'w') as f:
        f.write(head + ','.join(event % (i % 100, 2 * i, i) for i in range(400000)) + ']}')
    with Server(ARGS.program) as s:
        s.send({'jsonrpc': '2.0', 'id': 1, 'method': 'tools/call', 'params': {
            '_meta': {'progressToken': 'p'}, 'name': 'summary', 'arguments': {'file': 'large.json'}}})
        progress = s.read()
        if progress.get('method') != 'notifications/progress':
            raise cases.Skip('the trace was read before the first notification')
        equal(progress['params']['progressToken'], 'p')
        assert 0 < progress['params']['progress'] <= progress['params']['total'] == os.path.getsize('large.json'), progress
        s.send({'jsonrpc': '2.0', 'method': 'notifications/cancelled', 'params': {'requestId': 1}})
        s.send({'jsonrpc': '2.0', 'id': 2, 'method': 'ping'})
        seen = []
        while not seen or seen[-1] != 2:
            seen.append(s.read().get('id'))
        assert 1 not in seen, seen


# ---- files ----

def stays_inside():
    """Only files below the allowed folders are read, after links are resolved; pipes and devices are refused."""
    os.makedirs('in/sub')
    shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'in/sub/profile')
    shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'outside')
    os.symlink('../outside', 'in/link')
    os.symlink('sub/profile', 'in/good')
    os.symlink('../..', 'in/sub/up')
    os.mkfifo('in/pipe')
    with Server(ARGS.program, '--allow', 'in') as s:
        assert s.call('table', file='sub/profile', view='op')['rows']
        assert s.call('table', file='good', view='op')['rows']
        for path in ('../outside', 'link', os.path.abspath('outside'), '/etc/passwd', '/no/such/file', 'sub/up/outside', 'sub',
                     '/proc/self/environ'):
            assert 'is outside of the allowed folders' in s.refused('table', file=path, view='op'), path
        assert 'does not exist' in s.fails('table', file='nothing', view='op')
        assert 'is neither a file nor a folder' in s.fails('table', file='pipe', view='op')
        s.fails('table', file='a\0b', view='op')
        assert 'a file is expected' in s.fails('table', file=',,', view='op')
        listed = s.call('open')['profiles']
        equal([x['path'] for x in listed], ['good', 'sub/profile'])
    with Server(ARGS.program, '--allow', 'in', os.path.join(TESTDATA, 'example')) as s:
        assert s.call('table', file='profile_200', view='op')['rows']
    out = subprocess.run([ARGS.program, 'mcp', '--allow', 'nowhere'], capture_output=True, stdin=subprocess.DEVNULL)
    assert out.returncode and b'nowhere' in out.stderr, out


def exchanged_links():
    """A folder that is exchanged with a link to the outside, between the check of the path and its use, is not followed."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(444, None, 0, 1) < 1 or not hasattr(libc, 'renameat2'):  # landlock_create_ruleset: the version
        raise cases.Skip('the kernel has no Landlock, or the C library no renameat2')
    for folder, name in (('in/folder', 'inside'), ('out', 'secret')):
        os.makedirs(folder)
        with open(folder + '/graph.pbtxt', 'w') as f:
            f.write('node { name: "%s" op: "Const" }%s' % (name, ' ' * len(folder)))
    os.symlink('../out', 'in/link')
    ends = threading.Event()

    def exchange():
        while not ends.is_set():
            libc.renameat2(-100, b'in/folder', -100, b'in/link', 2)  # AT_FDCWD, RENAME_EXCHANGE
    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        with Server(ARGS.program, '--allow', 'in') as s:
            answers = [json.dumps(s.ask('tools/call', name='table', arguments={
                'file': 'folder/graph.pbtxt', 'view': 'scope', 'options': ['-select', 'params']})) for _ in range(1000)]
    finally:
        ends.set()
        thread.join()
    assert not [a for a in answers if 'secret' in a]
    assert [a for a in answers if 'inside' in a] or len(set(answers)) > 1, answers[0]


def writes_nothing():
    """Options that write files are refused, and calls leave no file behind."""
    shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'p')
    before = sorted(os.listdir('.'))
    with Server(ARGS.program) as s:
        for words in (['-output', 'file:outfile=x'], ['--output=timeline:outfile=x'], ['-dump_to_file', 'x'], ['-viz'], ['-o', 'x']):
            assert 'refused' in s.refused('table', file='p', view='scope', options=words), words
        for tool, more in (('summary', {}), ('memory', {}), ('peek', {'name': 'Conv2D'})):
            s.ask('tools/call', name=tool, arguments=dict(more, file='p'))
        s.fails('table', file='p', view='scope', options=['--gate', 'x'])
    equal(sorted(os.listdir('.')), before)


def memory_of_trace():
    """The tool memory says what was allocated at the peak, without the series that charts are drawn from."""
    events = [{'ph': 'i', 'name': '[memory]', 'ts': i, 'pid': 1, 'tid': 1, 'args': {'Device Type': 1, 'Device Id': 0, 'Addr': i % 150, 'Bytes': by}}
              for i, by in enumerate([512] * 150 + [-512] * 150)]
    events.append({'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::empty', 'ts': 0, 'dur': 400, 'pid': 1, 'tid': 1, 'args': {}})
    with open('m.pt.trace.json', 'w') as f:
        json.dump({'schemaVersion': 1, 'traceEvents': events}, f)
    with Server(ARGS.program) as s:
        found = s.call('memory', file='m.pt.trace.json')
        equal([(r['bytes'], r['op']) for r in found['live']], [(150 * 512, 'aten::empty')])
        equal([(r['peak_bytes'], r['allocations']) for r in found['memory']], [(150 * 512, 150)])
        equal(('live_at' in found, found['truncated']), (False, False))


def opens_no_network():
    """The process has no socket after calls."""
    with serve() as s:
        s.call('summary', file=TRACE)
        folder = '/proc/%d/fd' % s.process.pid
        links = [os.readlink(os.path.join(folder, x)) for x in os.listdir(folder)]
        assert not [x for x in links if x.startswith('socket')], links


def lists_by_content():
    """The listing names files by their content: JSON that is not a profile, whatever its name, counts as another file."""
    for name, text in (('package.json', '{"name": "x"}'), ('notes.json', 'hello'), ('rows.json.gz', '[1, 2]'), ('graph.txt', '7'), ('empty.json', '')):
        with open(name, 'w') as f:
            f.write(text)
    shutil.copy(os.path.join(TESTDATA, TRACE), 'any.name')
    shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'package.pb')
    with Server(ARGS.program) as s:
        found = s.call('open')
    equal([(x['path'], x['format']) for x in found['profiles']], [('any.name', 'JSON trace'), ('package.pb', 'profile')])
    equal(found['other_files'], 5)


def reloads():
    """An input stays loaded between calls, and is read again after it changed."""
    shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'p')
    with Server(ARGS.program) as s:
        first = s.call('table', file='p', view='op')
        equal(s.call('table', file='p', view='op'), first)
        shutil.copy(os.path.join(TESTDATA, 'example/profile_200'), 'p')
        os.utime('p', ns=(1, 1))
        assert s.call('table', file='p', view='op')['rows'] != first['rows']
        for i in range(6):  # more inputs than stay loaded
            shutil.copy(os.path.join(TESTDATA, 'example/profile_100'), 'p%d' % i)
            equal(s.call('table', file='p%d' % i, view='op')['rows'], first['rows'])
        os.remove('p')
        assert 'does not exist' in s.fails('table', file='p', view='op')


# ---- tools ----

def arguments():
    """Wrong types, missing and unknown arguments are refused with a sentence that names them."""
    with serve() as s:
        for tool, given, words in [
                ('nope', {}, "unknown tool 'nope'"), ('summary', {}, "argument 'file' of summary is missing"),
                ('summary', {'file': 7}, "argument 'file' must be a string"), ('summary', {'file': TRACE, 'x': 1}, "unknown argument 'x'"),
                ('table', {'file': TRACE, 'view': 'x'}, "'x' is not one of"), ('table', {'file': TRACE}, 'view'),
                ('table', {'file': TRACE, 'view': 'op', 'limit': 1.5}, 'integer'), ('table', {'file': TRACE, 'view': 'op', 'limit': '3'}, 'integer'),
                ('table', {'file': TRACE, 'view': 'op', 'limit': 0}, 'at least 1'),
                ('table', {'file': TRACE, 'view': 'op', 'filter': [1]}, 'array of strings'),
                ('table', {'file': TRACE, 'view': 'op', 'filter': ['nix=1']}, "unknown column 'nix'; the columns are"),
                ('table', {'file': TRACE, 'view': 'op', 'filter': ['nodes<x']}, 'number'),
                ('table', {'file': TRACE, 'view': 'op', 'filter': ['path~(']}, '('), ('table', {'file': TRACE, 'view': 'op', 'sort': 'nix'}, 'nix'),
                ('table', {'file': TRACE, 'view': 'op', 'columns': ['nix']}, 'nix'),
                ('summary', {'file': TRACE, 'max_tokens': 1}, 'max_tokens'), ('what_if', {'file': TRACE, 'changes': ['x']}, "'x' is not a change"),
                ('what_if', {'file': TRACE, 'changes': ['-output']}, 'not a change'), ('peek', {'file': TRACE, 'name': '-n'}, 'name')]:
            assert words in s.refused(tool, **given), (tool, given, words)
        for tool, given, words in [('summary', {'file': 'traces/README.md'}, 'README.md'), ('memory', {'file': TRACE}, 'no allocations'),
                                   ('table', {'file': TRACE, 'view': 'op', 'options': ['-stp', '3']}, "did you mean '-step'"),
                                   ('help', {'topic': 'nosuchtopic'}, 'nosuchtopic'), ('peek', {'file': TRACE, 'name': 'no_such_name'}, 'no_such_name')]:
            assert words in s.fails(tool, **given), (tool, given, words)


def same_numbers():
    """Numbers and evidence ids are those of the JSON documents of the commands."""
    path = os.path.join(TESTDATA, TRACE)
    with serve() as s:
        why, summary = document('why', path), s.call('summary', file=TRACE, max_tokens=20000)
        for name in ('verdict', 'cause', 'step_ns', 'not_judged'):
            equal(summary[name], why[name], name)
        equal([e['id'] for c in summary['causes'] for e in c['evidence']], [e['id'] for c in why['causes'] for e in c['evidence']])
        equal(summary['causes'], why['causes'])
        for view in ('kernels', 'steps', 'devices'):
            rows = document(view, path, '--top=0')['rows']
            found = s.call('table', file=TRACE, view=view, max_tokens=50000)
            equal(found['total'], len(rows), view)
            for row, other in zip(found['rows'], rows):
                for name, value in row.items():
                    if name not in ('id', 'share_percent'):
                        equal(value, other[name], name)
        change = s.call('what_if', file=TRACE, changes=['cause:input_pipeline'])
        equal(change['after_ns'], document('what-if', path, 'cause:input_pipeline')['after_ns'])


def tables():
    """Filters, order, columns, pages and ids of rows."""
    with serve() as s:
        whole = s.call('table', file=TRACE, view='steps')
        equal((whole['total'], whole['shown'], whole['truncated']), (8, 8, False))
        page = s.call('table', file=TRACE, view='steps', limit=3)
        equal((page['shown'], page['truncated'], page['next']['arguments']['offset']), (3, True, 3))
        again = s.call('table', **page['next']['arguments'])
        equal([r['id'] for r in again['rows']], [r['id'] for r in whole['rows']][3:6])
        sorted_rows = s.call('table', file=TRACE, view='steps', sort='-duration_ns', columns=['step', 'duration_ns'])['rows']
        times = [r['duration_ns'] for r in sorted_rows]
        equal(times, sorted(times, reverse=True))
        equal(sorted({k for r in sorted_rows for k in r}), ['duration_ns', 'id', 'step'])
        equal({r['id'] for r in sorted_rows}, {r['id'] for r in whole['rows']})
        few = s.call('table', file=TRACE, view='steps', filter=['step>=12', 'step<14', 'name!=x', 'name~#1[23]$'])
        equal([r['step'] for r in few['rows']], [12, 13])
        equal((few['total'], few['without_filter']), (2, 8))
        equal(s.call('table', file=TRACE, view='kernels', filter='gemm')['total'], 1)
        equal(s.call('table', file=TRACE, view='kernels', filter=['category!~kernel'])['rows'][0]['category'], 'copy')
        none = s.call('table', file=TRACE, view='kernels', filter=['category=memset', 'category=memcpy', 'name=x', 'count>0'])
        equal((none['total'], sorted(none['values'])), (0, ['category']))
        equal(sorted(none['values']['category']), ['copy', 'kernel'])
        assert 'values' not in s.call('table', file=TRACE, view='kernels', filter=['category=kernel', 'category=copy'])
        nodes = s.call('table', file=TRACE, view='scope', filter=['accounted=true'], columns=['path', 'device', 'accounted'])['rows']
        assert nodes and all(r['accounted'] is True and isinstance(r['device'], list) for r in nodes)
        row = s.call('table', file=TRACE, view='op')['rows'][0]
        equal(s.call('peek', file=TRACE, name=row['id'])['name'], row['path'])


def budgets():
    """Answers respect max_tokens, state what is left out, and name the call that returns more."""
    with serve() as s:
        for tokens in (300, 600, 2000, 8000):
            for tool, more in (('summary', {}), ('table', {'view': 'scope'}), ('table', {'view': 'critical'}), ('peek', {'name': 'addmm'})):
                text = s.text(tool, file=TRACE, max_tokens=tokens, **more)
                assert len(text) < 5 * tokens, (tool, tokens, len(text))
                found = json.loads(text)
                if found['truncated']:
                    assert 'next' in found and (tool != 'table' or found['shown'] < found['total']), found
        cut = s.call('peek', file=TRACE, name='addmm', max_tokens=400)
        assert cut['truncated'] and cut['cut'], cut
        for counts in cut['cut'].values():
            assert counts['shown'] < counts['total'], cut['cut']
        whole = s.call('peek', **cut['next']['arguments'])
        assert not whole['truncated'], whole.get('cut')


def compares():
    """Two profiles are compared, with steps if wanted; names of columns follow the arguments."""
    with serve() as s:
        found = s.call('compare', before='example/profile_100', after='example/profile_200')
        row = [r for r in found['rows'] if r['path'] == 'DecodeJpeg'][0]
        equal(row['total_micros_after'] - row['total_micros_before'], row['difference_micros'])
        steps = s.call('compare', before='example/profile_100@slowest', after='example/profile_100@fastest', view='scope')
        assert steps['rows'][0]['difference_micros'] < 0, steps['rows'][0]
        both = s.call('compare', before='example/profile_100', after='example/profile_100')
        equal(both['rows'], [])
        gated = s.call('compare', before='example/profile_100', after='example/profile_200', options=['--gate=total.micros<1us'])
        equal([(g['rule'], g['result']) for g in gated['gates']], [('total.micros<1us', 'fails')])
        equal(gated['rows'], found['rows'])
        assert 'outside' in s.refused('compare', before='example/profile_100', after='/etc/passwd')
        for before, after in (TRACE + '@8', NSYS), (NSYS, TRACE + '@8'), (TRACE + '@8', TRACE + '@9'):
            assert "TRACE@8' needs another view".replace('TRACE', TRACE) in s.refused('compare', before=before, after=after, view='why')
        assert 'both are the same' in s.refused('compare', before=TRACE, after=TRACE, view='why')
        s.fails('compare', before='example/profile_100', after='example/nothing')


CASES = [negotiates, states_revision, lists, malformed, batches, long_lines, closed_pipes, texts, noise, cancels, cancels_running,
         stays_inside, exchanged_links, writes_nothing, memory_of_trace, opens_no_network, lists_by_content, reloads, arguments, same_numbers, tables, budgets, compares]

if __name__ == '__main__':
    ARGS = cases.arguments(__doc__)
    sys.exit(cases.run([c for c in CASES if not ARGS.names or c.__name__ in ARGS.names]))
