# SPDX-License-Identifier: Apache-2.0
"""Loads a profile and runs commands on it."""
import json
import os
import tempfile
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union, cast

from . import _native, html, rows
from ._commands import OWN, VIEWS, Commands, DeviceNames, StepNumbers
from ._native import ProgressCallback
from .arrow import ArrowTable
from .errors import Error, InvalidArgumentError
from .messages import AdviceProto
from .result import Record, Result
from .rows import Tree
from .sources import Local, NamedBytes, Path, Source, is_folder_url, is_path

ALL_LEVELS = 2**31 - 1
Inputs = Union[Source, Sequence[Source]]
Steps = Union[Source, Sequence[Source], Mapping[int, Source]]


def option_values(name: str, value: Any) -> List[str]:
    """Converts a Python value to the values of an option: the items of a list, or a single value."""
    if isinstance(value, bool):
        return ['true' if value else 'false']
    if isinstance(value, (list, tuple, set, frozenset)):
        return [str(v) for v in (value if isinstance(value, (list, tuple)) else sorted(value))]
    if name in ('select', 'stats'):
        return [v for v in str(value).split(',') if v]
    return [str(value)]


def own_words(name: str, value: Any) -> List[str]:
    """Converts a Python value to words of the command line, for an option that only one command has."""
    if isinstance(value, bool):
        return ['--' + name] if value else []
    if isinstance(value, (list, tuple)):
        return [word for v in value for word in own_words(name, v)]
    return ['--%s=%s' % (name, value)]


def _is_list(source: object) -> bool:
    return isinstance(source, (list, tuple)) and not isinstance(source, NamedBytes)


def recording_words(how: Mapping[str, Any]) -> List[str]:
    """Converts recording options to words: step_nvtx='pytorch' becomes step-nvtx=pytorch. Switches that are False or
    None are omitted."""
    words = []
    for name, value in how.items():
        if value is None or value is False:
            continue
        word = name.replace('_', '-')
        words.append(word if value is True else '%s=%s' % (word, value))
    return words


