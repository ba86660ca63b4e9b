# SPDX-License-Identifier: Apache-2.0
"""Tests behaviours of CUPTI: use by other clients, failures, dropped records, silence, records out of order."""
import os
import re

from rig import ARGS, DROPPED, KERNELS, LONGER, ROOT, RUNNING, UNKNOWN, UNREAD, UNTIMED, Run, check, dormant, settle, sleep


def t16_other_profiler():
    with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env={'FAKE_HOLDER': 'Nsight Systems'}) as r:
        dormant(r, 'another profiler has CUPTI: CUPTI for Nsight Systems', 3)
        check(r.spool().n('RANGE') == 2 and 'subscribed 0' in r.out, r.out)
    with Run('init', 'launch:10', 'exit:3', env={'FAKE_HOLDER': 'x', 'FAKE_DRIVER': '12040'}) as r:
        dormant(r, 'another profiler has CUPTI', 3)


# The effect of a failing function: whether anything is recorded, and the number of kernels.
NEEDED = ['Subscribe', 'ActivityRegisterCallbacks', 'ActivityEnable:2:10', 'ActivityEnable:2:1', 'ActivityEnable:2:2']
SPARED = ['ActivityEnable:2:22', 'ActivityEnable:2:17', 'ActivityEnableAndDump', 'ActivitySetAttribute', 'Subscribe_v2',
          'SetThreadIdType', 'EnableCallback', 'GetCallbackName', 'GetResultString', 'GetTimestamp', 'GetVersion',
          'ActivityEnableRuntimeApi', 'ActivityEnableDriverApi', 'ActivityGetNumDroppedRecords', 'ActivityDisable',
          'Unsubscribe', 'ActivityEnable:2:49', 'ActivityEnable:2:38', 'ActivityGetEnabledKinds']


# Functions of versions with several subscribers, and their equivalents in versions with one: both give the same result.
ONE = {'ActivityRegisterCallbacks_v2': 'ActivityRegisterCallbacks', 'ActivityEnable_v2': 'ActivityEnable:2:10',
       'ActivityDisable_v2': 'ActivityDisable', 'ActivityEnableAndDump_v2': 'ActivityEnableAndDump',
       'ActivityGetNextRecord_v2': 'ActivityGetNextRecord', 'ActivityGetNumDroppedRecords_v2': 'ActivityGetNumDroppedRecords',
       'ActivitySetAttribute_v2': 'ActivitySetAttribute', 'ActivityGetAttribute_v2': 'ActivitySetAttribute',
       'ActivityEnableRuntimeApi_v2': 'ActivityEnableRuntimeApi', 'ActivityEnableDriverApi_v2': 'ActivityEnableDriverApi',
       'GetTimestamp_v2': 'GetTimestamp'}
# Functions that deliver records: nothing or less is recorded, and the program ends normally.
LATER = ['ActivityGetNextRecord', 'ActivityFlushAll', 'Finalize']


def codes(few):
    return ('1', '2', '15', '21', '39', '999') if ARGS.long else few[:1] if ARGS.valgrind else few


def t17_all_functions():
    """The tables above have each function of CUPTI that the collector calls."""
    with open(ROOT + '/src/collect/cupti_abi.h') as f:
        asked = set(re.findall(r'^\tF\((\w+), [01],', f.read(), re.M))
    named = {x.split(':')[0] for x in NEEDED + SPARED + list(ONE) + LATER}
    check(len(asked) >= 20 and named == asked, asked ^ named)


def t17_several():
    """Where CUPTI allows several subscribers, each function with a subscriber may fail, and has the same effect as the one
    without a subscriber elsewhere."""
    several = ARGS.fakes + '/several'
    for f, one in ONE.items():
        for code in codes(('2',)):
            kind = one.partition(':2')[2]
            with Run('init', 'launch:10', 'exit:3', opts='sync,mem', fakes=several, env={'FAKE_FAIL': '%s:%s%s' % (f, code, kind)}) as r:
                if one in NEEDED:
                    dormant(r, 'no GPU work is recorded', 3)
                else:
                    s = r.ok(3).complete(0 if one in LATER else 10)
                    check(one in LATER or s.n('API') == 10, f, s.end)


