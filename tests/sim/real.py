#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests properties of the answers about time, on real files: the order of the rows or events in a file does not matter, and if
all times are multiplied by three, so are the times in the answers.

    --program, --realdata   tfprof; the folder of the real files
    names                   tests whose name contains one of these words
"""
import argparse
import contextlib
import json
import os
import random
import shutil
import sqlite3
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE] + [os.path.join(os.path.dirname(HERE), d) for d in ('check', 'models', 'trace')]
import cases  # noqa: E402
import run  # noqa: E402
import viewer  # noqa: E402
import wire  # noqa: E402

REALDATA = ''
FACTOR = 3
QUESTIONS = (('devices', ()), ('idle', ('--top=0',)), ('steps', ()), ('critical', ()), ('what-if', ('host*0.5',)))


# ---- Nsight Systems ----

TIMES = ('start', 'end', 'timestamp', 'startTime', 'stopTime', 'duration')


def changed_export(path, factor, seed):
    """Writes an export with all times multiplied, and the rows of each table in another order. Returns its path."""
    made = shutil.copy(path, 'changed.sqlite')
    os.chmod(made, 0o644)
    with contextlib.closing(sqlite3.connect(made)) as db:
        tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
        for table in tables:
            columns = [r[1] for r in db.execute('PRAGMA table_info("%s")' % table)]
            rows = [tuple(v * factor if c in TIMES and isinstance(v, int) else v for c, v in zip(columns, row))
                    for row in db.execute('SELECT * FROM "%s"' % table)]
            if seed:
                random.Random(seed).shuffle(rows)
            db.execute('DELETE FROM "%s"' % table)
            db.executemany('INSERT INTO "%s" VALUES (%s)' % (table, ', '.join('?' * len(columns))), rows)
        db.commit()
    return made


# ---- XSpace ----

# The messages from the file down to an event: the field of the next message below, and the fields with times.
LEVELS = ((1, ()), (3, ()), (4, (3, 9)), (None, (2, 3)))
EVENT = 3


def mixed(messages, shuffle, level):
    """Returns the messages of a level in another order. Events with equal times keep their order, which defines how they
    nest."""
    keys = [tuple(v for f, v in viewer.fields(m) if f in LEVELS[EVENT][1]) if level == EVENT else m for m in messages]
    rest = {}
    for key, message in zip(keys, messages):
        rest.setdefault(key, []).append(message)
    shuffle(keys)
    return [rest[key].pop(0) for key in keys]


def changed_message(data, factor, shuffle, level=0):
    """Returns a message with its times multiplied, and its planes, lines and events in another order."""
    inner, times = LEVELS[level]
    fields = list(viewer.fields(data))
    below = mixed([value for field, value in fields if field == inner], shuffle, level + 1)
    out = b''
    for field, value in fields:
        if field == inner:
            out += wire.sub(field, changed_message(below.pop(0), factor, shuffle, level + 1))
        elif isinstance(value, int):
            out += wire.num(field, value * factor if field in times else value)
        else:
            out += wire.sub(field, value)
    return out


def changed_xspace(path, factor, seed):
    """Writes an XSpace with all times multiplied, and planes, lines and events in another order. Returns its path."""
    with open(path, 'rb') as f:
        data = f.read()
    with open('changed.xplane.pb', 'wb') as f:
        f.write(changed_message(data, factor, random.Random(seed).shuffle if seed else lambda v: None))
    return 'changed.xplane.pb'


# ---- tests ----

def by_content(answer):
    """Returns an answer with its rows in an order that does not depend on the file: devices are numbered in the order of the
    file, and rows of equal time follow it. Segments of a path, which are also the rows of that answer, have an order."""
    if isinstance(answer, dict):
        ordered = {'segments', 'rows'} if 'segments' in answer else set()
        return {k: v if k in ordered else by_content(v) for k, v in answer.items()}
    if isinstance(answer, list):
        return sorted((by_content(x) for x in answer), key=lambda x: json.dumps(x, sort_keys=True))
    return answer


def same(path, change, factor, seed):
    """Asserts that the answers about a changed file equal the answers about the file. The rows of `devices` have points in
    time, which also count from the origin of the clock, and quantiles of histograms, which are rounded."""
    other = change(path, factor, seed)
    for command, words in QUESTIONS:
        a, b = run.ask(command, [path], *words), run.ask(command, [other], *words)
        if seed:
            a, b = by_content(a), by_content(b)
        wrong = [w for w in run.unlike(a, b, factor) if not w[0].endswith(('.from_ns', '.to_ns', '.gap_median_ns', '.gap_p99_ns', '.gap_max_ns')) or
                 command != 'devices' or seed]
        assert not wrong, '%s: %s: (where, before, after): %s' % (os.path.basename(path), command, wrong[:3])


def files(xspaces):
    """Yields real files with the function that changes them. xspaces: prefixes of the names of XSpaces."""
    for folder, first, end, change in (('nsys', '', '.sqlite', changed_export), ('xplane', xspaces, '.pb', changed_xspace)):
        names = sorted(n for n in os.listdir(os.path.join(REALDATA, folder)) if n.startswith(first) and n.endswith(end))
        assert len(names) > 1, 'too few files in ' + folder
        for n in names:
            yield os.path.join(REALDATA, folder, n), change


def order_in_the_file_does_not_matter():
    """The answers about a file whose rows or events were shuffled have the same rows."""
    for path, change in files(('gpu', 'jax', 'tpu')):
        same(path, change, 1, 7)


def answers_grow_with_all_times():
    """If all times of a file are multiplied by three, so are the times in the answers. tpu_inference_2 is left out: its times
    are in stats of events, too."""
    for path, change in files(('gpu', 'jax')):
        same(path, change, FACTOR, 0)


TESTS = [order_in_the_file_does_not_matter, answers_grow_with_all_times]


def main():
    global REALDATA
    p = argparse.ArgumentParser()
    p.add_argument('--program', required=True)
    p.add_argument('--realdata', required=True)
    p.add_argument('names', nargs='*')
    args = p.parse_args()
    run.PROGRAM, REALDATA = os.path.abspath(args.program), os.path.abspath(args.realdata)
    return cases.run([t for t in TESTS if not args.names or any(n in t.__name__ for n in args.names)])


if __name__ == '__main__':
    sys.exit(main())
