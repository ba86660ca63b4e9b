# SPDX-License-Identifier: Apache-2.0
"""Scripts for spool_make, for all tests that need a recording."""
import subprocess

T0 = 1700000000000000000


class Spool:
    """The script of the recording of one process."""

    def __init__(self, **info):
        self.lines, self.correlation = [], 0
        for key, value in dict({'pid': 1}, **info).items():
            self.add('info', key=key.replace('env_', 'env.'), value=value)

    def add(self, word, **pairs):
        self.lines.append(' '.join([word] + ['%s="%s"' % x if isinstance(x[1], str) else '%s=%d' % x
                                             for x in pairs.items()]))
        return self

    def push(self, at, name, tid=1, **more):
        return self.add('push', start=T0 + at, name=name, tid=tid, **more)

    def pop(self, at, tid=1, **more):
        return self.add('pop', start=T0 + at, tid=tid, **more)

    def launch(self, at, name='gemm', length=5000, tid=1, late=10000, call=2000, word='kernel', api='cudaLaunchKernel',
               correlation=None, **more):
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        self.add('api', start=T0 + at, length=call, correlation=correlation, name=api, tid=tid)
        more.setdefault('stream', 7)
        return self.add(word, start=T0 + at + late, length=length, correlation=correlation,
                        **dict({'name': name} if word == 'kernel' else {}, **more))

    def end(self):
        return self.add('end', start=T0)

    def make(self, tool, path):
        subprocess.run([tool, path], input='\n'.join(self.lines).encode('utf-8', 'surrogateescape'), check=True)
        return path


def launches(n, **info):
    """Adds n launches with their kernels, without an end."""
    s = Spool(**info)
    for i in range(n):
        s.launch(i * 20000, 'kernel%d' % (i % 3))
    return s
