# SPDX-License-Identifier: Apache-2.0
"""Loads a profile and queries its views."""
import json
import operator
import os
import re
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from . import _native, rows
from ._native import ProgressCallback, Source
from .arrow import ArrowTable
from .errors import InvalidArgumentError
from .messages import AdviceProto
from .rows import Row

Path = Union[str, 'os.PathLike[str]']
_LISTS = {'account_type_regexes', 'start_name_regexes', 'trim_name_regexes', 'show_name_regexes',
          'hide_name_regexes', 'device_regexes', 'worker_regexes'}


def option_values(name: str, value: Any) -> List[str]:
    """Converts a Python value to the values of an option: the items of a list, or a single value."""
    if isinstance(value, bool):
        return ['true' if value else 'false']
    if isinstance(value, (list, tuple, set, frozenset)):
        return [str(v) for v in (value if isinstance(value, (list, tuple)) else sorted(value))]
    if name in ('select', 'stats'):
        return [v for v in str(value).split(',') if v]
    if value is None and name in _LISTS:
        return []
    return [str(value)]


def spool_words(how: Mapping[str, Any]) -> List[str]:
    """Converts recording options to words: step_nvtx='pytorch' becomes step-nvtx=pytorch. Switches that are False or
    None are omitted."""
    words = []
    for name, value in how.items():
        if value is None or value is False:
            continue
        word = name.replace('_', '-')
        words.append(word if value is True else '%s=%s' % (word, value))
    return words