def t17_each_function_fails():
    for f in NEEDED:
        for code in codes(('2', '15')):
            word = f.replace(':2', ':' + code, 1) if ':' in f else f + ':' + code
            words = word + (',Subscribe_v2:' + code if f == 'Subscribe' else '')
            with Run('init', 'push:a', 'launch:10', 'pop', 'state', 'exit:3', env={'FAKE_FAIL': words}) as r:
                dormant(r, 'no GPU work is recorded', 3)
                check('subscribed 0 kinds 0 single 0' in r.out, words, r.out)
    for f in SPARED:
        for code in codes(('2',)):
            if f == 'Subscribe_v2' and code in ('15', '39'):
                continue  # trusted answers about the driver and about other clients
            word = f.replace(':2', ':' + code, 1) if ':' in f else f + ':' + code
            with Run('init', 'launch:10', 'exit:3', opts='sync,mem', env={'FAKE_FAIL': word}) as r:
                s = r.ok(3).complete(10)
                check(s.n('API') == 10, word, s.end)
    for code in codes(('1', '21')):
        for longer in LONGER:
            with Run('init', 'launch:10', 'state', 'await:kinds 0', 'await:listening 1', 'launch:1', 'exit:3',
                     opts='duration=%g,detach' % (0.2 * ARGS.pause * longer), env={'FAKE_FAIL': 'Finalize:' + code}) as r:
                if 'subscribed 1 kinds 7' in r.ok(3).out:
                    r.complete(10)
                    break
        else:
            check(False, 'it stopped too early')
        with Run('init', 'launch:10', 'exit:3', env={'FAKE_FAIL': 'ActivityGetNextRecord:' + code}) as r:
            r.ok(3).complete(0)
        with Run('init', 'launch:10', 'exit:3', env={'FAKE_FAIL': 'ActivityFlushAll:' + code}) as r:
            check(r.ok(3).spool().complete)


def t18_missing_functions():
    with Run('init', 'launch:10', 'exit:3', fakes=os.path.join(ARGS.fakes, 'bare')) as r:
        s = r.ok(3).complete(10, 10)
        check({x['name'] for x in s.of('API')} == {'cu#307'}, s.of('API')[:2])
    with Run('init', 'launch:10', 'exit:3', fakes=os.path.join(ARGS.fakes, 'broken')) as r:
        dormant(r, 'has no function cuptiSubscribe', 3)
    with Run('init', 'launch:10', 'exit:3', env={'FAKE_DRIVER': '10020'}) as r:
        dormant(r, 'no libcupti for a driver of CUDA 10.2 was found; set TFPROF_CUPTI_PATH to one', 3)


def t19_no_buffers():
    """With one small buffer, further records are dropped and counted, by NULL or by makeshift buffers."""
    for driver in ('13000', '12040', '11080'):
        with Run('init', 'threads:4:2000', 'launch:10', 'exit:3', opts='buffers=1,buffer_size=16Ki',
                 env={'FAKE_DRIVER': driver}) as r:
            s = r.ok(3).spool()
            lost = s.lost(DROPPED)
            check(s.complete and lost > 0, driver, s.end, lost)
            # Shared makeshift buffers lose some records without counting them.
            check(s.n('KERNEL') + s.n('API') + lost == 16020 or driver != '13000', s.end, lost)
            check('were dropped' in r.log(), r.log())


def t20_dropped():
    with Run('init', 'launch:1000', 'exit:3', env={'FAKE_DROPPED': '500'}) as r:
        s = r.ok(3).complete(1000)
        check(s.lost(DROPPED) >= 500 and any('were dropped' in n for n in s.notes), s.of('LOST'), s.notes)


def t21_odd_buffers():
    # The last record of each buffer is cut; a flush between the launches, as on a slow machine, makes two buffers.
    with Run('init', 'launch:2', 'exit:3', env={'FAKE_END': 'truncated'}) as r:
        check(r.ok(3).spool().n('KERNEL') < 2)
    with Run('init', 'launch:1', settle(), 'launch:1', 'exit:3', opts='flush=20', env={'FAKE_END': 'truncated'}) as r:
        check(r.ok(3).complete(0).bound(UNREAD) and 'cannot read its own records' in r.log() and 'another profiler' not in r.log(), r.log())
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_END': 'empty'}) as r:
        r.ok(3).complete(0)
    with Run('init', 'launch:100', 'exit:3', env={'FAKE_END': 'unknown'}) as r:
        check(r.ok(3).complete(100).lost(UNKNOWN) >= 1)


def t22_odd_times():
    for times in ('zero', 'negative', 'huge'):
        with Run('init', 'launch:200', 'exit:3', env={'FAKE_TIMES': times}) as r:
            s = r.ok(3).complete(200, 200)
            check(s.lost(RUNNING if times == 'zero' else UNTIMED) == 200, s.of('LOST'))
            check(all(k['start'] == k['length'] == 0 for k in s.of('KERNEL')), s.of('KERNEL')[0])
            check(('impossible times' in r.log()) == (times != 'zero'), r.log())
    with Run('init', 'launch:200', 'exit:3', env={'FAKE_TIMES': 'early'}) as r:
        s = r.ok(3).complete(200)
        check(not s.lost(UNTIMED) and s.of('KERNEL')[0]['start'] < s.of('API')[0]['start'], s.of('LOST'))


