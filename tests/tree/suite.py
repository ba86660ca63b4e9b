# SPDX-License-Identifier: Apache-2.0
"""The sources themselves: floors, symbols, format, static analysis, and documents that the tables make."""
import concurrent.futures
import glob
import os
import re
import shutil

from step import CPUS, ROOT, Result, Step, counted, run, same, yes

FORMATTER = '14'  # other versions of clang-format format the same code slightly differently


def clang_format(places):
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


def header(places):
    """Compiles the public header alone, as C99 and as C++."""
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


def files(top, below=('',)):
    return {os.path.relpath(p, top) for d in below
            for p in glob.glob(os.path.join(top, d, '**', '*'), recursive=True) if os.path.isfile(p)}


def docs(places):
    """Makes manual pages, completions and Python's methods from the tables and compares them with the stored ones."""
    made = os.path.join(ROOT, places['bin'], 'docs')
    shutil.rmtree(made, ignore_errors=True)
    status, text = run([os.path.join(places['bin'], 'gen_docs'), made, os.path.join(places['bin'], '_commands.py')])
    if status:
        return yes(False, text)
    pages = same(made, 'docs', sorted(files(made) | files('docs', ('man', 'completion'))), 'make docs')
    methods = same(places['bin'], 'python/tfprof', ['_commands.py'], 'make docs')
    return Result(pages.passed + methods.passed, pages.failed + methods.failed, 0, pages.text + methods.text)


# Unit tests about all readers, not about one file.
OF_READERS = ('gzip_inputs', 'mutants', 'page_border')


def unit_names(places):
    """Checks that tests/unit/test_NAME.c is named after a file of src, or after the module that NAME begins with or is."""
    names = {os.path.splitext(os.path.basename(p))[0] for e in ('c', 'h') for p in glob.glob('src/**/*.' + e, recursive=True)}
    tests = [os.path.basename(p)[5:-2] for p in glob.glob('tests/unit/test_*.c')]
    bad = [t for t in tests if t not in OF_READERS and not any(t == n or t.startswith(n + '_') or n.startswith(t + '_') or n.endswith('_' + t)
                                                               for n in names)]
    return Result(len(tests) - len(bad), len(bad), 0, '\n'.join('test_%s.c: no file of src has this name' % t for t in sorted(bad)))


def prose(places):
    """Checks the style of documents, comments and texts."""
    return counted(['tools/check_prose.py'])


def lint(places):
    """Runs static analysis; files that did not change since it found them good cost nothing."""
    return counted(['make', '--no-print-directory', '-k', '-j%d' % CPUS, 'lint'],
                   {'MAKEFLAGS': '', 'MFLAGS': '', 'MAKELEVEL': ''})


STEPS = [
    Step('layers', 'quick', 'tools/check_layers.py --objects {bin}/obj'),
    Step('symbols', 'quick', 'tools/check_symbols.sh {bin}'),
    Step('hardening', 'quick', 'tools/check_hardening.sh {bin}'),
    Step('format', 'quick', clang_format, seconds=6),
    Step('header', 'quick', header),
    Step('docs', 'quick', docs),
    Step('unit-names', 'quick', unit_names),
    Step('prose', 'quick', prose),
    Step('lint', 'deep', lint, seconds=600),
]
