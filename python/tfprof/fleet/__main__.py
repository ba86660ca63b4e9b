# SPDX-License-Identifier: Apache-2.0
"""The command line of tfprof.fleet."""
import argparse
import re
import sys
from typing import Any, List, Optional

from .. import errors
from ..sources import is_url
from . import iceberg, inputs, maintain, recipes, update
from .plan import PATTERN, TABLES, plan, read_table
from .store import Store

UNITS = {'h': 3600, 'd': 86400, 'w': 7 * 86400}


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _given(args: argparse.Namespace) -> update.Given:
    """Returns the input files of a build."""
    if args.paths_from:
        items = [x._replace(path=inputs.absolute(x.path)) for x in read_table(args.paths_from)]
        if not items:
            raise ValueError('%s: no files: rows with path, run and host were expected' % args.paths_from)
        remote = {x.path: inputs.remote_stat(x.path) for x in items if is_url(x.path)}
        return update.Given(items, [], remote, True)
    words = [inputs.absolute(p) for p in args.paths]
    paths, states = inputs.expand(words)
    return update.Given(plan(paths, args.pattern), words, states, args.pattern != PATTERN)


def _engine(args: argparse.Namespace, given: update.Given) -> update.Engine:
    if any(p.startswith('memory://') for p in [args.out, *given.remote]):
        from .local import Here
        return Here()
    if args.engine == 'spark':
        from . import spark
        return spark.Spark(spark.session(args.master))
    from .local import Pool
    return Pool(args.processes)


def _build(args: argparse.Namespace) -> int:
    given = _given(args)
    done = update.build(given, args.out, _engine(args, given), tables=args.tables.split(',') if args.tables else None,
                       memory_limit=args.memory_limit, again=args.again, recover=args.recover, per_task=args.per_task, say=_say)
    print('%d runs written, %d files read, %d unchanged, %d removed, %d refused'
          % (len(done.runs), done.read, done.kept, done.removed, sum(done.runs.values())))
    return 0


def _check(args: argparse.Namespace) -> int:
    problems = maintain.check(args.out)
    for p in problems:
        print(p)
    print('%d problems' % len(problems) if problems else 'no problems')
    return 1 if problems else 0


def _compact(args: argparse.Namespace) -> int:
    maintain.compact(args.out, args.size << 20, _say)
    return 0


def _delta(args: argparse.Namespace) -> int:
    store = Store(args.out)
    with store.lock():
        store.tidy(store.state(), delta=True)
    return 0


def _iceberg(args: argparse.Namespace) -> int:
    store = Store(args.out)
    with store.lock():
        iceberg.enable(store, args.catalog, args.namespace)
        store.tidy(store.state())
    return 0


def _age(text: str) -> float:
    m = re.match(r'(\d+)([hdw])$', text)
    if not m:
        raise argparse.ArgumentTypeError('%r is not an age (example: 30d)' % text)
    return float(int(m.group(1)) * UNITS[m.group(2)])


def _expire(args: argparse.Namespace) -> int:
    gone = maintain.expire(args.out, args.older_than, args.keep, _say)
    print('%d runs expired' % len(gone))
    return 0


def _cell(value: Any) -> str:
    """Returns a value as a cell of a tab-separated table: without line breaks, and empty for None."""
    text = '' if value is None else '%.4g' % value if isinstance(value, float) else str(value)
    return ' '.join(re.split('[\t\r\n]', text))


def _ask(args: argparse.Namespace) -> int:
    values = dict(v.split('=', 1) for v in args.values)
    columns, rows = recipes.run_recipe(args.out, args.recipe, values, engine=args.engine)
    print('\t'.join(columns))
    for row in rows[:args.top or None]:
        print('\t'.join(map(_cell, row)))
    return 0


def _page(args: argparse.Namespace) -> int:
    from . import page
    done = page.write(args.out, args.output, args.reports, _say)
    print('%s, %d reports' % (done.path, len(done.reports)))
    return 0


def _list(args: argparse.Namespace) -> int:
    del args
    for r in recipes.all_recipes():
        print('%-18s %s' % (r.name, r.help))
        for name, preset in r.values.items():
            print('%-18s   %s=%s' % ('', name, preset))
    return 0


