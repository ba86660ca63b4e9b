# SPDX-License-Identifier: Apache-2.0
"""The steps of tests/check.py: what each runs, and how many passed, failed and were skipped."""
import concurrent.futures
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNT = re.compile(r'^(\d+) passed, (\d+) failed, (\d+) skipped$')
CPUS = os.cpu_count() or 2
MANY = str(max(4, CPUS))
PATIENCE = 6 * 3600  # seconds: what takes so long, on any machine, hangs
FORMATTER = '14'  # other versions of clang-format lay the same code out a little differently


class Result:
    def __init__(self, passed=0, failed=0, skipped=0, text='', note=''):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.text, self.note = text, note


def run(words, env=None, timeout=PATIENCE, cwd=ROOT):
    """(status, stdout and stderr together)."""
    try:
        p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=timeout, cwd=cwd,
                           env=dict(os.environ, LC_ALL='C', **(env or {})))
        return p.returncode, p.stdout.decode('utf-8', 'backslashreplace')
    except subprocess.TimeoutExpired as e:
        return -1, (e.stdout or b'').decode('utf-8', 'backslashreplace') + '\nno end in sight\n'


def counted(words, env=None, skips=True, **more):
    """A program that prints its own count as the last line."""
    status, text = run(words, env, **more)
    lines = text.rstrip('\n').split('\n')
    m = COUNT.match(lines[-1])
    if not m:
        return Result(failed=1, text=text + '\n(no count at its end, status %d)' % status)
    passed, failed, skipped = map(int, m.groups())
    if status and not failed:
        failed = 1
    return Result(passed, failed, skipped if skips else 0, '\n'.join(lines[:-1]))


def yes(ok, text=''):
    return Result(1, 0, 0, '') if ok else Result(0, 1, 0, text)


# ---- steps --------------------------------------------------------------------------------------
def unit(program):
    """One cmocka program."""
    status, text = run([program], {'CMOCKA_MESSAGE_OUTPUT': 'STDOUT'})
    # A test that failed or was skipped is named again in the summary.
    n = {k: set(re.findall(r'^\[ *%s *\] ([^\s:]+)$' % k, text, re.M))
         for k in ('OK', 'FAILED', 'SKIPPED')}
    count = Result(len(n['OK']), len(n['FAILED']), len(n['SKIPPED']), text)
    if status and not count.failed:
        count.failed = 1
        count.text += '\n(status %d)' % status
    if not status and not count.passed and not count.skipped:
        count.failed, count.text = 1, text + '\n(it ran no test)'
    return count


def clang_format():
    files = sorted(p for top in ('src', 'include', 'tests', 'tools', 'examples')
                   for e in ('c', 'h') for p in glob.glob('%s/**/*.%s' % (top, e), recursive=True))
    if not shutil.which('clang-format'):
        return Result(skipped=1, note='no clang-format')
    version = re.search(r'version (\d+)', run(['clang-format', '--version'])[1])
    if not version or version.group(1) != FORMATTER:
        return Result(skipped=1, note='clang-format %s decides, another is here' % FORMATTER)
    chunks = [files[i:i + 16] for i in range(0, len(files), 16)]
    with concurrent.futures.ThreadPoolExecutor(CPUS) as pool:
        said = ''.join(t for _, t in pool.map(
            lambda c: run(['clang-format', '--dry-run', '-Werror'] + c), chunks))
    first = {}
    for m in re.finditer(r'^([^:\n]+):\d+:\d+: error: .*$', said, re.M):
        first.setdefault(m.group(1), m.group(0))
    bad = sorted(first.values())
    return Result(len(files) - len(bad), len(bad), 0,
                  '\n'.join(bad) + '\nmake format puts that right' if bad else '')


def header():
    """The public header stands alone, as C99 and as C++."""
    total = Result()
    compilers = [(os.environ.get('CC', 'cc'), 'c', 'c99')]
    cxx = next((c for c in ('g++', 'clang++') if shutil.which(c)), None)
    if cxx:
        compilers.append((cxx, 'c++', 'c++11'))
    else:
        total.skipped, total.note = 1, 'no C++ compiler'
    for cc, lang, std in compilers:
        status, text = run([cc, '-std=' + std, '-pedantic', '-Wall', '-Wextra', '-Werror',
                            '-fsyntax-only', '-x', lang, 'include/tfprof/tfprof.h'])
        total.passed += not status
        total.failed += bool(status)
        total.text += text if status else ''
    return total


def python_load(bin_dir):
    """The shared library loads into a Python that has its own readline."""
    code = ('import readline, ctypes; l = ctypes.CDLL(%r); l.tfp_version.restype = ctypes.c_char_p; '
            'assert l.tfp_version()' % os.path.join(ROOT, bin_dir, 'libtfprof.so'))
    status, text = run([sys.executable, '-c', code])
    return yes(not status, text)


def same(made, kept, names, cure):
    bad = []
    for n in names:
        a, b = os.path.join(made, n), os.path.join(kept, n)
        if not os.path.exists(a) or not os.path.exists(b) or open(a, 'rb').read() != open(b, 'rb').read():
            bad.append('%s/%s is stale: %s' % (kept, n, cure))
    return Result(len(names) - len(bad), len(bad), 0, '\n'.join(bad))


