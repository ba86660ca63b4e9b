#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests reports and the server without a browser: the contents of the file, and the answers and refusals of the server.

    tests/web/serve_run.py --program build/check/tfprof [NAME...]
"""
import argparse
import base64
import gzip
import hashlib
import http.client
import json
import os
import re
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), 'check')]
import cases  # noqa: E402
import inputs  # noqa: E402
from built import has  # noqa: E402


PATIENCE = 600  # seconds after which a test counts as hanging


class Server:
    def __init__(self, *words, files=None):
        """files: maximum descriptors of the server."""
        limit = files and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        self.process = subprocess.Popen([ARGS.program, 'serve', *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                        preexec_fn=limit)
        self.url = self.process.stdout.readline().strip()
        found = re.fullmatch(r'http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/', self.url)
        assert found, self.url + self.process.stderr.read()
        self.port, self.token = int(found[1]), found[2]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGINT)
        self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, self.process.returncode

    def ask(self, path, method='GET', body=None, token=None, **headers):
        c = http.client.HTTPConnection('127.0.0.1', self.port, timeout=PATIENCE)
        c.putrequest(method, '/%s/%s' % (self.token if token is None else token, path), skip_host='Host' in headers)
        for name, value in headers.items():
            c.putheader(name.replace('_', '-'), value)
        if body:
            c.putheader('Content-Length', str(len(body)))
        c.endheaders(body)
        answer = c.getresponse()
        return answer.status, answer.read().decode(), answer

    def run(self, *words):
        return self.ask('v1/run?' + '&'.join('w=' + ''.join('%%%02x' % b for b in w.encode()) for w in words))


def documents(path):
    """Returns the documents in a report."""
    with open(path) as f:
        text = f.read()
    data = json.loads(gzip.decompress(base64.b64decode(re.search(r'<script id="data" type="application/octet-stream">([^<]*)</script>', text)[1])))
    assert data['version'] == 1
    return text, data['documents']


def rows(d):
    """Returns the rows of a document with arrays, in the form of -output json."""
    text, before = [], ''
    for shared, rest in zip(d['shared'], d['rest']):
        before = before.encode('utf-16-le')[:2 * shared].decode('utf-16-le') + rest
        text.append(before)
    def value(column, v):  # noqa: E306
        if v is None or column['type'] in ('integer', 'number'):
            return v
        if column['type'] == 'boolean':
            return bool(v)
        return [text[i] for i in d['lists'][v]] if column['type'] == 'array' else text[v]
    arrays = []
    for a in d['arrays']:
        if isinstance(a, dict) and 'steps' in a:
            at, full = 0, []
            for step in a['steps']:
                at += step or 0
                full.append(None if step is None else at)
            a = full
        elif isinstance(a, dict):
            base, row = arrays[a['base']], 0
            full = list(base) if isinstance(base, list) else [base] * d['count']
            for step, v in zip(a['rows'], a['values']):
                row += step
                full[row] = v
            a = full
        arrays.append(a)
    return [{c['name']: value(c, a[i] if isinstance(a, list) else a) for c, a in zip(d['columns'], arrays)} for i in range(d['count'])]


def program(*words):
    p = subprocess.run([ARGS.program, *words], capture_output=True, text=True)
    assert p.returncode == 0, p.stderr
    return p.stdout


def report_has_the_commands_numbers():
    """Every view in a report equals, cell by cell, the output of the command with -output json."""
    for name in ('profile', 'xspace', 'pytorch', 'graph', 'hostile'):
        _, found = documents(inputs.report(ARGS.program, inputs.words(name), 'r.html'))
        for x in [x for x in found if 'arrays' in x['document'] and x['document'].get('view')]:
            o = x['document']['options']
            plain = json.loads(program(*x['words'], '-max_depth', str(o['max_depth']), '-select', ','.join(o['select']), '-output', 'json'))
            assert rows(x['document']) == plain['rows'], (name, x['words'])
            assert x['document']['total'] == plain['total']


def report_is_closed():
    """The file's policy forbids every connection and allows exactly its own script and style, by hash."""
    text, _ = documents(inputs.report(ARGS.program, [os.path.join(inputs.EXAMPLE, 'profile_100')], 'r.html'))
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy and 'worker-src blob:;' in policy and 'unsafe' not in policy, policy
    for kind, part in (('script-src', re.findall(r'<script>(.*?)</script>', text, re.S)), ('style-src', re.findall(r'<style>(.*?)</style>', text, re.S))):
        assert len(part) == 1
        digest = base64.b64encode(hashlib.sha256(part[0].encode()).digest()).decode()
        assert "%s 'sha256-%s'" % (kind, digest) in policy, kind
    assert not re.search(r'\bon\w+="|javascript:|https?://(?!www\.w3\.org/)', re.sub(r'octet-stream">[^<]*', '', text)), 'a handler or an address'
    assert len(re.sub(r'octet-stream">[^<]*', '', text)) <= 150000


