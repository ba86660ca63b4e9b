#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes releases with tools/release.sh in a clone of the last commit, after an earlier release that the test makes.
Checks that the files are complete and match their checksums, and that a release fails if a function of the earlier
release is missing or a function is not recorded. Two releases of one commit in different folders have equal bytes.

    tests/release/run.py [--without PART,...] [NAME...]

--without names the parts of tools/release.sh that the case "complete" leaves out. By default, it leaves out all that is compiled;
with check,tests it compiles everything twice, which takes about an hour on two CPUs.
"""
import argparse
import glob
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, 'tests', 'check'))
import cases  # noqa: E402
import step  # noqa: E402
from cases import Skip  # noqa: E402

CLONE = os.path.join(ROOT, 'build', 'release-test')
URL = 'https://example.org/files'
PROJECT = 'https://example.org/tfprof'
# The settings of Homebrew's rubocop for formulae, limited to the cops of rubocop itself.
FORMULA_STYLE = '''AllCops:
  NewCops: enable
  SuggestExtensions: false
Style/StringLiterals: {EnforcedStyle: double_quotes}
Style/StringLiteralsInInterpolation: {EnforcedStyle: double_quotes}
Style/FrozenStringLiteralComment: {Enabled: false}
Style/Documentation: {Enabled: false}
Layout/LineLength: {Max: 118}
'''
# Renders a recipe without the channels of conda: checks its schema, its expressions and its variants.
RENDER = '''import sys
from rattler_build import Stage0Recipe, VariantConfig
variants = Stage0Recipe.from_file(sys.argv[1]).render(VariantConfig({'c_stdlib': ['sysroot']}))
assert [v.recipe.to_dict()['package']['name'] for v in variants] == ['tfprof'], variants
about = variants[0].recipe.to_dict()['about']
assert about['homepage'] == sys.argv[2] and about['license_file'] == ['LICENSE', 'web/notices.txt'], about
'''
BUILT = 'check,tests,wheels,programs,deb'  # parts that take minutes, and have their own tests
AGAIN = os.path.join(ROOT, 'build', 'release-test-again', 'other')
REMOVED = 'tfp_error_code'


def run(*words, ok=(0,), cwd=CLONE):
    env = {k: v for k, v in os.environ.items() if not k.startswith(('TFPROF_', 'MAKE', 'MFLAGS', 'GIT_'))}
    env['PROJECT_URL'] = PROJECT
    p = subprocess.run(words, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
    text = p.stdout.decode('utf-8', 'replace')
    assert p.returncode in ok, '%s: status %d: %s' % (words, p.returncode, text[-2000:])
    return text


def commit(message):
    run('git', '-c', 'user.name=test', '-c', 'user.email=test@example.org', 'commit', '-qam', message)


def version():
    with open(os.path.join(ROOT, 'Makefile')) as f:
        return re.search(r'^VERSION := (\S+)$', f.read(), re.M).group(1)


def clone(source, to):
    """Clones a repository, with links to the compiler and the tarballs that wheels need, if they are there."""
    subprocess.run(['git', 'clone', '-q', '--shared', source, to], check=True)
    os.makedirs(to + '/build/wheel')
    for path in glob.glob(ROOT + '/build/wheel/zig-[0-9]*') + glob.glob(ROOT + '/build/wheel/sources'):
        os.symlink(path, os.path.join(to, 'build/wheel', os.path.basename(path)))


def prepare():
    """Makes a clone whose last release is the commit itself."""
    for tool in ('abidw', 'abidiff', 'git'):
        if not shutil.which(tool):
            raise Skip('%s is missing' % tool)
    if not glob.glob(os.path.join(ROOT, 'packaging/abi/*.%s.xml' % os.uname().machine)):
        raise Skip('no interface is recorded for %s' % os.uname().machine)
    shutil.rmtree(CLONE, ignore_errors=True)
    clone(ROOT, CLONE)
    for tag in run('git', 'tag').split():
        run('git', 'tag', '-d', tag)
    substitute(os.path.join(CLONE, 'CHANGELOG.md'), r'(?m)^(## %s) .*$' % re.escape(version()), r'\1 (2026-01-31)')
    commit('Date the release')
    run('git', 'tag', 'v0.0.1')


def complete():
    """The files of a release are there with their checksums; the tarball has the generated code and the recipes its sum. A
    second release in another folder has equal bytes."""
    prepare()
    said = run('tools/release.sh', '--without', ARGS.without, version(), URL)
    out, name = os.path.join(CLONE, 'build/dist'), 'tfprof-' + version()
    sums = dict(reversed(line.split()) for line in open(os.path.join(out, 'SHA256SUMS')))
    recipes = {'recipes/' + n for n in ('recipe.yaml', 'tfprof.rb')}
    sdist = 'python/%s.tar.gz' % name
    always = {name + '.tar.gz', name + '.md', name + '.spdx.json', name + '.intoto.json', sdist} | recipes
    compiled = {'wheels', 'programs', 'deb'} - set(ARGS.without.split(','))
    assert set(sums) > always if compiled else set(sums) == always, said
    for path, expected in sums.items():
        with open(os.path.join(out, path), 'rb') as f:
            assert hashlib.sha256(f.read()).hexdigest() == expected, path
    for path in recipes:
        with open(os.path.join(out, path)) as f:
            text = f.read()
        assert sums[name + '.tar.gz'] in text and '%s/%s.tar.gz' % (URL, name) in text and '@' not in text.replace('$@', ''), text
    with open(os.path.join(out, name + '.spdx.json')) as f:
        bill = json.load(f)
    assert bill['spdxVersion'] == 'SPDX-2.3'
    assert {'d3-scale', 'internmap', 'libc++', 'pcre2'} <= {p['name'] for p in bill['packages']}, bill
    with open(os.path.join(out, name + '.intoto.json')) as f:
        statement = json.load(f)
    assert {s['name']: s['digest']['sha256'] for s in statement['subject']} == {n: s for n, s in sums.items() if 'intoto' not in n}
    source, *inputs = statement['predicate']['buildDefinition']['resolvedDependencies']
    assert source['digest']['gitCommit'] == run('git', 'rev-parse', 'HEAD').strip(), source
    assert {'ziglang', 'zlib'} <= {x['uri'].split('/')[-1].split('@')[0] for x in inputs}, inputs
    with tarfile.open(os.path.join(out, sdist)) as tar:
        names = set(tar.getnames())
        about = tar.extractfile(name + '/PKG-INFO').read().decode()
    assert '\nProject-URL: Source, %s\n' % PROJECT in about, about
    assert '](%s/blob/v%s/docs/' % (PROJECT, version()) in about and '](../' not in about, about
    assert {name + n for n in ('/PKG-INFO', '/pyproject.toml', '/generated/web-1.c', '/Makefile')} <= names, names
    with tarfile.open(os.path.join(out, name + '.tar.gz')) as tar:
        names = set(tar.getnames())
    tracked = {'%s/%s' % (name, p) for p in run('git', 'ls-files').split('\n') if p}
    assert tracked <= names and name + '/generated/web-1.c' in names, tracked - names
    shutil.rmtree(os.path.dirname(AGAIN), ignore_errors=True)
    clone(CLONE, AGAIN)
    run('tools/release.sh', '--without', ARGS.without, version(), URL, cwd=AGAIN)
    with open(os.path.join(AGAIN, 'build/dist/SHA256SUMS')) as f:
        again = dict(reversed(line.split()) for line in f)
    assert again == sums, {n for n in sums if again.get(n) != sums[n]}


def image():
    """The image of a program has the digests of its parts, an ordinary user and the program; equal inputs give equal
    bytes."""
    with open('program', 'wb') as f:
        f.write(b'\x7fELF')
    for to in ('a.tar', 'b.tar'):
        subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'packaging/image.py'), '1.2.3', 'amd64', '1', 'program', to], check=True)
    with open('a.tar', 'rb') as a, open('b.tar', 'rb') as b:
        assert a.read() == b.read()
    with tarfile.open('a.tar') as tar:
        files = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
    for name, data in files.items():
        assert not name.startswith('blobs/') or name == 'blobs/sha256/' + hashlib.sha256(data).hexdigest(), name

    def blob(descriptor):
        data = files['blobs/sha256/' + descriptor['digest'].split(':')[1]]
        assert len(data) == descriptor['size'], descriptor
        return data
    manifest = json.loads(blob(json.loads(files['index.json'])['manifests'][0]))
    config = json.loads(blob(manifest['config']))
    assert (config['architecture'], config['config']['User'], config['config']['Entrypoint']) == ('amd64', '65532:65532', ['/tfprof']), config
    contents = gzip.decompress(blob(manifest['layers'][0]))
    assert config['rootfs']['diff_ids'] == ['sha256:' + hashlib.sha256(contents).hexdigest()]
    with tarfile.open(fileobj=io.BytesIO(contents)) as tar:
        assert tar.getnames() == ['tfprof', 'licences', 'licences/LICENSE', 'licences/notices.txt'], tar.getnames()
        assert tar.getmember('tfprof').mode == 0o755 and tar.extractfile('tfprof').read() == b'\x7fELF'
    listed = json.loads(files['manifest.json'])[0]
    assert {listed['Config'], *listed['Layers']} <= set(files), listed


def image_tools():
    """skopeo reads the image as one of OCI and as one of docker; umoci unpacks it to the program and the licences."""
    for tool in ('skopeo', 'umoci'):
        if not shutil.which(tool):
            raise Skip('%s is missing' % tool)
    with open('program', 'wb') as f:
        f.write(b'\x7fELF')
    subprocess.run([sys.executable, '-B', os.path.join(ROOT, 'packaging/image.py'), '1.2.3', 'amd64', '1', 'program', 'a.tar'], check=True)
    for kind in ('oci-archive', 'docker-archive'):
        config = json.loads(subprocess.run(['skopeo', 'inspect', '--config', kind + ':a.tar'], check=True, stdout=subprocess.PIPE).stdout)
        assert config['config']['User'] == '65532:65532' and config['architecture'] == 'amd64', config
    for words in (['skopeo', 'copy', '-q', '--insecure-policy', 'oci-archive:a.tar', 'oci:layout:1.2.3'],
                  ['umoci', 'unpack', '--rootless', '--image', 'layout:1.2.3', 'bundle']):
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    found = {os.path.relpath(os.path.join(d, n), 'bundle/rootfs') for d, _, names in os.walk('bundle/rootfs') for n in names}
    assert found == {'tfprof', 'licences/LICENSE', 'licences/notices.txt'}, found


def filled(path, to):
    """Writes a recipe, filled in with version, addresses and checksum."""
    with open(os.path.join(ROOT, 'packaging', path)) as f:
        text = f.read()
    for name, value in (('VERSION', '0.1.0'), ('URL', URL + '/tfprof-0.1.0.tar.gz'), ('HOMEPAGE', PROJECT), ('SHA256', '0' * 64)):
        text = text.replace('@%s@' % name, value)
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, 'w') as f:
        f.write(text)


def conda_recipe():
    """rattler-build reads and renders the recipe for conda."""
    filled('conda/recipe.yaml', 'conda/recipe.yaml')
    path, here = os.path.abspath('conda/recipe.yaml'), os.getcwd()
    os.chdir(ROOT)
    python, missing = step.scratch_python('venv-recipes', ['py-rattler-build==0.73.0'], '--only-binary=:all:')
    python = python and os.path.abspath(python)
    os.chdir(here)
    if missing:
        raise Skip(missing.note)
    p = subprocess.run([python, '-c', RENDER, path, PROJECT], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert p.returncode == 0, p.stdout.decode()[-2000:]


def homebrew_formula():
    """rubocop accepts the formula for Homebrew, with Homebrew's settings."""
    if not shutil.which('rubocop'):
        raise Skip('rubocop is missing')
    filled('homebrew/tfprof.rb', 'tap/Formula/tfprof.rb')
    with open('tap/.rubocop.yml', 'w') as f:
        f.write(FORMULA_STYLE)
    p = subprocess.run(['rubocop', '--cache', 'false', '--except', 'Metrics', '--config', 'tap/.rubocop.yml', 'tap'], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    assert p.returncode == 0 and b'1 file inspected, no offenses' in p.stdout, p.stdout.decode()[-2000:]


def substitute(path, pattern, by):
    with open(path) as f:
        text = f.read()
    with open(path, 'w') as f:
        f.write(re.sub(pattern, by, text))


def removed_function():
    """A release without a function of the last release fails, though the recorded interface was changed, too."""
    prepare()
    for path in run('git', 'grep', '-l', '-w', REMOVED, '--', 'src', 'include', 'packaging/abi').split():
        substitute(os.path.join(CLONE, path), r'\b%s\b' % REMOVED, 'tfp_error_number')
    commit('Rename a function')
    said = run('tools/release.sh', '--without', BUILT, version(), ok=(1,))
    assert REMOVED in said and 'the interface is incompatible with v0.0.1: raise SOVERSION' in said, said
    assert not os.path.exists(os.path.join(CLONE, 'build/dist/SHA256SUMS'))


def unrecorded_function():
    """A release fails if the recorded interface lacks a function: the next release could remove the function
    unnoticed."""
    prepare()
    record = glob.glob(os.path.join(CLONE, 'packaging/abi/*.%s.xml' % os.uname().machine))[0]
    substitute(record, r"<elf-symbol name='%s'.*\n" % REMOVED, '')
    commit('Forget a function')
    said = run('tools/release.sh', '--without', BUILT, version(), ok=(1,))
    assert 'lacks %s: type packaging/abi.sh --record build/libtfprof.so' % REMOVED in said, said


def wrong_versions():
    """A version that is not the Makefile's or not a version, uncommitted changes, untracked files, and unknown
    parts are refused."""
    prepare()
    assert 'is not a semantic version' in run('tools/release.sh', '1.2', ok=(1,))
    assert 'VERSION is %s' % version() in run('tools/release.sh', '99.0.0', ok=(1,))
    with open(os.path.join(CLONE, 'Makefile'), 'a') as f:
        f.write('\n')
    assert 'uncommitted changes' in run('tools/release.sh', version(), ok=(1,))
    run('git', 'checkout', '-q', 'Makefile')
    with open(os.path.join(CLONE, 'src/unknown.c'), 'w') as f:
        f.write('')
    assert 'untracked files' in run('tools/release.sh', version(), ok=(1,))
    os.remove(os.path.join(CLONE, 'src/unknown.c'))
    assert '--without docs' in run('tools/release.sh', '--without', 'docs', version(), ok=(1,))
    substitute(os.path.join(CLONE, 'CHANGELOG.md'), r'(?m)^(## %s) .*$' % re.escape(version()), r'\1 (unreleased)')
    commit('Take the date away')
    assert 'has no date' in run('tools/release.sh', version(), ok=(1,))


def missing_programs():
    """Before anything is built, a release names the packages of Debian whose programs are missing. --help prints the usage."""
    prepare()
    assert '--without' in run('tools/release.sh', '--help') and not os.path.exists(os.path.join(CLONE, 'build/dist'))
    gone = {'tclsh', 'qemu-aarch64-static', 'wine', 'dh', 'lintian'}
    os.mkdir('bin')
    for folder in os.environ['PATH'].split(':'):
        for name in set(os.listdir(folder) if os.path.isdir(folder) else []) - gone - set(os.listdir('bin')):
            os.symlink(os.path.join(folder, name), 'bin/' + name)
    path = os.environ['PATH']
    os.environ['PATH'] = os.path.abspath('bin')
    try:
        said = run('tools/release.sh', version(), ok=(1,))
    finally:
        os.environ['PATH'] = path
    start, _, packages = said.partition('programs are missing: install the packages ')
    assert start == 'tools/release.sh: ' and {'tcl', 'qemu-user-static', 'wine', 'debhelper', 'lintian'} <= set(packages.split()), said


ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'


def workflow():
    """actionlint accepts the workflow that publishes a release. If it is not installed, go builds it once."""
    tool = shutil.which('actionlint')
    if not tool:
        folder = os.path.join(ROOT, 'build', 'actionlint')
        tool = os.path.join(folder, 'actionlint')
        if not shutil.which('go'):
            raise Skip('actionlint and go are missing')
        env = dict(os.environ, GOBIN=folder, GOFLAGS='-mod=mod')
        p = os.path.exists(tool) or subprocess.run(['go', 'install', ACTIONLINT], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if not os.path.exists(tool):
            raise Skip('actionlint cannot be built: ' + p.stdout.decode('utf-8', 'replace').strip().split('\n')[-1])
    p = subprocess.run([tool, os.path.join(ROOT, '.github/workflows/release.yml')], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert p.returncode == 0, p.stdout.decode()


if __name__ == '__main__':
    p = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    p.add_argument('--without', default=BUILT, metavar='PART,...')
    p.add_argument('names', nargs='*')
    ARGS = p.parse_args()
    everything = (workflow, image, image_tools, conda_recipe, homebrew_formula, wrong_versions, missing_programs, complete, removed_function,
                  unrecorded_function)
    chosen = [c for c in everything if c.__name__ in ARGS.names or not ARGS.names]
    status = cases.run(chosen)
    for folder in (CLONE, os.path.dirname(AGAIN)):
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)
