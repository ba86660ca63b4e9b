# SPDX-License-Identifier: Apache-2.0
"""Exchanges JSON lines with tfprof mcp."""
import json
import subprocess

PATIENCE = 300  # seconds after which a test counts as hanging
REVISION = '2025-11-25'


class Server:
    """A running server. Its standard input and output are pipes."""

    def __init__(self, program, *words, begin=True):
        self.process = subprocess.Popen([program, 'mcp', *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.last, self.status = 0, None
        if begin:
            self.ask('initialize', protocolVersion=REVISION, capabilities={}, clientInfo={'name': 'test', 'version': '1'})
            self.send({'jsonrpc': '2.0', 'method': 'notifications/initialized'})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    def end(self):
        """Closes the pipe and returns the exit status."""
        if self.status is not None:
            return self.status
        if not self.process.stdin.closed:
            self.process.stdin.close()
        self.process.stdout.read()
        self.error = self.process.stderr.read().decode()
        for pipe in self.process.stdout, self.process.stderr:
            pipe.close()
        self.status = self.process.wait(PATIENCE)
        return self.status

    def raw(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b'\n')

    def read(self):
        """Returns the next message, or None at the end."""
        line = self.process.stdout.readline()
        return json.loads(line) if line else None

    def ask(self, method, **params):
        """Sends a request and returns its answer: {'result': ...} or {'error': ...}."""
        self.last += 1
        self.send({'jsonrpc': '2.0', 'id': self.last, 'method': method, 'params': params})
        answer = self.read()
        assert answer and answer['jsonrpc'] == '2.0' and answer['id'] == self.last, answer
        return answer

    def text(self, tool, **arguments):
        """Calls a tool and returns the text of its answer."""
        answer = self.ask('tools/call', name=tool, arguments=arguments)
        result = answer.get('result')
        assert result and not result['isError'], answer
        return result['content'][0]['text']

    def call(self, tool, **arguments):
        return json.loads(self.text(tool, **arguments))

    def fails(self, tool, **arguments):
        """Returns the error message of a call that the tool cannot fulfil."""
        answer = self.ask('tools/call', name=tool, arguments=arguments)
        assert answer.get('result', {}).get('isError'), answer
        return answer['result']['content'][0]['text']

    def refused(self, tool, **arguments):
        """Returns the error message of a call whose arguments are refused."""
        answer = self.ask('tools/call', name=tool, arguments=arguments)
        assert answer.get('error', {}).get('code') == -32602, answer
        return answer['error']['message']