def report_of_two_sides():
    """Two profiles give their difference; a graph and its step are one input."""
    words = inputs.words('diff')
    _, found = documents(inputs.report(ARGS.program, words, 'r.html'))
    assert {x['name'] for x in found} == {'diff'} and {x['document']['view'] for x in found} >= {'scope', 'op'}
    plain = json.loads(program('diff', 'scope', *words, '--delta', '0', '--min_size', '0', '-select', 'micros,bytes', '-output', 'json'))
    mine = {r['path']: r['difference_micros'] for r in rows(found[0]['document'])}
    assert all(mine[r['path']] == r['difference_micros'] for r in plain['rows'])
    _, found = documents(inputs.report(ARGS.program, [os.path.join(inputs.EXAMPLE, f) for f in ('graph.pbtxt', 'run_meta_0')], 'r.html'))
    assert 'scope' in {x['name'] for x in found}


def report_of_ranks():
    """Traces that why takes for ranks of one job are one page with all files and the verdict about the job, as their folder is; two runs
    are compared. --as overrides this."""
    folder = inputs.words('workers')[0]
    ranks = [os.path.join(folder, f) for f in sorted(os.listdir(folder))]
    def of(*words):
        return documents(inputs.report(ARGS.program, list(words), 'r.html'))[1]
    expected = [(x['name'], [w for w in x['words'] if w != folder and w not in ranks]) for x in of(folder)]
    found = of(*ranks)
    assert [(x['name'], [w for w in x['words'] if w not in ranks]) for x in found] == expected
    assert [x['words'] for x in found if x['name'] == 'why'] == [['why', r] for r in ranks]
    job = next(x for x in found if x['name'] == 'job')
    assert job['words'] == ['why', *ranks]
    assert job['document']['causes'] == json.loads(program(*job['words'], '--top', '0', '-output', 'json'))['causes']
    assert {x['name'] for x in of(*ranks, '--as=runs')} == {'diff'} == {x['name'] for x in of(ranks[0], ranks[0])}
    more = [shutil.copy(ranks[0], 'copy%d.pt.trace.json' % i) for i in range(3)]
    assert [x['words'] for x in of(*more) if x['name'] in ('job', 'steps')] == [['why', *more], *(['steps', m] for m in more)]
    assert [x['words'] for x in of(*more[:2], '--as=ranks') if x['name'] == 'job'] == [['why', *more[:2], '--as=ranks']]


def report_takes_flags():
    """Inputs named by the original's flags, before the command or after it, are those of the files."""
    graph, step = (os.path.join(inputs.EXAMPLE, f) for f in ('graph.pbtxt', 'run_meta_0'))
    expected = [x['document']['rest'] for x in documents(inputs.report(ARGS.program, [graph, step], 'r.html'))[1] if x['name'] == 'scope']
    for words in (['report', '--graph_path=' + graph, '--run_meta_path=' + step, '-o', 'f.html'], ['--graph_path', graph, 'report', '--run_meta_path', step, '-o', 'f.html'],
                  ['report', '--run_meta_path=' + step, graph, '-o', 'f.html']):
        program(*words)
        found = documents('f.html')[1]
        assert [x['document']['rest'] for x in found if x['name'] == 'scope'] == expected
        plain = json.loads(program(*found[0]['words'], '-max_depth', '1', '-output', 'json'))
        assert plain['total']['micros'] == found[0]['document']['total']['micros'], found[0]['words']
    with Server('--graph_path=' + graph, '--run_meta_path=' + step) as s:
        assert json.loads(s.run('scope', '-max_depth', '1', '-output', 'json')[1])['total'] == plain['total']


