#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the structure of the code: includes between floors, circles of headers, circles of calls between the files of a
folder, length of functions, names of structs, and that the engine neither prints nor exits. Prints a line for each
violation, then counts files.

Calls come from the relocations of object files, so that a table of functions is not a call. Without objects (nothing is
built, or the processor's relocations are unknown) circles of calls are not checked, and the output says so.

    tools/check_layers.py [--objects build/check/obj] [ROOT]
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ARGS = argparse.ArgumentParser()
ARGS.add_argument('--objects', default='')
ARGS.add_argument('root', nargs='?', default=os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ARGS = ARGS.parse_args()
ROOT = ARGS.root
FLOORS = ['base', 'io', 'flops', 'trace', 'why', 'checkpoint', 'model', 'metric', 'view', 'device', 'compare', 'export', 'lib', 'cli']

# collect runs inside other processes: it may include its own headers and these.
COLLECT_MAY = {'base/bits.h', 'base/crc32c.h', 'base/num.h', 'base/option.h',
               'base/str.h', 'metric/option.def', 'io/block_format.h'}
# Headers of collect that other folders may include.
OF_COLLECT = {'collect/collect.h': {'cli'}}
PUBLIC = 'tfprof/tfprof.h'

# Files that may include generated protobuf code.
GENERATED = re.compile(r'^(model/read/\w+|checkpoint/ckpt|export/message/\w+|export/pprof/pprof)\.c$')
# Files that may include the headers of a library.
LIBRARIES = {
    'protobuf-c/': re.compile(r'^(io/pb\w*\.[ch]|model/(read/\w+|input)\.c|checkpoint/ckpt\.c|export/(message/\w+|pprof/pprof)\.c|lib/libraries\.c)$'),
    'pcre2.h': re.compile(r'^(base/pattern(_subst|_engine)?\.[ch]|lib/libraries\.c)$'),
    'zlib.h': re.compile(r'^(io/gz|lib/libraries)\.c$'),
    'snappy-c.h': re.compile(r'^io/sstable\.c$'),
    'sqlite3.h': re.compile(r'^(io/sqlite_(in_internal\.h|in\.c|check\.c)|lib/libraries\.c)$'),
    'editline/': re.compile(r'^cli/(repl|prompt)\.c$'),
    'curses.h': re.compile(r'^cli/ui_screen\.c$'),
    'histedit.h': re.compile(r'^cli/(keys|prompt)\.c$'),
    'setjmp.h': re.compile(r'^(base/(arena\.[ch]|work\.c|par\.c)|lib/(api|session)\.[ch])$'),
}

FUNCTION_MAX = 60

# The engine never prints, never exits, and does not read the environment.
TALK = re.compile(r'\b(printf|puts|putchar|perror|vprintf|exit|_exit|abort|getenv|setenv|signal|'
                  r'setlocale)\s*\(|\bstd(out|err)\b')

bad = []


def say(path, line, text):
    bad.append('%s:%d: %s' % (os.path.relpath(path, ROOT), line, text))


def strip_comments(text):
    """Blanks comments and string literals; keeps the line numbers."""
    def blank(m):
        s = m.group(0)
        if s.startswith('/'):
            return re.sub(r'[^\n]', ' ', s)
        return s[0] + ' ' * (len(s) - 2) + s[-1]
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', blank, text,
                  flags=re.S)


def includes(text):
    """Yields (line, '<' or '"', name) of every include."""
    code = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m.group(0)), text, flags=re.S)
    for i, line in enumerate(code.splitlines(), 1):
        m = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if m:
            yield i, m.group(1), m.group(2)