class Profile:
    """A profile of any kind.

    source: a path, bytes, or a message with SerializeToString, recognised by its content: a trace (XSpace, PyTorch,
    ONNX Runtime, Nsight Systems, Chrome JSON), a TensorFlow or pprof profile, a model (GraphDef, MetaGraphDef,
    SavedModel, ONNX, TensorRT), run metadata, an op log, a recording, a folder or a pattern of them. A list of paths
    is loaded as one profile: a graph with its run metadata and op log, or several workers. Files may be
    gzip-compressed. The parts of a TensorFlow profile can also be given by their roles:
    graph: a GraphDef, text or binary; also a checkpoint's .meta, or saved_model.pb.
    profile: also a folder of ProfileContext or a SavedModel, a pattern such as 'job_*/profile_100', or a list of such
    paths: each path is then a worker with its own steps; by='worker' compares them.
    run_meta: a list (steps 0, 1, ...) or a mapping from step to input.
    spool: a GPU recording: its folder, or the file of one process. spool_options: how to read it, like the program's
    flags for recordings: {'step_nvtx': 'pytorch', 'job': '7', 'keep_warmup': True}.
    progress(done, total): called while loading; if it returns False, loading ends.
    memory_limit: maximum bytes of memory, 0: no limit. threads: 0: all processors.
    recover: read the intact part of damaged binary inputs and recordings; notes reports what is lost.

    Views accept the options of the program as keyword arguments: max_depth=5, min_micros=100, order_by='micros',
    show_name_regexes=['.*conv.*'], select=['micros', 'bytes'], step=3, ..."""

    def __init__(self, source: Union[Source, Iterable[Path], None] = None,
                 run_meta: Union[Iterable[Source], Mapping[int, Source]] = (),
                 op_log: Optional[Source] = None,
                 profile: Union[Source, Iterable[Path], None] = None,
                 checkpoint: Optional[Path] = None, *, graph: Optional[Source] = None,
                 spool: Optional[Source] = None,
                 spool_options: Optional[Mapping[str, Any]] = None, threads: int = 0, memory_limit: int = 0,
                 progress: Optional[ProgressCallback] = None, recover: bool = False) -> None:
        self._session = _native.Session(threads, memory_limit, progress, recover=recover)
        self._order = threading.Lock()  # setting options and running go together
        self.notes: str = ''  # what the last call remarked
        how = spool_words(spool_options or {})
        if source is not None:
            self._add_any(source, how)
        paths = [profile] if isinstance(profile, (str, os.PathLike)) else profile
        if isinstance(paths, (list, tuple)) and not isinstance(paths, _native.NamedBytes):
            self._note(self._session.add_paths(paths))
            profile = None
        if spool is not None:
            self._note(self._session.add(_native.SPOOL, spool, how=how))
        for kind, given in ((_native.CHECKPOINT, checkpoint), (_native.PROFILE, profile),
                            (_native.GRAPH, graph), (_native.OP_LOG, op_log)):
            if given is not None:
                self._note(self._session.add(kind, given))
        self.add_steps(run_meta)

    def _add_any(self, source: Any, how: List[str]) -> None:
        if isinstance(source, (list, tuple)) and not isinstance(source, _native.NamedBytes):
            if how:
                raise InvalidArgumentError('spool_options belong to one recording, not to a list of paths',
                                           'INVALID_ARGUMENT')
            self._note(self._session.add_files(source))
        elif hasattr(source, 'as_graph_def'):
            self._note(self._session.add(_native.GRAPH, source))
        else:
            self._note(self._session.add(_native.ANY, source, how=how))

    def __repr__(self) -> str:
        steps = self.steps
        few = ' '.join(map(str, steps[:8])) + (' ...' if len(steps) > 8 else '')
        return '<Profile: %s>' % ('steps ' + few if few else 'no steps')

    def _note(self, notes: bytes) -> None:
        self.notes += _native.text(notes)

    def add_steps(self, run_meta: Union[Iterable[Source], Mapping[int, Source]]) -> None:
        """Adds steps, given as a mapping from step numbers or as a list. The steps of a list are numbered from 0, or
        continue after the last loaded step."""
        if isinstance(run_meta, (str, bytes, os.PathLike)) or hasattr(run_meta, 'SerializeToString'):
            run_meta = [run_meta]
        if not isinstance(run_meta, Mapping):
            first = max(self.steps, default=-1) + 1
            run_meta = dict(enumerate(run_meta, first))
        if run_meta:
            self._note(self._session.add_steps(list(run_meta.items())))

    @property
    def steps(self) -> List[int]:
        return self._session.steps()

    @property
    def devices(self) -> List[str]:
        return self._session.devices()

    @property
    def workers(self) -> List[str]:
        """The names of the workers; empty for a single file."""
        return self._session.workers()

    @property
    def coverage(self) -> float:
        """The share of nodes that ran in at least one step, from 0 to 1; 0 without steps."""
        return self._session.coverage()

    def _ask(self, view: str, result: bool, options: Dict[str, Any], line: bool = False) -> _native.Answer:
        with self._order:
            self._session.reset()
            for name, value in options.items():
                self._session.set(name, option_values(name, value))
            answer = self._session.run(view, result=result, line=line)
        self.notes = _native.text(answer.notes)
        return answer

    def _tree(self, view: str, make: Callable[[bytes], Row], options: Dict[str, Any]) -> Row:
        options.setdefault('output', 'none')
        return make(self._ask(view, True, options).result)

    def scope(self, **options: Any) -> Row:
        """Returns the root row of the scope view (nodes by name scope)."""
        return self._tree('scope', rows.tree, options)

    def graph(self, **options: Any) -> Row:
        """Returns the root row of the graph view (nodes along data-flow edges)."""
        return self._tree('graph', rows.tree, options)

    def op(self, **options: Any) -> Row:
        """Returns the root row of the op view; its children are the operation types."""
        return self._tree('op', rows.op_list, options)

    def code(self, **options: Any) -> Row:
        """Returns the root row of the code view (Python lines by call stack). Needs an input with call stacks, such
        as an op log."""
        return self._tree('code', rows.multi_tree, options)

    def advise(self, checkers: Optional[Iterable[str]] = None) -> Dict[str, List[str]]:
        """Returns the reports of all checkers, or of the named ones."""
        answer = self._session.run('advise', result=True, checkers=checkers)
        self.notes = _native.text(answer.notes)
        found = AdviceProto.FromString(answer.result).checkers
        return {name: list(c.reports) for name, c in found.items()}

    def text(self, view: str, **options: Any) -> str:
        """Returns the text that the program prints for a view."""
        return _native.text(self._ask(view, False, options).text)

    def document(self, view: str, **options: Any) -> Dict[str, Any]:
        """Returns the document of a view, as -output json writes it (docs/schema/view.json): 'rows', 'sources',
        'steps', 'options', 'warnings', 'truncation'."""
        options['output'] = 'json'
        answer = self._ask(view, False, options)
        document: Dict[str, Any] = json.loads(answer.text)
        return document

    def records(self, view: str, **options: Any) -> List[Dict[str, Any]]:
        """Returns the rows of a view: path, parent, depth, type, own_<metric>, total_<metric>, ...; with
        stats=['mean', 'cv'] also statistics over the steps. pandas.DataFrame accepts the list."""
        rows: List[Dict[str, Any]] = self.document(view, **options)['rows']
        return rows

    def table(self, name: str, *, run: Optional[str] = None, worker: Optional[str] = None,
              rows: int = 0) -> ArrowTable:
        """Returns a table with fixed columns, the same for every input (docs/TABLES.md): 'runs', 'steps', 'nodes',
        'slices', 'kernels', 'devices' or 'memory'. run, worker: values of these columns. rows: maximum rows per
        batch."""
        def open_stream(address: int) -> None:
            self.notes = _native.text(self._session.arrow_stream(address, table=name, run=run, worker=worker,
                                                                 rows=rows))
        return ArrowTable(open_stream, 'table %s' % name)

    def arrow(self, view: str, **options: Any) -> ArrowTable:
        """Returns the rows of a view, advise, top, devices, kernels, steps, memory or roofline as a table with the
        columns of -output csv."""
        def open_stream(address: int) -> None:
            with self._order:
                self._session.reset()
                for name, value in options.items():
                    self._session.set(name, option_values(name, value))
                self.notes = _native.text(self._session.arrow_stream(address, command=view))
        return ArrowTable(open_stream, 'answer of %s' % view)

    def summary(self) -> Dict[str, Any]:
        """Returns the document of `summary -output json`: 'nodes', 'types', 'steps', 'devices', 'missing', ...
        text('summary') returns the text."""
        page: Dict[str, Any] = json.loads(self._ask('summary', False, {'output': 'json'}).text)
        return page

    def step_time(self) -> List[Dict[str, Any]]:
        """Returns the wall time of an average step of a trace or recording, and how it divides on each device:
        device, steps, step_ns, which is the sum of compute_ns, exposed_communication_ns, exposed_copy_ns and idle_ns;
        median_ns, min_ns, max_ns, deviation_ns over the steps. document('steps') contains the individual steps."""
        found: List[Dict[str, Any]] = self.document('steps')['step_time']
        return found

    def phases(self) -> List[Dict[str, Any]]:
        """Returns the phases of the steps of an LLM server (vLLM, SGLang) in a trace, one row for each: phase
        ('prefill', 'decode', 'mixed', ...), steps, requests, tokens, step_mean_ns, step_median_ns, step_p99_ns,
        tokens_per_second, busy_ns, the shares attention, matrix, communication and sampling of the device time in percent,
        graph_launches, eager_steps, graph_gap_ns, padding. None: unknown."""
        found: List[Dict[str, Any]] = self.document('phases')['phases']
        return found

    def top(self, n: int = 20, by: Optional[str] = None, **options: Any) -> List[Dict[str, Any]]:
        """Returns the n nodes (0: all) with the largest own values, largest first: path, type, own_<metric>, share
        and cumulative_share in percent, calls. by: a metric, such as 'bytes'; default: the time, or params without
        steps. The nodes of traces are ordered by device time (own_accelerator_micros), or by host time
        (own_self_micros) without device work."""
        if by is not None and not re.fullmatch(r'\w+', by):
            raise InvalidArgumentError('by: %r is not the name of a metric' % by, 'INVALID_ARGUMENT')
        line = 'top -n %d%s -output json' % (operator.index(n), ' -by ' + by if by else '')
        answer = self._ask(line, False, options, line=True)
        rows: List[Dict[str, Any]] = json.loads(answer.text)['nodes']
        return rows

    def diff(self, other: Union['Profile', Source, None] = None, view: str = 'scope', *,
             steps: Optional[Sequence[Union[int, str]]] = None, **options: Any) -> Dict[str, Any]:
        """Compares another profile, or a path, with this profile. Differences are the other profile minus this one,
        so increases are positive. Returns the document of `diff -output json`, with 'rows'. steps: a step of each
        side, such as (3, 'slowest'); with other=None, two steps of this profile are compared. Options are those of
        the command diff: select, delta, min_size, gate, all, per, ... A gate that fails or is inconclusive is
        reported in the document."""
        words = ['-view=' + view, '-output=json']
        for side, step in zip(('left', 'right'), steps or ()):
            words.append('%s@%s' % (side, step))
        for name, value in options.items():
            for v in [','.join(value)] if name in ('select', 'names') and not isinstance(value, str) else \
                    value if isinstance(value, (list, tuple)) else [value]:
                words += ['--%s' % name] if v is True else [] if v is False else ['--%s=%s' % (name, v)]
        if other is not None and not isinstance(other, Profile):
            with Profile(other) as loaded:
                return self.diff(loaded, view, steps=steps, **options)
        with self._order:
            self._session.reset()
            answer = self._session.diff(self._session if other is None else other._session, words)
        self.notes = _native.text(answer.notes)
        document: Dict[str, Any] = json.loads(answer.text)
        return document

    def timeline(self, path: Path, view: str = 'graph', **options: Any) -> str:
        """Writes a Chrome trace, or one for each step, to <path>_<step>. Returns the messages of the program."""
        options['output'] = 'timeline:outfile=%s' % os.fspath(path)
        options.setdefault('max_depth', 100000)
        return self.text(view, **options)

    def pprof(self, path: Path, metric: str = 'micros', **options: Any) -> str:
        """Writes the code view as a gzip-compressed pprof profile. Returns the messages of the program."""
        options['output'] = 'pprof:outfile=%s' % os.fspath(path)
        return self.text('code', select=[metric], **options)

    def write(self, path: Path) -> None:
        """Writes all loaded data as one ProfileProto."""
        self._session.write_profile(path)

    def to_bytes(self) -> bytes:
        """Returns all loaded data as the bytes of one ProfileProto."""
        return self._session.write_profile()

    def cancel(self) -> None:
        """Ends the call in progress on another thread; it raises CancelledError there."""
        self._session.cancel()

    def close(self) -> None:
        """Releases the memory. The profile cannot be used afterwards."""
        self._session.close()

    def __enter__(self) -> 'Profile':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


def open_any(*sources: Source, **how: Any) -> Profile:
    """Opens files of any format: open('trace.xplane.pb'), open('graph.pbtxt', 'run_meta', 'tfprof_log'). how: keyword
    arguments of Profile, such as threads, memory_limit, recover."""
    return Profile(sources[0] if len(sources) == 1 else list(sources) or None, **how)
