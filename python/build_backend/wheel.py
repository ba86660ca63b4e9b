# SPDX-License-Identifier: Apache-2.0
"""Packs wheels: the Python package, the library, the program and the collector. Used by pip (backend.py) and by
packaging/wheel.sh. Equal inputs give equal bytes."""
import base64
import hashlib
import os
import re
import zipfile

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROOT = os.path.dirname(PYTHON)
# By system: file of the library in the build folder and in the package, file of the program. Only Linux has the collector.
SYSTEMS = {'linux': ('libtfprof.so', 'libtfprof.so.0', 'tfprof'), 'macos': ('libtfprof.dylib', 'libtfprof.dylib', 'tfprof'),
           'windows': ('tfprof.dll', 'tfprof.dll', 'tfprof.exe')}
COLLECTOR = 'libtfprof_cupti.so'
# Shell completions, installed below share/ of the environment.
COMPLETIONS = {'tfprof.bash': 'bash-completion/completions/tfprof', '_tfprof': 'zsh/site-functions/_tfprof',
               'tfprof.fish': 'fish/vendor_completions.d/tfprof.fish'}
EPOCH = (1980, 1, 1, 0, 0, 0)  # time of every file in the archive: the earliest time that zip can store


def text(*path):
    with open(os.path.join(ROOT, *path), encoding='utf-8') as f:
        return f.read()


def version():
    """Returns the version, which only the Makefile states."""
    return re.search(r'^VERSION := (\S+)$', text('Makefile'), re.M).group(1)


def description():
    """Returns the README. Links to other files of the repository lead to the project, if its address is known."""
    project = os.environ.get('PROJECT_URL')
    readme = text('python', 'README.md')
    return readme.replace('](../', '](%s/blob/v%s/' % (project, version())) if project else readme


def metadata():
    """Returns the METADATA of the wheel, from the [project] table of pyproject.toml."""
    project = text('python', 'pyproject.toml')

    def value(key):
        return re.search(r'^%s = "(.*)"$' % re.escape(key), project, re.M).group(1)

    classifiers = re.search(r'^classifiers = \[(.*?)\]$', project, re.M | re.S).group(1)
    author = re.search(r'^authors = \[\{ name = "(.*)" \}\]$', project, re.M).group(1)
    lines = ['Metadata-Version: 2.1', 'Name: tfprof', 'Version: ' + version(), 'Summary: ' + value('description'), 'Author: ' + author,
             'License: Apache-2.0', 'Requires-Python: ' + value('requires-python')]
    if os.environ.get('PROJECT_URL'):  # set for releases: the address of the project
        lines.append('Project-URL: Source, ' + os.environ['PROJECT_URL'])
    lines += ['Classifier: ' + c for c in re.findall(r'"(.*?)"', classifiers)]
    for extra, needs in re.findall(r'^(\w+) = \[("[^\]]*)\]$', re.sub(r'^classifiers.*?\]$', '', project, flags=re.M | re.S)
                                   .partition('[project.optional-dependencies]')[2].partition('\n[')[0], re.M):
        lines.append('Provides-Extra: ' + extra)
        lines += ['Requires-Dist: %s; extra == "%s"' % (n, extra) for n in re.findall(r'"(.*?)"', needs)]
    lines += ['Description-Content-Type: text/markdown', '', description()]
    return '\n'.join(lines)


def package_files():
    """Returns {name in the wheel: path} of the Python package."""
    found = {}
    for folder, _, names in os.walk(os.path.join(PYTHON, 'tfprof')):
        for n in names:
            if n.endswith(('.py', '.sql')) or n == 'py.typed':
                path = os.path.join(folder, n)
                found[os.path.relpath(path, PYTHON).replace(os.sep, '/')] = path
    found['tfprof/fleet/style.css'] = os.path.join(ROOT, 'web', 'style.css')  # of pages of fleets
    return found