def t23_out_of_order():
    """Buffers return in a different order than they were filled: nothing is lost, and each kernel has its call."""
    with Run('init', 'threads:6:1000', 'exit:3', opts='buffer_size=64Ki,flush=20', env={'FAKE_SHUFFLE': '1'}) as r:
        s = r.ok(3).complete(6000, 6000)
        numbers = [k['correlation'] for k in s.of('KERNEL')]
        check(numbers != sorted(numbers), 'they are in order')
        check(sorted(numbers) == sorted(a['correlation'] for a in s.of('API')) and len(set(numbers)) == 6000)


def t24_correlations_wrap():
    with Run('init', 'launch:20', 'exit:3', env={'FAKE_CORRELATION': '4294967290'}) as r:
        s = r.ok(3).complete(20)
        want = [(4294967290 + i) & 0xffffffff for i in range(1, 21)]
        check([k['correlation'] for k in s.of('KERNEL')] == want, s.of('KERNEL')[4:8])
    # Single functions have no correlations: all calls are enabled, and only some are kept.
    with Run('init', 'launch:5', 'await:calls 1', 'device:3', 'launch:5', 'exit:3', opts='flush=50',
             env={'FAKE_UNCORRELATED': '1'}) as r:
        s = r.ok(3).complete(10, 10)
        check([bool(k['correlation']) for k in s.of('KERNEL')] == [False] * 5 + [True] * 5, s.of('KERNEL'))


def t25_threads():
    with Run('init', 'threads:32:1000', 'exit:3') as r:
        s = r.ok(3).complete(32000, 32000)
        tids = {a['tid'] for a in s.of('API')}
        check(len(tids) == 32 and tids == {x['tid'] for x in s.of('RANGE')}, len(tids))


def t26_cupti_fails():
    with Run('init', 'launch:100', settle(), 'launch:100', settle(), 'exit:3', opts='flush=50',
             env={'FAKE_FATAL': '150'}) as r:
        s = r.ok(3).spool()
        check(s.complete and 100 <= s.n('KERNEL') <= 150, s.end)
        check('CUPTI failed' in r.log() and len(r.log().splitlines()) == 1, r.log())


def t27_flush_hangs():
    """The exit of the program waits two seconds for a writer that makes no progress."""
    with Run('init', 'launch:100', settle(), 'exit:3', opts='flush=50', env={'FAKE_BLOCK': '1000000'}) as r:
        s = r.ok(3).spool()
        check(s.n('KERNEL') == 100 and not s.complete and not s.end['damaged'], s.end)


def t27_flush_works():
    """The exit waits longer for a writer that is running or runnable."""
    with Run('init', 'launch:100', 'exit:3', opts='flush=100000', env={'FAKE_BURN': '1500'}) as r:
        r.ok(3).complete(100)


t27_flush_works.slow = True


def t28_second_client():
    """Another client takes the buffers while the program runs: the gap and its launches are noted. After the client, recording
    starts again: after a pause of the program, or at once if CUPTI reports it."""
    # A stop of the program that is longer than a silence counts as the end of the client.
    quiet = 'flush=20,silence=%d' % (600 * ARGS.pause)
    goes = ['init', 'launch:50', settle(100), 'steal:1', 'until-log:another profiler', 'launch:10', 'steal:0']
    for words, fakes in ((['await-log:restarted', 'launch:30'], None), (['until-log:restarted', 'launch:30'], ARGS.fakes + '/new')):
        with Run(*goes, *words, 'state', 'exit:3', opts=quiet, fakes=fakes) as r:
            s = r.ok(3).spool()
            launched = int(r.out.split('launches')[1])
            check(s.complete and 80 <= s.n('KERNEL') < launched, s.end, r.out)
            check(s.n('GAP') == 1 and s.of('GAP')[0]['to'] > s.of('GAP')[0]['from'], s.of('GAP'), s.notes)
            check(10 <= s.lost(KERNELS) <= launched - s.n('KERNEL'), s.of('LOST'), r.out)
            check(re.fullmatch('.*another profiler.*\nrecording has restarted\n', r.log()), r.log())
    with Run('init', 'launch:50', 'steal:2', 'until-log:restarted', 'launch:30', 'state', 'exit:3', opts=quiet) as r:
        s = r.ok(3).spool()
        check(s.complete and 30 <= s.n('KERNEL') < int(r.out.split('launches')[1]), s.end, r.out)
        check('another profiler has taken CUPTI out of the process' in r.log() and s.n('GAP') == 1, r.log())
    with Run('init', 'launch:50', sleep(700), 'launch:50', sleep(100), opts='flush=20,silence=%d' % (150 * ARGS.pause)) as r:
        check(not r.ok().complete(100).n('GAP') and not r.log(), r.log())  # it was idle