def check_include(path, name, line, quote, what, src):
    """Checks one include of the file src/<name>."""
    floor = name.split('/')[0]
    for prefix, who in LIBRARIES.items():
        if quote == '<' and what.startswith(prefix) and not who.match(name):
            say(path, line, '<%s> is not for this file' % what)
    if what.endswith('.pb-c.h'):
        if not GENERATED.match(name):
            say(path, line, 'generated code is included by model/read/*.c, checkpoint/ckpt.c, '
                'export/message/*.c and export/pprof/pprof.c only')
        return
    if what == PUBLIC:
        if floor not in ('lib', 'cli'):
            say(path, line, 'only lib and cli include the public header')
        return
    if quote == '<':
        return
    if not os.path.exists(os.path.join(src, what)):
        say(path, line, '"%s" does not exist below src (includes start there)' % what)
        return
    to = what.split('/')[0]
    if floor == 'collect':
        if to != 'collect' and what not in COLLECT_MAY:
            say(path, line, 'collect may not include "%s"' % what)
    elif floor == 'port':
        if to != 'port':
            say(path, line, 'port may not include "%s"' % what)
    elif to == 'collect':
        if floor not in OF_COLLECT.get(what, set()):
            say(path, line, 'only cli may include of collect, and only collect/collect.h')
    elif to not in FLOORS:
        say(path, line, '"%s" is on no floor' % what)
    elif FLOORS.index(to) > FLOORS.index(floor):
        say(path, line, '%s is below %s: it may not include "%s"' % (floor, to, what))
    elif what.endswith('_internal.h') and to != floor:
        say(path, line, '"%s" is private to %s' % (what, to))


def check_cycles(graph):
    """Reports headers that include each other in a circle."""
    state, seen = {}, set()
    for start in sorted(graph):
        stack = [(start, iter(sorted(graph[start])))]
        if state.get(start):
            continue
        state[start] = 1
        while stack:
            node, rest = stack[-1]
            nxt = next(rest, None)
            if nxt is None:
                state[node] = 2
                stack.pop()
            elif state.get(nxt) == 1:
                ring = [n for n, _ in stack]
                ring = ring[ring.index(nxt):] + [nxt]
                if frozenset(ring) not in seen:
                    seen.add(frozenset(ring))
                    say(os.path.join(ROOT, 'src', nxt), 1, 'headers in a circle: ' + ' -> '.join(ring))
            elif nxt in graph and not state.get(nxt):
                state[nxt] = 1
                stack.append((nxt, iter(sorted(graph[nxt]))))


def calls(objects):
    """Returns {file: {file that it calls: {function}}} of the object files below a folder; files are named FLOOR/.../NAME."""
    home, wanted = {}, {}
    # A file that was deleted or renamed after the build is left out.
    paths = {path: name for path in sorted(glob.glob(os.path.join(objects, '**', 'src', '**', '*.o'), recursive=True))
             for name in [path.split('/src/', 1)[1][:-2]] if os.path.exists(os.path.join(ROOT, 'src', name + '.c'))}
    if not paths:
        return {}
    listing = subprocess.run(['nm', '-PA', '--defined-only', *paths], capture_output=True, text=True, check=True).stdout
    for path, symbol, kind in (line.split()[:3] for line in listing.splitlines()):
        if kind == 'T':
            home[symbol] = paths[path[:-1]]
    listing = subprocess.run(['readelf', '-Wr', *paths], capture_output=True, text=True, check=True).stdout
    for part in ('\n' + listing).split('\nFile: ')[1:]:
        path, rest = part.split('\n', 1)
        wanted.setdefault(paths[path], set()).update(re.findall(r' R_\w+_(?:PLT32|CALL26|JUMP26) +\w+ +(\w+)', rest))
    graph = {name: {} for name in wanted}
    for name, functions in wanted.items():
        for f in functions:
            if home.get(f, name) != name:
                graph[name].setdefault(home[f], set()).add(f)
    return graph


def groups(graph):
    """Returns the strongly connected components of a graph, each after those that it calls (Tarjan, without recursion)."""
    index, low, stack, out = {}, {}, [], []
    for start in sorted(graph):
        if start in index:
            continue
        index[start] = low[start] = len(index)
        stack.append(start)
        walk = [(start, iter(sorted(graph[start])))]
        while walk:
            node, rest = walk[-1]
            to = next(rest, None)
            if to is None:
                walk.pop()
                if walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
                if low[node] == index[node]:
                    cut = stack.index(node)
                    out.append(stack[cut:])
                    del stack[cut:]
            elif to not in index:
                index[to] = low[to] = len(index)
                stack.append(to)
                walk.append((to, iter(sorted(graph[to]))))
            elif to in stack:
                low[node] = min(low[node], index[to])
    return out


