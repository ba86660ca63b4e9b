# SPDX-License-Identifier: Apache-2.0
"""Failures of the system: folders, space, descriptors, memory, threads. The program continues normally."""
import glob
import os
import shutil
import subprocess
import tempfile

from rig import ARGS, DROPPED, Run, check, dormant, settle


def t15_no_session():
    for env in ({'TFPROF_SESSION': None}, {'TFPROF_SESSION': ''}, {'TFPROF_SESSION': '/no/such/folder'},
                {'TFPROF_SESSION': '/dev/null'}, {'CUDA_INJECTION64_PATH': 'none'},
                {'CUDA_INJECTION64_PATH': 'libtfprof_cupti.so'}, {'CUDA_INJECTION64_PATH': ''}):
        with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env=env, nvtx='TFPROF_SESSION' in env) as r:
            r.ok(3)
            check(not os.listdir(r.folder) and r.out == 'no CUPTI\n', r.out, os.listdir(r.folder))


def t15_relative_session():
    with tempfile.TemporaryDirectory() as d, Run('init', 'launch:4', env={'TFPROF_SESSION': 'here'}, cwd=d,
                                                 folder=os.path.join(d, 'here'), wait=False) as r:
        r.wait().ok()
        check(not os.path.exists(d + '/here'))
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + '/here')
        with Run('init', 'launch:4', env={'TFPROF_SESSION': 'here'}, cwd=d, folder=d + '/here') as r:
            r.ok().complete(4)


def t15_verbose():
    with Run('init', 'launch:4', opts='verbose', env={'FAKE_HOLDER': 'nsys'}) as r:
        dormant_line = 'tfprof: no GPU work is recorded: another profiler has CUPTI: CUPTI for nsys\n'
        r.ok(0, dormant_line)
    with Run('init', 'launch:4', opts='level=all,delay=x,colour') as r:
        s = r.ok().complete(4)
        check(r.log() == "TFPROF_OPTS: 'level=all' is not understood\n", r.log(), s.notes)


def unprivileged():
    """Runs as the user nobody, because root can write into read-only folders."""
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)


UNREACHABLE = 'the build folder cannot be reached without privileges'


def reachable_by_nobody():
    if os.getuid():
        return True
    try:
        p = subprocess.run([ARGS.program], preexec_fn=unprivileged, env={'LD_LIBRARY_PATH': ARGS.fakes},
                           stderr=subprocess.DEVNULL)
    except PermissionError:
        return False
    return p.returncode == 0


def t15_read_only_folder():
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(d + '/s', 0o555)
        os.chmod(d, 0o755)
        if os.getuid() == 0:
            os.chown(d + '/s', 65534, 65534)
        if not reachable_by_nobody():
            return UNREACHABLE
        with Run('init', 'push:a', 'launch:10', 'pop', 'exit:3', folder=d + '/s',
                 preexec=unprivileged if os.getuid() == 0 else None) as r:
            r.ok(3)
            check(not os.listdir(d + '/s'), os.listdir(d + '/s'))


def t15_unsafe_folder():
    """The collector writes no file into a folder that is a link, world-writable, or of another user."""
    with tempfile.TemporaryDirectory() as d:
        for name in ('target', 'open', 'other'):
            os.mkdir('%s/%s' % (d, name), 0o700)
        os.symlink('target', d + '/link')
        os.chmod(d + '/open', 0o777)
        unsafe = {'link': 'Not a directory', 'link/': 'Not a directory', 'open': 'everyone may write into it'}
        if os.getuid() == 0:
            os.chown(d + '/other', 65534, 65534)
            unsafe['other'] = 'it belongs to another user'
        for name, why in unsafe.items():
            with Run('init', 'push:a', 'launch:10', 'pop', 'exit:3', opts='verbose', folder='%s/%s' % (d, name)) as r:
                r.ok(3, "tfprof: nothing is recorded: the session folder '%s/%s' cannot be used: %s\n" % (d, name, why))
        check(not any(os.listdir('%s/%s' % (d, x)) for x in ('target', 'open', 'other')))


def t15_setuid():
    """A set-user-ID program ignores the environment variables of the collector."""
    with Run('secure', 'init', 'push:a', 'launch:5', 'pop', 'state', 'exit:3') as r:
        r.ok(3)
        check(not os.listdir(r.folder) and r.out == 'no CUPTI\n', r.out, os.listdir(r.folder))
    if os.getuid() or ARGS.valgrind or ARGS.san:
        return None  # making such a program needs root, and a build without sanitizer
    if not reachable_by_nobody():
        return UNREACHABLE
    # A folder where a set-user-ID bit counts; the loader ignores LD_LIBRARY_PATH then, so all files are copied there.
    with tempfile.TemporaryDirectory(dir=ARGS.fakes) as d:
        os.chmod(d, 0o755)
        os.mkdir(d + '/s', 0o777)
        os.chmod(d + '/s', 0o777)
        shutil.copy(ARGS.program, d + '/program')
        shutil.copy(ARGS.fakes + '/libcuda.so.1', d)
        os.chmod(d + '/program', 0o6755)
        p = subprocess.run([d + '/program', 'init', 'launch:5', 'exit:3'], preexec_fn=unprivileged, env={
            'CUDA_INJECTION64_PATH': ARGS.collector, 'TFPROF_SESSION': d + '/s'}, stderr=subprocess.PIPE)
        check(not os.listdir(d + '/s'), os.listdir(d + '/s'))
        check(p.returncode in (3, 127), p.returncode, p.stderr)