def report_takes_flags_of_the_process():
    """Flags such as --max-memory count before the command and after it, and do not make two profiles one input."""
    words = [os.path.join(inputs.EXAMPLE, 'profile_100')]
    for flag in ('--max-memory=1Gi', '--color=never', '--no-pager', '--recover'):
        for line in ([flag, 'report', *words], ['report', flag, *words], ['report', *words, flag]):
            program(*line, '-o', 'p.html')
            assert {'scope', 'op'} <= {x['name'] for x in documents('p.html')[1]}, line
        program('report', *inputs.words('diff'), flag, '-o', 'd.html')
        assert {x['name'] for x in documents('d.html')[1]} == {'diff'}, flag
    for line in (['--max-memory=1k', 'report', *words], ['report', '--max-memory=1k', *words]):
        p = subprocess.run([ARGS.program, *line, '-o', 'no.html'], capture_output=True, text=True)
        assert p.returncode and 'memory limit' in p.stderr and not os.path.exists('no.html'), (line, p.stderr)
    with Server('--max-memory=1Gi', *words) as s:
        assert s.run('scope', '-output', 'json')[0] == 200


def report_is_small():
    """A report about 100,000 nodes has at most 5 MB."""
    path = inputs.report(ARGS.program, inputs.words('large'), 'r.html')
    assert os.path.getsize(path) <= 5 << 20, os.path.getsize(path)
    assert documents(path)[1][0]['document']['count'] >= 200000, 'nodes and their scopes'


def report_refuses():
    """Files without anything to show: exit status 2 for known kinds, 3 for others, with an error message."""
    for name, data in (('ckpt.index', b'x'), ('ckpt.data-00000-of-00001', b'x'), ('empty.pb', b''), ('text', b'no profile\n' * 10)):
        inputs.write(name, data)
    for words, status, sentence in ((['ckpt'], 2, 'a checkpoint has no graph'), ([os.path.join(inputs.ROOT, 'testdata/recorded/mlp_0/op_log.pb')], 2, 'is an op log, which has no nodes'),
                                    (['none'], 3, "cannot open 'none'"), (['empty.pb'], 3, "'empty.pb' is empty"), (['text'], 3, "the format of 'text' is unknown")):
        p = subprocess.run([ARGS.program, 'report', *words, '-o', 'refused.html'], capture_output=True, text=True)
        assert p.returncode == status and sentence in p.stderr and not os.path.exists('refused.html'), (words, p.returncode, p.stderr)


def views_write_pages():
    """-output html works for single commands."""
    for words in (['op', inputs.words('profile')[0]], ['devices', inputs.words('xspace')[0]], ['diff', *inputs.words('diff')]):
        program(*words, '-output', 'html:outfile=v.html')
        assert [x['name'] for x in documents('v.html')[1]] == words[:1]


def serve_answers():
    """The server answers with the page, the list and each listed document; documents equal those of the report."""
    words = inputs.words('xspace')
    found = documents(inputs.report(ARGS.program, words, 'r.html'))[1]
    with Server(*words) as s:
        status, page, answer = s.ask('')
        assert status == 200 and '>live</script>' in page and answer.getheader('X-Content-Type-Options') == 'nosniff'
        listed = json.loads(s.ask('v1/index')[1])['documents']
        assert [x['name'] for x in listed] == [x['name'] for x in found]
        for x, y in zip(listed, found):
            status, text, _ = s.run(*x['run'])
            assert status == 200 and json.loads(text) == y['document'], x
        status, text, _ = s.run('op', '-step', '3', '-max_depth', '2', '-output', 'json')
        assert status == 200 and json.loads(text)['steps']['asked'] == '3'


