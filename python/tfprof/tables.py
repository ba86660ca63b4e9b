# SPDX-License-Identifier: Apache-2.0
"""Prints the columns of the tables.

    python -m tfprof.tables            all tables
    python -m tfprof.tables nodes      one of them
    python -m tfprof.tables --markdown
"""
import argparse
import sys
from typing import List, Optional

from .arrow import Schema, schemas


def markdown(tables: List[Schema]) -> str:
    """Returns the tables as text, in the format of docs/TABLES.md."""
    lines = []
    for t in tables:
        lines += ['## %s' % t.table, '', t.description, '', '| column | type | unit | meaning |', '| --- | --- | --- | --- |']
        lines += ['| `%s` | %s | %s | %s |' % (c.name, c.type, c.unit, c.description) for c in t.columns]
        lines.append('')
    return '\n'.join(lines).rstrip('\n') + '\n'


def main(words: Optional[List[str]] = None) -> int:
    p = argparse.ArgumentParser(prog='python -m tfprof.tables', description='Prints the schemas of the tables.')
    p.add_argument('table', nargs='?', help='one of them; without it all')
    p.add_argument('--markdown', action='store_true', help='as Markdown')
    args = p.parse_args(words)
    known = schemas()
    chosen = [t for t in known if args.table in (None, t.table)]
    if not chosen:
        p.error('unknown table %r: %s exist' % (args.table, ', '.join(t.table for t in known)))
    if args.markdown:
        sys.stdout.write(markdown(chosen))
        return 0
    for t in chosen:
        print('%s (schema version %s)' % (t.table, t.version))
        for c in t.columns:
            print('  %-28s %-7s %-6s %s' % (c.name, c.type, c.unit, c.description))
    return 0


if __name__ == '__main__':
    sys.exit(main())