def t15_full_disk():
    with tempfile.TemporaryDirectory() as d:
        if subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=64k,mode=0700', 'tmpfs', d],
                          stderr=subprocess.DEVNULL).returncode:
            return 'no file system of 64 kB can be mounted here'
        try:
            with Run('init', 'threads:4:4000', settle(), 'launch:10', 'exit:3', folder=d, opts='flush=50') as r:
                s = r.ok(3).spool()
                check(not s.end['damaged'] and not s.complete, s.end)
                said = r.log() + ''.join(s.notes)  # the log may be incomplete, too
                check('recording stopped after' in said and 'No space left' in said, said)
        finally:
            subprocess.run(['umount', d])


def t15_file_size_limit():
    """The file size limit is not exceeded, because SIGXFSZ would end the program; the file ends with a complete block."""
    with Run('init', 'limit:FSIZE:20000', 'launch:3000', settle(), 'launch:10', 'exit:3', opts='flush=50') as r:
        s = r.ok(3).spool()
        check(not s.end['damaged'] and not s.complete and os.path.getsize(s.path) <= 20000, s.end)
        check('recording stopped after' in r.log() and 'File too large' in r.log(), r.log())
    with Run('limit:FSIZE:0', 'init', 'launch:10', 'exit:3') as r:
        r.ok(3)


def t15_few_descriptors():
    for n in (3, 4, 5, 6, 7, 12, 130):
        with Run('limit:NOFILE:%d' % n, 'init', 'push:a', 'launch:10', 'pop', 'exit:3') as r:
            r.ok(3)
            check(n < 12 or r.spool().complete, n)


def t15_little_memory():
    """If a mapping fails, less or nothing is recorded, and the log gives the reason."""
    whole = 0
    for n in range(20):
        with Run('no-memory:%d' % n, 'init', 'push:a', 'launch:1000', 'pop', 'exit:3') as r:
            r.ok(3)
            spools = r.spools()
            if not spools or not spools[0].complete:
                dormant(r, 'nothing is recorded: memory is exhausted', 3)
            whole += len(spools) and spools[0].n('KERNEL') == 1000 and spools[0].n('RANGE') == 2
            for s in spools:
                n_all = sum(s.n(k) for k in ('KERNEL', 'API', 'DEVICE', 'CONTEXT')) + s.lost(DROPPED)
                check(not s.complete or n_all == 2002, n, s.end, s.of('LOST'))
    check(2 < whole < 18, whole)
    if ARGS.valgrind or ARGS.san:
        return  # sanitizers need the address space
    for mb in range(8, 120, 8 if ARGS.long else 16):
        with Run('limit:AS:%d' % (mb << 20), 'init', 'push:a', 'launch:1000', 'pop', 'exit:3') as r:
            check(r.rc == 3 or 'cannot' in r.err, mb, r.rc, r.err)
    with Run('init', 'limit:AS:%d' % (1 << 20), 'push:a', 'threads:0', 'launch:1000', 'pop', 'exit:3') as r:
        r.ok(3)


def t15_no_thread():
    with Run('no-threads', 'init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3') as r:
        dormant(r, 'nothing is recorded: no thread can be created', 3)
        check(r.out == 'no CUPTI\n', r.out)
    if os.getuid() or ARGS.valgrind or ARGS.san:
        return None  # only root can set the process limit of another user
    if not reachable_by_nobody():
        return UNREACHABLE
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        os.mkdir(d + '/s')
        os.chown(d + '/s', 65534, 65534)
        with Run('limit:NPROC:1', 'init', 'launch:10', 'exit:3', folder=d + '/s', preexec=unprivileged) as r:
            r.ok(3)
            check('no thread can be created' in r.log() or r.spools()[0].complete, r.log())


def t15_closed_standard_streams():
    """Descriptors 0 to 2 are left to the program."""
    for close in ((0,), (1, 2), (0, 1, 2)):
        words = ['close:%d' % i for i in close] + ['init', 'push:a', 'launch:10', 'pop', 'exit:3']
        with Run(*words, env={'FAKE_HOLDER': 'x'} if 2 in close else {}) as r:
            r.ok(3)
            check(len(r.spools()) == 1)
    with Run('init', 'launch:10', settle(), 'fds', stdin=None, close_fds=True) as a, Run(
            'launch:10', 'fds', env={'CUDA_INJECTION64_PATH': None}, nvtx=False, stdin=None) as b:
        check(a.out == b.out, a.out, b.out)


def t15_descriptors_closed_by_program():
    """If the program closes all descriptors and reuses the numbers, the collector does not write to them."""
    with tempfile.TemporaryDirectory() as d:
        with Run('init', 'launch:10', settle(), 'close-all', 'reopen:' + d + '/own', 'launch:1000', settle(),
                 'exit:3', opts='flush=50', env={'TSAN_OPTIONS': 'report_bugs=0'}) as r:  # the race on descriptors is intended
            s = r.ok(3).spool()
            check(s.n('KERNEL') == 10 and not s.complete, s.end)
            check(os.path.getsize(d + '/own') == 0, 'we wrote into a file of the program')


def t15_log_name_taken():
    """If a file or a link with the name of its log exists, the process uses another name."""
    with tempfile.TemporaryDirectory() as d:
        with Run('listen', 'init', 'exit:3', folder=d, env={'FAKE_HOLDER': 'nsys'}, wait=False, stdin=subprocess.PIPE) as r:
            os.symlink(d + '/never-written', '%s/%d.log' % (d, r.process.pid))
            r.wait().ok(3)
            logs = [p for p in glob.glob(d + '/*.log') if not os.path.islink(p)]
            check(len(logs) == 1 and 'nsys' in open(logs[0]).read(), os.listdir(d))
            check(not os.path.exists(d + '/never-written'))
            check(oct(os.stat(logs[0]).st_mode)[-3:] == '600')