def serve_answers_for_workers():
    """Each worker's trace answers as its file does; other numbers are refused."""
    folder = inputs.words('workers')[0]
    with Server(folder) as s:
        listed = json.loads(s.ask('v1/index')[1])['documents']
        assert all(s.run(*x['run'])[0] == 200 for x in listed)
        listed = [x for x in listed if x['run'][0].startswith('@')]
        assert {x['run'][0] for x in listed} == {'@1', '@2'} and {x['name'] for x in listed} == {'devices', 'kernels', 'steps', 'slices', 'critical', 'idle', 'why', 'names'}
        for x in listed:
            status, text, _ = s.run(*x['run'])
            assert status == 200, text
            if x['name'] not in ('slices', 'names'):
                key = {'critical': 'segments', 'idle': 'devices', 'why': 'causes'}.get(x['name'], x['name'])
                assert json.loads(text)[key] == json.loads(program(*x['words'], '--top', '0', '-output', 'json'))[key]
        for k in ('@0', '@3', '@', '@x'):
            status, text, _ = s.run(k, 'devices', '-output', 'json')
            assert (status, text) == (400, 'the requested trace is not loaded\n'), text
        assert s.run('@1')[0] == 400


def serve_reduces_slices():
    """With fewer rows than slices, the total time of each lane is unchanged; for a part of the time, only its slices are
    returned."""
    with Server(*inputs.words('xspace')) as s:
        every = json.loads(s.run('slices', '0', '0', '1000')[1])
        few = json.loads(s.run('slices', '0', '0', '10')[1])
        assert every['resolution_ns'] == 0 and few['resolution_ns'] > 0 and few['count'] < every['count']
        assert sum(r['count'] for r in rows(few)) == sum(r['count'] for r in rows(every))
        part = rows(json.loads(s.run('slices', '2000', '3000', '1000')[1]))
        assert part and all(r['start_ns'] < 3000 and r['start_ns'] + r['duration_ns'] >= 2000 for r in part)
        for words, text in ((['slices', '0'], 'slices takes three numbers'), (['slices', '0', '0', '0'], 'slices returns 1 to')):
            status, said, _ = s.run(*words)
            assert status == 400 and said.startswith(text), said


def serve_refuses():
    """Other hosts, origins, tokens, methods, addresses, commands and outputs are refused."""
    with Server(inputs.words('profile')[0]) as s:
        own = '127.0.0.1:%d' % s.port
        for expected, path, more in ((403, '', {'Host': 'evil.example'}), (403, '', {'Host': 'evil.example:%d' % s.port}), (403, '', {'Origin': 'http://evil.example'}),
                                     (403, '', {'Origin': 'null'}), (403, '', {'Sec_Fetch_Site': 'cross-site'}), (403, '', {'token': '0' * 32}), (403, '', {'token': ''}),
                                     (403, '', {'token': s.token[:-1]}), (404, 'v1/', {}), (404, '../' + s.token + '/', {}), (404, '%2e%2e/', {}), (400, 'v1/run?w=%zz', {}),
                                     (400, 'v1/run?w=%00', {}), (400, 'v1/run?x=op', {}), (400, 'v1/run?' + 'w=a&' * 65, {}), (414, 'v1/run?w=' + 'a' * 20000, {}),
                                     (200, '', {'Host': own}), (200, '', {'Host': 'localhost:%d' % s.port, 'Origin': 'http://' + own, 'Sec_Fetch_Site': 'same-origin'})):
            status = s.ask(path, **more)[0]
            assert status == expected, (expected, status, path[:40], more)
        with socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) as c:
            c.sendall(b'GET /%s/ HTTP/1.1\r\nHost: %s\r\nhost: evil.example\r\n\r\n' % (s.token.encode(), own.encode()))
            assert c.recv(100).startswith(b'HTTP/1.1 400 '), 'two headers Host'
        assert s.ask('', method='POST')[0] >= 400 and s.ask('', method='DELETE')[0] >= 400 and s.ask('', method='POST', body=b'x')[0] >= 400
        for words, text in ((['convert', '-output', 'profile:outfile=x'], 'the server does not run this command'), (['op'], 'the server supports only -output json'),
                            (['op', '-output', 'json:outfile=x'], 'the server supports only -output json'), (['scope', '-viz', '-output', 'json'], 'the server supports only -output json'),
                            (['scope', '-dump_to_file', 'x', '-output', 'json'], 'the server supports only -output json'), (['gpu', '/etc', '--output=json'], "unexpected '/etc' after 'devices'"),
                            (['diff', '/etc/passwd', '/etc/passwd', '-output', 'json'], 'the server does not run this command'), (['set', '-max_depth', '1'], 'the server does not run this command')):
            status, said, _ = s.run(*words)
            assert status == 400 and said.startswith(text), (words, said)
        assert not os.path.exists('x') and s.run('op', '-output', 'json')[0] == 200
        busy = subprocess.run([ARGS.program, 'serve', inputs.words('profile')[0], '--port=%d' % s.port], capture_output=True, text=True)
        assert busy.returncode == 1 and 'the port cannot be used: another program may have it' in busy.stderr, busy.stderr