def check_calls(objects):
    """Reports files that call each other in a circle, and prints the longest chain of calls inside each folder."""
    graph = calls(objects)
    if not any(graph.values()):
        print('calls: not checked: no object file below %s has known relocations' % objects)
        return
    levels, most = {}, {}
    for group in groups(graph):
        if len(group) > 1:
            how = ['%s -> %s (%s)' % (a, b, ', '.join(sorted(graph[a][b])[:3]))
                   for a in sorted(group) for b in sorted(group) if b in graph[a]]
            say(os.path.join(ROOT, 'src', sorted(group)[0] + '.c'), 1, 'calls in a circle: ' + '; '.join(how))
        for name in group:
            folder = os.path.dirname(name)
            below = [levels[to] for to in graph[name] if os.path.dirname(to) == folder and to in levels]
            levels[name] = 1 + max(below, default=0)
            most[folder] = max(most.get(folder, 0), levels[name])
    print('levels of calls: ' + ', '.join('%s %d' % x for x in sorted(most.items())))


def check_functions(path, code):
    """Checks the length of functions, which start and end with a brace in the first column (clang-format)."""
    start = None
    for i, line in enumerate(code.splitlines(), 1):
        if line.rstrip() == '{':
            start = i
        elif line.startswith('}') and start:
            if i - start + 1 > FUNCTION_MAX:
                say(path, start, 'function of %d lines, %d at most' % (i - start + 1, FUNCTION_MAX))
            start = None


def check_structs(path, code, structs):
    """Reports a name of a struct that two files define."""
    for i, line in enumerate(code.splitlines(), 1):
        m = re.match(r'(?:static (?:const )?)?struct (\w+) \{', line)
        if m and structs.setdefault(m.group(1), path) != path:
            say(path, i, 'struct %s: the name is used in %s too' % (m.group(1), os.path.relpath(structs[m.group(1)], ROOT)))


def check_source(path, name, src, graph, structs):
    text = open(path, encoding='utf-8').read()
    code = strip_comments(text)
    if not text.startswith('/* SPDX-License-Identifier: Apache-2.0'):
        say(path, 1, 'the first line is "/* SPDX-License-Identifier: Apache-2.0"')
    for line, quote, what in includes(text):
        check_include(path, name, line, quote, what, src)
        if quote == '"':
            graph.setdefault(name, set()).add(what)
    floor = name.split('/')[0]
    if floor in FLOORS and floor not in ('lib', 'cli'):
        for i, line in enumerate(code.splitlines(), 1):
            m = TALK.search(line)
            if m:
                say(path, i, 'the engine does not talk or exit: %s' % m.group(0).rstrip('( '))
    check_functions(path, code)
    check_structs(path, code, structs)


def files_of(folder, *ends):
    for at, dirs, names in sorted(os.walk(os.path.join(ROOT, folder))):
        dirs.sort()
        for n in sorted(names):
            if n.endswith(ends):
                yield os.path.join(at, n)


def main():
    src = os.path.join(ROOT, 'src')
    graph, names, structs, count = {}, {}, {}, 0
    for path in files_of('src', '.c', '.h', '.def'):
        name = os.path.relpath(path, src).replace(os.sep, '/')
        count += 1
        base = os.path.basename(name)
        if base in names and '/include/' not in name:  # those stand for headers of the system
            say(path, 1, 'the name is used twice: %s' % names[base])
        names[base] = name
        check_source(path, name, src, graph, structs)
    check_cycles({n: to for n, to in graph.items() if n.endswith('.h')})
    if ARGS.objects:
        check_calls(ARGS.objects)
    for path in [*files_of('tests', '.c', '.h'), *files_of('tools', '.c', '.h')]:
        count += 1
        check_functions(path, strip_comments(open(path, encoding='utf-8').read()))
    for line in bad:
        print(line)
    files = len({line.split(':')[0] for line in bad})
    print('%d passed, %d failed, 0 skipped' % (count - files, files))
    return 1 if bad else 0


if __name__ == '__main__':
    sys.exit(main())