def t28_several_clients():
    """Where CUPTI allows several subscribers, another client takes no records from the recorder, and the recorder takes none from it."""
    several = ARGS.fakes + '/several'
    quiet = 'flush=20,silence=%d' % (100 * ARGS.pause)
    for opts in ('', ',detach,duration=1000'):
        with Run('init', 'launch:50', 'share:1', 'launch:100', sleep(500), 'launch:100', 'share:0', 'launch:50', 'state', 'exit:3',
                 opts=quiet + opts, fakes=several) as r:
            s = r.ok(3).complete(300, 300)
            check(s.compared and not s.of('LOST') and not s.n('GAP') and not r.log(), s.of('LOST'), s.of('GAP'), r.log())
            check('share 0\nshare 200\n' in r.out and s.info['cupti'] == '130500', r.out, s.info)
    # After a detach CUPTI stays in the process for the other client.
    for longer in LONGER:
        with Run('init', 'launch:10', 'share:1', 'state', 'await:subscribed 0', 'launch:20', 'share:0', 'exit:3',
                 opts='duration=%g,detach' % (0.3 * ARGS.pause * longer), fakes=several) as r:
            if r.ok(3).out.startswith('share 0\nsubscribed 1'):
                check(r.out.endswith('share 20\n') and r.complete(10).compared, r.out)
                break
    else:
        check(False, 'it stopped too early')
    # A client that wants whole graphs decides for all clients; so does the recorder if it is first.
    with Run('init', 'graph:3:5', 'launch:4', 'share:1', 'graph:2:5', 'exit:3', opts='graphs=graph', fakes=several) as r:
        s = r.ok(3).complete(4)
        check(s.n('GRAPH') == 5 and s.compared and s.end['graph_launches'] == 5, s.end)
    with Run('load:%s/libcupti.so.13' % several, 'share:2', 'init', 'graph:3:5', 'launch:4', 'exit:3', fakes=several) as r:
        s = r.ok(3).complete(4)
        check(s.n('GRAPH') == 3 and s.compared and not s.lost(KERNELS), s.end)
    # A subscriber that excludes all others, as in older versions.
    with Run('init', 'launch:10', 'exit:3', fakes=several, env={'FAKE_HOLDER': 'nsys'}) as r:
        dormant(r, 'another profiler has CUPTI: CUPTI for nsys', 3)
    # After a fatal error, the records delivered before it are read.
    with Run('init', 'launch:100', settle(), 'launch:100', settle(), 'exit:3', opts='flush=50', fakes=several, env={'FAKE_FATAL': '150'}) as r:
        s = r.ok(3).spool()
        check(s.complete and 100 <= s.n('KERNEL') <= 150 and 'CUPTI failed' in r.log(), s.end, r.log())


def t28_silent_kernels():
    """Launches without kernels are reported, as from a CUPTI that does not support the GPU."""
    with Run('init', 'until-log:GPU', 'exit:3', opts='flush=50,silence=50', env={'FAKE_MUTE': '1'}) as r:
        check('may not know this GPU' in r.ok(3).log(), r.log())
        check(r.spool().n('API') >= 100 and not r.spool().n('KERNEL'), r.spool().end)


def t28_costs():
    """A writer that uses too much processor time is reported; with self_limit it records less, then nothing."""
    with Run('init', 'until-log', 'launch:10', 'exit:3', opts='flush=50,silence=50', env={'FAKE_BURN': '50'}) as r:
        check(re.fullmatch(r'writing the recording takes \d+ % of a processor\n', r.ok(3).log()), r.log())
        s = r.spool()
        check(100 <= s.n('API') == s.n('KERNEL'), s.end)
    with Run('init', 'launch:200', 'drop:5', 'await-lines:2', 'launch:50', 'drop:5', 'await-lines:3', 'await:subscribed 0',
             'launch:50', settle(), 'state', 'exit:3', opts='self_limit,silence=50,flush=50') as r:
        r.ok(3).complete(250, 200)
        check('from here on, calls are not recorded' in r.log() and 'from here on, nothing is recorded' in r.log(), r.log())
        check('subscribed 0' in r.out, r.out)