def system_of(tag):
    """The system of a platform tag, such as win_amd64."""
    return 'windows' if tag.startswith('win') else 'macos' if tag.startswith('macosx') else 'linux'


def contents(build, licences, system):
    """{name in the wheel: (bytes, mode)} without RECORD and WHEEL."""
    built, library, program = SYSTEMS[system]
    data, info = 'tfprof-%s.data/' % version(), 'tfprof-%s.dist-info/' % version()
    paths = dict(package_files())
    paths['tfprof/' + library] = os.path.join(build, built)
    paths[data + 'scripts/' + program] = os.path.join(build, program)
    if system == 'linux':  # the program looks for it in ../lib/tfprof
        paths[data + 'data/lib/tfprof/' + COLLECTOR] = os.path.join(build, COLLECTOR)
    paths[info + 'licenses/LICENSE'] = os.path.join(ROOT, 'LICENSE')
    paths[info + 'licenses/d3'] = os.path.join(ROOT, 'web', 'notices.txt')
    if licences:
        for n in os.listdir(licences):
            paths[info + 'licenses/' + n] = os.path.join(licences, n)
    for page in os.listdir(os.path.join(ROOT, 'docs', 'man')) if system != 'windows' else ():
        paths[data + 'data/share/man/man1/' + page] = os.path.join(ROOT, 'docs', 'man', page)
    for name, to in COMPLETIONS.items() if system != 'windows' else ():
        paths[data + 'data/share/' + to] = os.path.join(ROOT, 'docs', 'completion', name)
    files = {}
    for name, path in paths.items():
        with open(path, 'rb') as f:
            runs = '/scripts/' in name or '.so' in os.path.basename(name) or name == 'tfprof/' + library
            files[name] = f.read(), 0o755 if runs else 0o644
    files[info + 'METADATA'] = metadata().encode(), 0o644
    return files


def pack(folder, tags, build, licences=None):
    """Writes the wheel from a build folder and returns its file name. tags: of platforms, such as linux_x86_64."""
    return _zip(folder, tags, contents(build, licences, system_of(tags[0])))


def pack_editable(folder, tag, build):
    """Writes a wheel that refers to the package and to the build folder, and returns its file name."""
    data, info = 'tfprof-%s.data/' % version(), 'tfprof-%s.dist-info/' % version()
    library = os.path.join(build, 'libtfprof.so')
    path = "%s\nimport os; os.environ.setdefault('TFPROF_LIBRARY', %r)\n" % (PYTHON, library)
    program = "#!/bin/sh\nexec '%s' \"$@\"\n" % os.path.join(build, 'tfprof').replace("'", "'\\''")
    return _zip(folder, [tag], {'tfprof.pth': (path.encode(), 0o644), data + 'scripts/tfprof': (program.encode(), 0o755),
                                info + 'METADATA': (metadata().encode(), 0o644)})


def _zip(folder, tags, files):
    info = 'tfprof-%s.dist-info/' % version()
    head = ['Wheel-Version: 1.0', 'Generator: tfprof', 'Root-Is-Purelib: false']
    files[info + 'WHEEL'] = '\n'.join(head + ['Tag: py3-none-' + t for t in tags] + ['']).encode(), 0o644
    record = ''.join('%s,sha256=%s,%d\n' % (
        n, base64.urlsafe_b64encode(hashlib.sha256(b).digest()).rstrip(b'=').decode(), len(b))
        for n, (b, _) in sorted(files.items()))
    files[info + 'RECORD'] = (record + info + 'RECORD,,\n').encode(), 0o644
    name = 'tfprof-%s-py3-none-%s.whl' % (version(), '.'.join(tags))
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(os.path.join(folder, name), 'w') as z:
        # dist-info comes last, as the format recommends.
        for n in sorted(files, key=lambda n: (n.startswith(info), n)):
            entry = zipfile.ZipInfo(n, EPOCH)
            entry.create_system, entry.external_attr = 3, (0o100000 | files[n][1]) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(entry, files[n][0])
    return name
