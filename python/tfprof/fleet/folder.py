# SPDX-License-Identifier: Apache-2.0
"""The output folder of a build, on a local or mounted file system. A build writes a run below OUT/_tmp, moves the files
into the table folders, and then writes the run's marker file in OUT/_runs. A run is complete if its marker file exists.
The next build removes the temporary files of a killed build.
"""
import contextlib
import fcntl
import json
import os
import shutil
import uuid
from typing import Any, Callable, Dict, Iterable, Iterator, List, Tuple

from .plan import ERRORS, Failures, Item, every_table, partition, schema_version


def marker(out: str, run: str) -> str:
    """Returns the path of a run's marker file."""
    return os.path.join(out, '_runs', partition('run', run) + '.json')


def note(run: str, items: List[Item], failed: int) -> str:
    """Returns the contents of a run's marker file."""
    return json.dumps({'run': run, 'files': len(items), 'errors': failed, 'schema_version': schema_version()}) + '\n'


def committed(out: str) -> List[str]:
    """Returns the names of the complete runs."""
    folder = os.path.join(out, '_runs')
    found = []
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        if name.endswith('.json'):
            with open(os.path.join(folder, name), encoding='utf-8') as f:
                found.append(str(json.load(f)['run']))
    return found


def pending(runs: Dict[str, List[Item]], complete: Iterable[str], say: Callable[[str], None]) -> Dict[str, List[Item]]:
    """Returns the incomplete runs. Reports each complete run through say."""
    done = set(complete)
    for run in sorted(runs.keys() & done):
        say('%s: complete, skipped' % run)
    return {run: files for run, files in runs.items() if run not in done}


@contextlib.contextmanager
def opened(out: str) -> Iterator[str]:
    """Locks the output folder, and yields the path of an unused folder for temporary files."""
    os.makedirs(out, exist_ok=True)
    scratch = os.path.join(out, '_tmp')
    with open(os.path.join(out, '_lock'), 'w', encoding='utf-8') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RuntimeError('%s: another build writes into this folder' % out) from None
        shutil.rmtree(scratch, ignore_errors=True)
        yield os.path.join(os.path.abspath(scratch), uuid.uuid4().hex)
        shutil.rmtree(scratch, ignore_errors=True)


def write(folder: str, found: Dict[str, Any], name: str) -> List[Tuple[str, str]]:
    """Writes each table as FOLDER/TABLE/NAME. Returns [(table, path)]."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped, import-not-found, unused-ignore]
    paths = []
    for table, rows in found.items():
        os.makedirs(os.path.join(folder, table), exist_ok=True)
        paths.append((table, os.path.join(folder, table, name)))
        pq.write_table(rows, paths[-1][1])
    return paths


def write_errors(folder: str, failed: Failures) -> List[Tuple[str, str]]:
    """Writes the table `errors`, unless no file failed."""
    from . import extract
    return write(folder, {ERRORS: extract.failures(sorted(failed))} if failed else {}, 'errors.parquet')


def commit(out: str, run: str, parts: Iterable[Tuple[str, str]], text: str) -> None:
    """Replaces a run: deletes its old files, moves the new ones, parts = [(table, path)], into the table folders, and
    writes the marker file with the given text."""
    if os.path.exists(marker(out, run)):
        os.remove(marker(out, run))
    for name in every_table():
        shutil.rmtree(os.path.join(out, name, partition('run', run)), ignore_errors=True)
    for table, path in parts:
        to = os.path.join(out, table, partition('run', run))
        os.makedirs(to, exist_ok=True)
        os.rename(path, os.path.join(to, os.path.basename(path)))
    os.makedirs(os.path.join(out, '_runs'), exist_ok=True)
    part = marker(out, run) + '.part'
    with open(part, 'w', encoding='utf-8') as f:
        f.write(text)
        f.flush()
        os.fsync(f.fileno())
    os.replace(part, marker(out, run))