def files(top, below=('',)):
    return {os.path.relpath(p, top) for d in below
            for p in glob.glob(os.path.join(top, d, '**', '*'), recursive=True) if os.path.isfile(p)}


def docs(bin_dir):
    """Manual pages and completions are those that the tables make."""
    made = os.path.join(ROOT, bin_dir, 'docs')
    shutil.rmtree(made, ignore_errors=True)
    status, text = run([os.path.join(bin_dir, 'gen_docs'), made])
    if status:
        return yes(False, text)
    return same(made, 'docs', sorted(files(made) | files('docs', ('man', 'completion'))), 'make docs')


def prose():
    """Documents keep to the rules of style."""
    pages = subprocess.run(['git', 'ls-files', '*.md'], cwd=ROOT, stdout=subprocess.PIPE).stdout.decode().split()
    return counted([sys.executable, '-B', 'tools/check_prose.py'] + pages)


def models(bin_dir):
    """The models of the examples, and the spool of the goldens, are those that their generators make."""
    with tempfile.TemporaryDirectory() as made:
        status, text = run([sys.executable, '-B', 'tests/models/make.py', made])
        if status:
            return yes(False, text)
        r = same(made, 'testdata', sorted(files(made)), 'tests/models/make.py testdata')
        with open('testdata/small/train.spool.txt') as script:
            subprocess.run([os.path.join(bin_dir, 'spool_make'), os.path.join(made, 'train.tfspool')], stdin=script)
        spool = same(made, 'testdata/small', ['train.tfspool'], 'spool_make FILE <testdata/small/train.spool.txt')
        return Result(r.passed + spool.passed, r.failed + spool.failed, 0, r.text + spool.text)


def recorded(program, threads, *more, skips=True, env=None):
    words = [sys.executable, '-B', 'tests/recorded/run.py', '--program', program, '--threads', threads]
    return counted(words + list(more), env, skips)


def faults(bin_dir, *more):
    """The plain program: what makes calls fail does not go with sanitizers."""
    return counted([sys.executable, '-B', 'tests/faults/run.py', '--program', os.path.join(bin_dir, 'tfprof'),
                    '--shim', os.path.join(bin_dir, 'faults', 'shim.so')] + list(more))


def limits(bin_dir):
    return counted([sys.executable, '-B', 'tests/limits.py', '--program', os.path.join(bin_dir, 'tfprof'), '--shim',
                    os.path.join(bin_dir, 'faults', 'shim.so'), '--make', os.path.join(bin_dir, 'spool_make')])


def lint():
    """Static analysis; files that did not change since it found them good cost nothing."""
    return counted(['make', '--no-print-directory', '-k', '-j%d' % CPUS, 'lint'],
                   {'MAKEFLAGS': '', 'MFLAGS': '', 'MAKELEVEL': ''})


def valgrind(bin_dir):
    """A hundred recorded answers, some of each profile."""
    how = 'valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible'
    return recorded(os.path.join(bin_dir, 'tfprof'), '1', '--exec-prefix', how, '--sample', '100')


def security(bin_dir):
    return counted([sys.executable, '-B', 'tests/security.py', '--program', os.path.join(bin_dir, 'tfprof'),
                    '--jail', os.path.join(bin_dir, 'faults', 'jail.so'), '--make', os.path.join(bin_dir, 'spool_make')])


def replay(program, corpus):
    """One fuzz target over its corpus, every file in one process."""
    files = [f for f in glob.glob(corpus + '/**/*', recursive=True) if os.path.isfile(f)]
    if not files:
        return Result(skipped=1, note='no corpus ' + corpus)
    status, text = run([program, corpus])
    return Result(len(files) if not status else 0, 1 if status else 0, 0, text if status else '')


PACKAGES = ['jsonschema==4.23.0', 'pandas==2.2.3', 'duckdb==1.1.3']


def data_tools(program):
    """What loads our rows, in a scratch environment of Python that is made once."""
    home = os.path.join('build', 'venv')
    python, done = os.path.join(home, 'bin', 'python'), os.path.join(home, 'packages')
    if not os.path.exists(done) or open(done).read() != ' '.join(PACKAGES):
        for words in ([sys.executable, '-m', 'venv', '--clear', home],
                      [python, '-m', 'pip', 'install', '--quiet', '--only-binary=:all:'] + PACKAGES):
            status, text = run(words)
            if status:
                return Result(skipped=1, note='no scratch environment: ' + text.strip().split('\n')[-1])
        with open(done, 'w') as f:
            f.write(' '.join(PACKAGES))
    return counted([python, '-B', 'tests/data/run.py', '--program', program, 'other_tools', 'schemas', 'schema_of_gpu'])


def inject(bin_dir, *more):
    """The collector under fakes of driver and CUPTI."""
    return counted([sys.executable, '-B', 'tests/inject/run.py', '--bin', bin_dir] + list(more))
