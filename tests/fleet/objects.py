# SPDX-License-Identifier: Apache-2.0
"""An S3 server on 127.0.0.1 (moto), behind a proxy that makes a share of the requests fail: throttling, server errors, closed
connections, answers that end early, and answers that are lost after the request was carried out."""
import contextlib
import http.client
import logging
import os
import random
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import cases

BUCKET = 'bucket'
FAULTS = ('throttle', 'error', 'close', 'short', 'lost')


class Faults:
    """The requests that fail, and the number of failures of each kind."""

    def __init__(self, seed=1, share=0.0):
        self.noise, self.share, self.lock = random.Random(seed), share, threading.Lock()
        self.count = dict.fromkeys(FAULTS, 0)

    def next(self):
        with self.lock:
            if self.noise.random() >= self.share:
                return None
            kind = self.noise.choice(FAULTS)
            self.count[kind] += 1
            return kind


class _Proxy(BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *_):
        pass

    def _forward(self, body):
        connection = http.client.HTTPConnection('127.0.0.1', self.server.behind, timeout=60)
        connection.request(self.command, self.path, body, {k: v for k, v in self.headers.items() if k.lower() != 'expect'})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return answer, data

    def _fail(self, status, code):
        text = ('<?xml version="1.0"?><Error><Code>%s</Code><Message>injected</Message></Error>' % code).encode()
        self.send_response(status)
        self.send_header('Content-Length', str(len(text)))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(text)

    def _close(self):
        self.close_connection = True
        with contextlib.suppress(OSError):
            self.connection.shutdown(socket.SHUT_RDWR)

    def _answer(self):
        body = self.rfile.read(int(self.headers.get('Content-Length') or 0))
        fault = self.server.faults.next()
        if fault == 'throttle':
            return self._fail(503, 'SlowDown')
        if fault == 'error':
            return self._fail(500, 'InternalError')
        if fault == 'close':
            return self._close()
        answer, data = self._forward(body)
        if fault == 'lost':  # the server has carried out the request
            return self._close()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ('connection', 'server', 'date', 'transfer-encoding', 'content-length'):
                self.send_header(name, value)
        self.send_header('Content-Length', answer.getheader('Content-Length') or str(len(data)))
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if fault == 'short' else data)
        if fault == 'short':
            self._close()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _answer


class ObjectStore:
    """The server and the proxy. faults may be replaced at any time."""

    def __init__(self):
        try:
            from moto.server import ThreadedMotoServer
            import s3fs  # noqa: F401
        except ImportError:
            raise cases.Skip('moto and s3fs are not installed')
        logging.getLogger('werkzeug').setLevel(logging.ERROR)
        self._moto = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
        self._moto.start()
        self._proxy = ThreadingHTTPServer(('127.0.0.1', 0), _Proxy)
        self._proxy.behind = self._moto.get_host_and_port()[1]
        self._proxy.faults = Faults()
        threading.Thread(target=self._proxy.serve_forever, daemon=True).start()
        os.environ.update(AWS_ENDPOINT_URL='http://127.0.0.1:%d' % self._proxy.server_port, AWS_ACCESS_KEY_ID='key',
                          AWS_SECRET_ACCESS_KEY='secret', AWS_DEFAULT_REGION='us-east-1', AWS_EC2_METADATA_DISABLED='true')
        connection = http.client.HTTPConnection('127.0.0.1', self._proxy.behind)
        connection.request('PUT', '/' + BUCKET)
        assert connection.getresponse().status == 200
        connection.close()

    def fail(self, share, seed=1):
        self._proxy.faults = Faults(seed, share)
        return self._proxy.faults

    def stop(self):
        self._proxy.shutdown()
        self._proxy.server_close()
        self._moto.stop()
