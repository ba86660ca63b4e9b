# SPDX-License-Identifier: Apache-2.0
"""Raw buffers of CUPTI as test inputs: made with a fake CUPTI here, captured on a GPU by the quick checks (whose results are
copied to testdata/cupti). A real libcupti must read the recorded work from them."""
import glob
import os
import subprocess
import tempfile

import cuda

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def run(words, **env):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
                       env=dict(env, PATH=os.environ['PATH'], ASAN_OPTIONS='detect_leaks=0'))
    return p.returncode, p.stdout.decode('utf-8', 'replace')


def captured(bin_dir, fake, folder):
    """Captures buffers with a fake CUPTI, in the layout of its version."""
    fakes = os.path.join(bin_dir, 'fakes')
    return run([os.path.join(bin_dir, 'gpu/program'), 'capture', folder], TFPROF_CUPTI_PATH=os.path.join(fakes, fake),
               LD_LIBRARY_PATH='%s/gpu:%s' % (fakes, fakes))


def misread(bin_dir, cupti, path):
    """Returns None if libcupti reads the buffer and the records match the work, otherwise the fault."""
    status, text = run([os.path.join(bin_dir, 'gpu/program'), 'read', path], TFPROF_CUPTI_PATH=cupti)
    with open(path[:-3] + 'expected') as f:
        expected = sorted(f.read().splitlines())
    if status or expected and sorted(text.splitlines()) != expected:
        return '%s: status %d, read %s, expected %s' % (os.path.basename(path), status, sorted(text.splitlines()), expected)
    return None


def check_buffers(bin_dir, cupti, fake, version):
    """Reads the fake's buffers, and the buffers of that version in the repository, with this libcupti. Returns the faults."""
    with tempfile.TemporaryDirectory() as folder:
        status, text = captured(bin_dir, fake, folder)
        if status:
            return ['capture: ' + text], 0
        paths = glob.glob(folder + '/*.bin') + glob.glob(ROOT + '/testdata/cupti/*-%d.bin' % version)
        return [x for x in (misread(bin_dir, cupti, p) for p in sorted(paths)) if x], len(paths)


def check_ptx(ptxas):
    """Returns the faults that ptxas finds in the kernels, by target."""
    wrong = []
    for text in cuda.kernels():
        target = text.split('.target ')[1].split()[0]
        with tempfile.TemporaryDirectory() as d:
            with open(d + '/k.ptx', 'w') as f:
                f.write(text.rstrip('\0'))
            status, said = run([ptxas, '-arch=' + target, '-o', d + '/k.cubin', d + '/k.ptx'])
        if status:
            wrong.append('%s: %s' % (target, said))
    return wrong