def _build_words(b: argparse.ArgumentParser) -> None:
    b.add_argument('out', help='output folder, or a URL such as s3://bucket/tables')
    b.add_argument('paths', nargs='*', help='files, folders, glob patterns, or URLs of them')
    b.add_argument('--paths-from', help='CSV file with the columns path, run and host, instead of paths')
    b.add_argument('--pattern', default=PATTERN, help='regular expression with the groups run and host, searched in each path (default: %(default)s)')
    b.add_argument('--tables', default='', help='table names, separated by commas; +NAME adds one (default: %s)' % ','.join(TABLES))
    b.add_argument('--engine', choices=['local', 'spark'], default='local')
    b.add_argument('--processes', type=int, default=0, help='local: worker processes (default: one per CPU)')
    b.add_argument('--master', default='', help='spark: master URL, such as local[4,3] (default: chosen by spark-submit)')
    b.add_argument('--per-task', type=int, default=0, help='input files per task (default: up to 128)')
    b.add_argument('--memory-limit', type=int, default=0, help='maximum bytes of memory for one profile')
    b.add_argument('--recover', action='store_true', help='read the intact part of damaged files')
    b.add_argument('--again', action='store_true', help='read unchanged files as well')
    b.set_defaults(run=_build)


def _parser() -> argparse.ArgumentParser:
    p = argparse.ArgumentParser(prog='python -m tfprof.fleet', description='Thousands of profiles as Parquet tables.')
    commands = p.add_subparsers(dest='command', required=True)
    _build_words(commands.add_parser('build', help='bring the tables up to date: reads new and changed files only'))
    c = commands.add_parser('check', help='compare the tables with the list of files; status 1 if they differ')
    c.add_argument('out')
    c.set_defaults(run=_check)
    c = commands.add_parser('compact', help='join small Parquet files')
    c.add_argument('out')
    c.add_argument('--size', type=int, default=maintain.TARGET >> 20, help='size of the new files in MB (default: %(default)s)')
    c.set_defaults(run=_compact)
    d = commands.add_parser('delta', help='make Delta tables of the tables; later builds commit to them')
    d.add_argument('out')
    d.set_defaults(run=_delta)
    i = commands.add_parser('iceberg', help='make Iceberg tables of the tables; later builds commit to them')
    i.add_argument('out')
    i.add_argument('--catalog', default='', help='name of a catalog in the configuration of pyiceberg (default: a catalog in OUT)')
    i.add_argument('--namespace', default=iceberg.NAMESPACE, help='namespace of the tables (default: %(default)s)')
    i.set_defaults(run=_iceberg)
    e = commands.add_parser('expire', help='remove the rows of old runs')
    e.add_argument('out')
    e.add_argument('--older-than', type=_age, help='age of the newest file of a run, such as 12h, 30d or 8w')
    e.add_argument('--keep', type=int, help='number of the newest runs to keep')
    e.set_defaults(run=_expire)
    a = commands.add_parser('ask', help='run a recipe')
    a.add_argument('out')
    a.add_argument('recipe', help='name of a recipe, or an SQL file')
    a.add_argument('values', nargs='*', help='NAME=VALUE')
    a.add_argument('--engine', choices=['duckdb', 'spark'], default='duckdb')
    a.add_argument('--top', type=int, default=0, help='maximum number of rows')
    a.set_defaults(run=_ask)
    g = commands.add_parser('page', help='write an HTML page with the trends of the runs')
    g.add_argument('out')
    g.add_argument('-o', '--output', default='fleet.html', help='the page (default: %(default)s); reports go to a folder beside it')
    g.add_argument('--reports', type=int, default=10, help='maximum number of reports of single workers (default: %(default)s)')
    g.set_defaults(run=_page)
    commands.add_parser('recipes', help='list the recipes').set_defaults(run=_list)
    return p


def main(words: Optional[List[str]] = None) -> int:
    p = _parser()
    args = p.parse_args(words)
    if args.command == 'build' and bool(args.paths) == bool(args.paths_from):
        p.error('either paths or --paths-from is given')
    if args.command == 'expire' and args.older_than is None and args.keep is None:
        p.error('expire needs --older-than or --keep')
    if args.command == 'ask' and any('=' not in v for v in args.values):
        p.error('values must have the form NAME=VALUE')
    try:
        return int(args.run(args))
    except (errors.Error, OSError, ValueError, RuntimeError, ImportError) as e:
        print('tfprof.fleet: %s' % e, file=sys.stderr)
        return 1


if __name__ == '__main__':
    sys.exit(main())