def serve_answers_heads():
    """HEAD has the headers of GET, the length among them, and no body."""
    with Server(inputs.words('profile')[0]) as s:
        for path in ('', 'v1/index', 'none'):
            status, text, _ = s.ask(path)
            request = '/%s/%s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n' % (s.token, path, s.port)
            with socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) as c:
                c.sendall(b'HEAD ' + request.encode())
                said = b''.join(iter(lambda: c.recv(65536), b''))  # noqa: B023
            head, body = said.split(b'\r\n\r\n', 1)
            assert not body and head.startswith(b'HTTP/1.1 %d ' % status), said[:300]
            assert b'\r\nContent-Length: %d' % len(text.encode()) in head, head


def serve_survives():
    """After truncated, too long or non-HTTP requests, the server still answers."""
    with Server(inputs.words('profile')[0]) as s:
        for data in (b'', b'GET', b'\0' * 100, b'GET / HTTP/1.1\r\n' + b'A: b\r\n' * 20000, b'GET /%s/ HTTP/9.9\r\n\r\n' % s.token.encode(), b'GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n',
                     b'POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n', b'GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n'):
            with socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) as c:
                try:
                    c.sendall(data)
                    c.shutdown(socket.SHUT_WR)
                    c.recv(100)
                except OSError:
                    pass  # the server has closed the connection
            assert s.ask('v1/index')[0] == 200
        held = [socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) for _ in range(100)]
        assert s.ask('v1/index')[0] == 200
        for c in held:
            c.close()


def serve_ends_slow_requests():
    """The connection of a client that sends single bytes, and never a complete request, is closed."""
    with Server(inputs.words('profile')[0]) as s, socket.create_connection(('127.0.0.1', s.port), timeout=PATIENCE) as c:
        c.sendall(b'GET /%s/ HTTP/1.1\r\nX-Long: ' % s.token.encode())
        text = b''
        try:
            while not select.select([c], [], [], 0.3)[0]:
                c.send(b'a')
            text = c.recv(100)
        except ConnectionError:
            pass
        assert not text or b' 400 ' in text, text
        assert s.ask('v1/index')[0] == 200


def serve_answers_beside_idle_clients():
    """Clients that connect and send nothing leave enough descriptors for other clients."""
    with Server(inputs.words('profile')[0], files=40) as s:
        held = [socket.socket() for _ in range(200)]
        for c in held:
            c.setblocking(False)
            c.connect_ex(('127.0.0.1', s.port))
        assert s.ask('v1/index')[0] == 200
        for c in held:
            c.close()


def main():
    tests = [report_has_the_commands_numbers, report_is_closed, report_of_two_sides, report_of_ranks, report_takes_flags, report_takes_flags_of_the_process, report_is_small, report_refuses, views_write_pages]
    server = [serve_answers, serve_answers_for_workers, serve_reduces_slices, serve_refuses, serve_answers_heads, serve_survives, serve_ends_slow_requests, serve_answers_beside_idle_clients]
    if not has(ARGS.program, 'page'):
        print('skipped: no page in this build')
        print('0 passed, 0 failed, %d skipped' % len(tests + server))
        return 0
    if has(ARGS.program, 'libevent'):
        tests += server
    else:
        print('skipped: no libevent in this build')
    if ARGS.names:
        tests = [t for t in tests if any(n in t.__name__ for n in ARGS.names)]
    return cases.run(tests)


if __name__ == '__main__':
    a = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    a.add_argument('--program', default=os.path.join(inputs.ROOT, 'build/check/tfprof'))
    a.add_argument('names', nargs='*')
    ARGS = a.parse_args()
    ARGS.program = os.path.abspath(ARGS.program)
    sys.exit(main())