class Profile(Commands):
    """A profile of any kind.

    source: a path, a URL (with fsspec), bytes, a file object, or a message with SerializeToString, recognised by its content: a trace (XSpace, PyTorch,
    ONNX Runtime, Nsight Systems, Chrome JSON), a TensorFlow or pprof profile, a model (GraphDef, MetaGraphDef,
    SavedModel, ONNX, TensorRT), run metadata, an op log, a recording, a folder or a pattern of them. A list of paths
    is loaded as one profile: a graph with its run metadata and op log, or several workers. Files may be
    gzip-compressed. The parts of a TensorFlow profile can also be given by their roles:
    graph: a GraphDef, text or binary; also a checkpoint's .meta, or saved_model.pb.
    profile: also a folder of ProfileContext or a SavedModel, a pattern such as 'job_*/profile_100', or a list of such
    paths: each path is then a worker with its own steps; by='worker' compares them.
    run_meta: a list (steps 0, 1, ...) or a mapping from step to input.
    recording: a GPU recording: its folder, or the file of one process. recording_options: how to read it, like the
    program's flags for recordings: {'step_nvtx': 'pytorch', 'job': '7', 'keep_warmup': True}. spool and spool_options
    are the former names of these two arguments.
    progress(done, total): called while loading; if it returns False, loading ends.
    memory_limit: maximum bytes of memory, 0: no limit. threads: 0: all processors.
    recover: read the intact part of damaged binary inputs and recordings; notes reports what is lost.

    The methods for commands, such as scope, kernels and why, have typed arguments; help(tfprof.Profile.kernels) explains
    them. With text, document, records and arrow, a command is given by its name."""

    def __init__(self, source: Optional[Inputs] = None, run_meta: Steps = (), op_log: Optional[Source] = None,
                 profile: Optional[Inputs] = None, checkpoint: Optional[Path] = None, *, graph: Optional[Source] = None,
                 recording: Optional[Source] = None, recording_options: Optional[Mapping[str, Any]] = None,
                 spool: Optional[Source] = None, spool_options: Optional[Mapping[str, Any]] = None, threads: int = 0,
                 memory_limit: int = 0, progress: Optional[ProgressCallback] = None, recover: bool = False) -> None:
        self._session = _native.Session(threads, memory_limit, progress, recover=recover)
        self._order = threading.Lock()  # options are set and the command is run under one lock
        self._local: Optional[Local] = None  # copies of inputs that have no path
        self.notes: str = ''  # notes of the last call
        how = recording_words(recording_options or spool_options or {})
        if source is not None:
            self._add_any(source, how)
        workers: Any = [profile] if is_path(profile) else profile
        if _is_list(workers):
            self._local = Local(workers)
            self._note(self._session.add_paths(self._local.paths))
            workers = None
        recorded = spool if recording is None else recording
        if recorded is not None:
            self._note(self._session.add(_native.RECORDING, recorded, how=how))
        parts: List[Tuple[int, Optional[Source]]] = [
            (_native.CHECKPOINT, checkpoint), (_native.PROFILE, workers), (_native.GRAPH, graph), (_native.OP_LOG, op_log)]
        for kind, given in parts:
            if given is not None:
                self._note(self._session.add(kind, given))
        self.add_steps(run_meta)

    def _page(self, path: Path, options: Mapping[str, Any]) -> None:
        self._ask('report', ['-o', os.fspath(path)], options)

    def _repr_html_(self) -> str:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, 'page.html')
            self.report(path)
            with open(path, encoding='utf-8') as f:
                return html.frame(f.read())

    def _add_any(self, source: Any, how: List[str]) -> None:
        several = _is_list(source)
        if several and how:
            raise InvalidArgumentError('recording_options (or spool_options) belong to one recording, not to a list of paths')
        if several or is_folder_url(source):
            self._local = Local(source if several else [source])
            self._note(self._session.add_files(self._local.paths))
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

    def add_steps(self, run_meta: Steps) -> None:
        """Adds steps, given as a mapping from step numbers or as a list. The steps of a list are numbered from 0, or
        continue after the last loaded step."""
        steps: Any = run_meta
        if isinstance(steps, (str, bytes, bytearray, memoryview, os.PathLike, NamedBytes)) or \
                hasattr(steps, 'SerializeToString') or hasattr(steps, 'read'):
            steps = [steps]
        if not isinstance(steps, Mapping):
            first = max(self.steps, default=-1) + 1
            steps = dict(enumerate(steps, first))
        if steps:
            self._note(self._session.add_steps(list(steps.items())))

    @property
    def steps(self) -> StepNumbers:
        """The numbers of the loaded steps. steps(top=10) is the table of the command steps."""
        return StepNumbers(self._session.steps(), self._result)

    @property
    def devices(self) -> DeviceNames:
        """The names of the devices. devices(table='idle') is a table of the command devices."""
        return DeviceNames(self._session.devices(), self._result)

    @property
    def workers(self) -> List[str]:
        """The names of the workers; empty for a single file."""
        return self._session.workers()

    @property
    def coverage(self) -> float:
        """The share of nodes that ran in at least one step, from 0 to 1; 0 without steps."""
        return self._session.coverage()

    def _set(self, command: str, options: Mapping[str, Any]) -> List[str]:
        """Sets the options of the views. The caller holds self._order. Returns the words for the command's own options."""
        own = {n.replace('-', '_'): n for n in OWN.get(command, ())}
        words: List[str] = []
        self._session.reset()
        for name, value in options.items():
            plain = name.replace('-', '_').rstrip('_')
            if value is None:
                continue
            if plain in own:
                words += own_words(own[plain], value)
            elif command == 'top' and plain == 'by':
                words += own_words('by', value)  # on the command line, a metric in this place is the sort order
            else:
                self._session.set(name, option_values(name, value))
        return words

    def _ask(self, command: str, words: Sequence[str], options: Mapping[str, Any], result: bool = False) -> _native.Answer:
        with self._order:
            answer = self._session.run(command, [*words, *self._set(command, options)], result=result)
        self.notes = _native.text(answer.notes)
        return answer

    @staticmethod
    def _whole(command: str, options: Mapping[str, Any]) -> Dict[str, Any]:
        """Adds the defaults of Python to options: all levels of a view, all rows of a table."""
        name = 'max_depth' if command in VIEWS else 'top' if 'top' in OWN.get(command, ()) else None
        whole = dict(options)
        if name and whole.get(name) is None:
            whole[name] = ALL_LEVELS if name == 'max_depth' else 0
        return whole

    def _opener(self, command: str, words: Sequence[str], options: Mapping[str, Any]) -> Callable[[int], None]:
        """Returns the function that runs the command into an Arrow stream."""
        def open_stream(address: int) -> None:
            with self._order:
                more = [*words, *self._set(command, options)]
                self.notes = _native.text(self._session.arrow_stream(address, command=command, words=more))
        return open_stream

    def _tree(self, view: str, options: Mapping[str, Any]) -> Tree:
        whole = self._whole(view, options)
        answer = self._ask(view, (), {'output': 'none', **whole}, result=True)
        return rows.read(view, answer.result, self._opener(view, (), whole), self.notes)

    def _result(self, command: str, words: Sequence[str], options: Mapping[str, Any]) -> Result:
        whole = self._whole(command, options)
        answer = self._ask(command, words, {**whole, 'output': 'json'})
        return Result(command, json.loads(answer.text), self._opener(command, words, whole), self.notes)

    def advise(self, checkers: Optional[Iterable[str]] = None) -> Dict[str, List[str]]:
        """Returns the reports of all checkers, or of the named ones."""
        answer = self._session.run('advise', result=True, checkers=checkers)
        self.notes = _native.text(answer.notes)
        found = AdviceProto.FromString(answer.result).checkers
        return {name: list(c.reports) for name, c in found.items()}

    def text(self, command: str, *words: str, **options: Any) -> str:
        """Returns the text that the program prints for a command, with the program's defaults, such as 10 levels."""
        return _native.text(self._ask(command, words, options).text)

    def document(self, command: str, *words: str, **options: Any) -> Record:
        """Returns the document of a command, as -output json writes it (docs/schema): 'rows', 'columns', 'sources',
        'warnings' and others."""
        return self._result(command, words, options).document

    def records(self, command: str, *words: str, **options: Any) -> List[Record]:
        """Returns the rows of a command as dictionaries: of a view path, parent, depth, type, own_<metric>,
        total_<metric>, ...; with stats=['mean', 'cv'] also statistics over the steps."""
        return self._result(command, words, options).rows

    def table(self, name: str, *, run: Optional[str] = None, worker: Optional[str] = None,
              rows: int = 0) -> ArrowTable:
        """Returns a table with fixed columns, the same for every input (docs/TABLES.md): 'runs', 'steps', 'nodes',
        'slices', 'kernels', 'devices' or 'memory'. run, worker: values of these columns. rows: maximum rows per
        batch."""
        def open_stream(address: int) -> None:
            self.notes = _native.text(self._session.arrow_stream(address, table=name, run=run, worker=worker,
                                                                 rows=rows))
        return ArrowTable(open_stream, 'table %s' % name)

    def arrow(self, command: str, *words: str, **options: Any) -> ArrowTable:
        """Returns the rows of a command as a table with the columns of -output csv."""
        return ArrowTable(self._opener(command, words, self._whole(command, options)), 'answer of %s' % command)

    def step_time(self) -> List[Dict[str, Any]]:
        """Returns the wall time of an average step of a trace or recording, and how it divides on each device:
        device, steps, step_ns, which is the sum of compute_ns, exposed_communication_ns, exposed_copy_ns and idle_ns;
        median_ns, min_ns, max_ns, deviation_ns over the steps. steps_left_out counts steps without device work, which
        do not count in the mean; document('steps') contains all steps."""
        found: List[Dict[str, Any]] = self.document('steps')['step_time']
        if not found:
            raise Error("neither a trace nor a recording is loaded: document('steps') has the steps of other profiles")
        return found

    def _compare(self, other: Any, steps: Optional[Sequence[Union[int, str]]], options: Mapping[str, Any]) -> Result:
        if other is not None and not isinstance(other, Profile):
            other = Profile(other)  # the stream of the answer reads it again
        right: Profile = self if other is None else other
        sides = ['%s@%s' % side for side in zip(('left', 'right'), steps)] if steps else ['left', 'right']
        with self._order:
            answer = self._session.diff(right._session, ['--output=json', *sides, *self._set('diff', options)])
        self.notes = _native.text(answer.notes)

        def open_stream(address: int) -> None:
            with self._order:
                words = [*sides, *self._set('diff', {**options, 'gate': None})]
                self._session.arrow_stream(address, command='diff', words=words, other=right._session)
        return Result('diff', json.loads(answer.text), open_stream, self.notes)

    def timeline(self, path: Path, view: str = 'graph', **options: Any) -> str:
        """Writes a Chrome trace, or one for each step, to <path>_<step>. Returns the messages of the program."""
        options['output'] = 'timeline:outfile=%s' % os.fspath(path)
        options.setdefault('max_depth', ALL_LEVELS)
        return self.text(view, **options)

    def pprof(self, path: Path, metric: str = 'micros', **options: Any) -> str:
        """Writes the code view as a gzip-compressed pprof profile. Returns the messages of the program."""
        options['output'] = 'pprof:outfile=%s' % os.fspath(path)
        options.setdefault('max_depth', ALL_LEVELS)
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


def open_any(*sources: Inputs, recording_options: Optional[Mapping[str, Any]] = None,
             spool_options: Optional[Mapping[str, Any]] = None, threads: int = 0, memory_limit: int = 0,
             progress: Optional[ProgressCallback] = None, recover: bool = False) -> Profile:
    """Opens files of any format: open('trace.xplane.pb'), open('graph.pbtxt', 'run_meta', 'tfprof_log'). Each source is a
    path, a URL (with fsspec), bytes or a file object; a list of sources may be given instead. The keyword arguments are
    those of Profile.

    Raises: InputNotFoundError (also a FileNotFoundError), AccessError (also a PermissionError), DataLossError for damaged
    or unknown contents, InvalidArgumentError without a source."""
    if not sources or (len(sources) == 1 and (sources[0] is None or _is_list(sources[0]) and not sources[0])):
        raise InvalidArgumentError('open needs a file: tfprof.open("trace.json")')
    return Profile(sources[0] if len(sources) == 1 else list(cast(Sequence[Source], sources)),
                   recording_options=recording_options or spool_options, threads=threads,
                   memory_limit=memory_limit, progress=progress, recover=recover)
