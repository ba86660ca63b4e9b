# SPDX-License-Identifier: Apache-2.0
"""Decides which files of a folder are read together, as the program does with files that are named together: a graph with
its run metadata and op log, TensorRT layers with their timings, an ONNX model with the profile of ONNX Runtime, a
PyTorch trace with its execution trace."""
import os
import re
from collections import Counter
from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Set, Tuple

# Formats of files that complete other files, or are completed by them.
KINDS = {'graph': 'graph', 'run metadata': 'step', 'op log': 'log', 'TensorRT layers': 'layers', 'TensorRT timings': 'timings',
         'ONNX model': 'onnx', 'ONNX Runtime trace': 'onnxruntime', 'PyTorch execution trace': 'calls', 'PyTorch trace': 'pytorch'}
# Kind of the file that is completed, and the kinds that complete it.
RULES: Sequence[Tuple[str, Tuple[str, ...]]] = (
    ('graph', ('step', 'log')), ('layers', ('timings',)), ('onnxruntime', ('onnx',)))
_RANK = re.compile(r'rank[-_=.]?(\d+)', re.I)


class Process(NamedTuple):
    """The process that wrote a file, as far as the file states it."""
    rank: Optional[int] = None
    pid: Optional[int] = None


def kind_of(form: Optional[str]) -> str:
    """Returns the kind of a file with this format; empty if no other file is read together with it."""
    return KINDS.get((form or '').split(',')[0], '')


def _prefix(a: str, b: str) -> int:
    return len(os.path.commonprefix([a, b]))


def _partner(name: str, mains: List[str]) -> Optional[str]:
    """Returns the main file that a file completes: the only one of its folder, the only one of its rank, or the one
    whose name has the longest common beginning. None if this file is not unique."""
    rank = _RANK.search(name)
    if rank:
        ranked = [(m, _RANK.search(os.path.basename(m))) for m in mains]
        if any(r for _, r in ranked):
            mains = [m for m, r in ranked if r and int(r.group(1)) == int(rank.group(1))]
    if len(mains) < 2:
        return mains[0] if mains else None
    lengths = [_prefix(os.path.basename(m), name) for m in mains]
    best = max(lengths)
    return mains[lengths.index(best)] if best and lengths.count(best) == 1 else None


def _process(path: str, processes: Mapping[str, Process]) -> Process:
    """Returns the process of a file; its rank is otherwise the number after the last "rank" in the path."""
    stated = processes.get(path, Process())
    named = _RANK.findall(path)
    return stated._replace(rank=int(named[-1])) if stated.rank is None and named else stated


def _joinable(calls: Process, trace: Process, only: bool) -> bool:
    """True if an execution trace may belong to the process of a trace. only: the folder has one of each; then unknown
    ranks and process ids are accepted."""
    ranks = None not in (calls.rank, trace.rank)
    pids = None not in (calls.pid, trace.pid)
    if ranks and calls.rank != trace.rank:
        return False
    return only or ((ranks or pids) and (not pids or calls.pid == trace.pid))


def _same_process(traces: List[str], calls: List[str], processes: Mapping[str, Process]) -> List[Tuple[str, str]]:
    """Returns the traces and execution traces that have exactly each other as candidates, as the program joins them."""
    only = len(traces) == len(calls) == 1
    of = {path: _process(path, processes) for path in (*traces, *calls)}
    pairs = [(t, c) for t in traces for c in calls if _joinable(of[c], of[t], only)]
    uses = Counter(path for pair in pairs for path in pair)
    return [(t, c) for t, c in pairs if uses[t] == uses[c] == 1]


def units(kinds: Mapping[str, str], processes: Mapping[str, Process]) -> List[Tuple[str, ...]]:
    """Returns the files to be read together, the completed file first; files without a partner are left out. kinds: {path:
    kind}. processes: of PyTorch traces and execution traces."""
    folders: Dict[str, Dict[str, List[str]]] = {}
    for path in sorted(kinds):
        folders.setdefault(path.rsplit('/', 1)[0], {}).setdefault(kinds[path], []).append(path)
    found: List[Tuple[str, ...]] = []
    for there in folders.values():
        for main, parts in RULES:
            chosen: Dict[str, List[str]] = {}
            for path in (p for kind in parts for p in there.get(kind, ())):
                partner = _partner(os.path.basename(path), there.get(main, []))
                if partner:
                    chosen.setdefault(partner, []).append(path)
            found += [(m, *_once(main, members, kinds)) for m, members in chosen.items()]
        found += _same_process(there.get('pytorch', []), there.get('calls', []), processes)
    return found


def _once(main: str, members: List[str], kinds: Mapping[str, str]) -> List[str]:
    """Keeps the first file of each kind, except for steps, because a graph may have several."""
    seen: Set[str] = set()
    kept = []
    for path in members:
        if kinds[path] == 'step' or kinds[path] not in seen:
            kept.append(path)
        seen.add(kinds[path])
    return kept
