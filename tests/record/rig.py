# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of record, ctl, gpu and doctor: runs commands, makes recordings and files, watches processes."""
import argparse
import os
import socket
import subprocess
import time

ARGS = argparse.Namespace()  # the tested programs; set by run.py
LIBRARY = 'libtfprof_cupti.so'
HOST = socket.gethostname()
VARIABLES = ('CUDA_INJECTION64_PATH', 'NVTX_INJECTION64_PATH', 'TFPROF_SESSION', 'TFPROF_OPTS')


PATIENCE = 300  # seconds until a wait fails


class Bad(Exception):
    pass


def same(found, wanted, what=''):
    if found != wanted:
        raise Bad('%s: %r is not %r' % (what, found, wanted))


def holds(text, part):
    if part not in text:
        raise Bad('%r is not in %r' % (part, text))


def clean_env(**more):
    return dict({k: v for k, v in os.environ.items() if k not in VARIABLES}, LC_ALL='C', **more)


def run(*words, **how):
    """Returns (status, stdout, stderr)."""
    env = clean_env(**how.pop('more', {}))
    p = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env, timeout=PATIENCE,
                       stdin=how.pop('stdin', subprocess.DEVNULL), **how)
    return p.returncode, p.stdout.decode('utf-8', 'replace'), p.stderr.decode('utf-8', 'replace')


def tfprof(*words, **how):
    return run('./bin/tfprof', *words, **how)


def spool(folder, script, pid=4711, start=1, number=1):
    return script.make(ARGS.spool_make, os.path.join(folder, '%s-%d-%d-%08x.tfspool' % (HOST, pid, start, number)))


def start_ticks(pid):
    return int(open('/proc/%d/stat' % pid).read().rpartition(')')[2].split()[19])


def put(path, text):
    os.makedirs(os.path.dirname(path) or '.', exist_ok=True)
    with open(path, 'w') as f:
        f.write(text)


def until(ask, what):
    """Polls a function until its result is true. Returns the result."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        answer = ask()
        if answer:
            return answer
        time.sleep(0.01)
    raise Bad('never came: ' + what)


def child_of(pid):
    return int(until(lambda: open('/proc/%d/task/%d/children' % (pid, pid)).read().split(), 'a child')[0])


def state(pid, wanted):
    until(lambda: open('/proc/%d/stat' % pid).read().rpartition(')')[2].split()[0] in wanted, 'a process in ' + wanted)
