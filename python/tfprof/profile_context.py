# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's ProfileContext. The caller adds each run with add_step; TensorFlow sessions are not intercepted.

    with ProfileContext('/tmp/train', trace_steps=[10, 20], dump_steps=[20]) as context:
        for _ in range(30):
            trace = context.traces_step()                # ask Session.run for a FULL_TRACE then
            run_metadata = run(trace)
            context.add_step(run_metadata, graph)        # None for a step without a trace
"""
import os
import warnings
from typing import Any, Dict, Iterable, List, Mapping, Optional, Tuple

from . import errors, model_analyzer
from .graphdef import read

__all__ = ['ProfileContext']

MAX_TRACED_STEPS = 100
_AUTO_DUMP = 100
_HOW = 'without TensorFlow, ProfileContext cannot observe Session.run: call add_step(run_metadata, graph) after each run'


class ProfileContext:
    """Collects the steps of add_step, and writes profile_<step> files, which the profiler reads.

    profile_dir: output folder; created if it is missing. trace_steps: the steps to collect, at most 100; None: every
    step with run metadata. dump_steps: the steps after which a profile is written; None: step 100 if trace_steps is
    also None, otherwise never. enabled: if False, all calls do nothing. debug: also write the run metadata."""

    def __init__(self, profile_dir: Any, trace_steps: Optional[Iterable[int]] = None,
                 dump_steps: Optional[Iterable[int]] = None, enabled: bool = True, debug: bool = False) -> None:
        self._dir, self._enabled, self._debug = os.fspath(profile_dir), enabled, debug
        self._trace_steps = None if trace_steps is None else set(trace_steps)
        if len(self._trace_steps or ()) > MAX_TRACED_STEPS:
            raise ValueError('Only support tracing up to 100 steps.\n')
        auto = {_AUTO_DUMP} if self._trace_steps is None else set()
        self._dump_steps = auto if dump_steps is None else set(dump_steps)
        self._step, self._trace_next, self._dump_next = 0, False, False
        self._profiler: Optional[model_analyzer.Profiler] = None
        self._auto: List[Tuple[str, Mapping[str, Any], List[int]]] = []
        self._views: Dict[str, Dict[int, Any]] = {}

    def add_auto_profiling(self, cmd: str, options: Mapping[str, Any], profile_steps: Iterable[int]) -> None:
        """Runs a command (scope, graph, op, code or advise) after each of these steps. get_profiles returns the
        results."""
        if not self._enabled:
            return
        if cmd not in ('scope', 'graph', 'op', 'code', 'advise'):
            raise ValueError('Unknown cmd: %s\n' % cmd)
        self._auto.append((cmd, options, list(profile_steps)))

    @property
    def profiler(self) -> Optional[model_analyzer.Profiler]:
        """Returns the Profiler of the steps so far, or None if the context is not enabled."""
        if self._enabled and self._profiler is None:
            raise errors.UnimplementedError('no step was added yet: ' + _HOW, 'UNIMPLEMENTED')
        return self._profiler

    def trace_next_step(self) -> None:
        """Collects the next step, regardless of trace_steps."""
        self._trace_next = self._enabled

    def dump_next_step(self) -> None:
        """Collects the next step, and writes a profile after it."""
        self._trace_next = self._dump_next = self._enabled

    def traces_step(self) -> bool:
        """True if the next step is collected. Run it with FULL_TRACE then."""
        return self._enabled and (self._trace_next or self._trace_steps is None or self._step in self._trace_steps)

    def add_step(self, run_meta: Any, graph: Any = None) -> int:
        """Adds the run metadata of the next step and its graph. The metadata is a path, bytes or a message, or None if
        the step was not traced. The first step needs a graph. Returns the number of the step, counted from 0."""
        step = self._step
        if self._enabled:
            if run_meta is not None and self.traces_step():
                self._add(step, run_meta, graph)
            if self._profiler is not None:
                self._dump(step)
                self._run_auto(step)
        self._step, self._trace_next, self._dump_next = step + 1, False, False
        return step

    def _add(self, step: int, run_meta: Any, graph: Any) -> None:
        if self._profiler is None:
            self._profiler = model_analyzer.Profiler(graph)
        if self._debug:
            self._write('run_meta_%d' % step, read(run_meta, 'run metadata'))
        self._profiler.add_step(step, run_meta)

    def _write(self, name: str, data: bytes) -> None:
        os.makedirs(self._dir, exist_ok=True)
        with open(os.path.join(self._dir, name), 'wb') as f:
            f.write(data)

    def _dump(self, step: int) -> None:
        assert self._profiler is not None
        if self._dump_next or step in self._dump_steps:
            self._write('profile_%d' % step, self._profiler.serialize_to_string())

    def _run_auto(self, step: int) -> None:
        assert self._profiler is not None
        views = {'scope': self._profiler.profile_name_scope, 'graph': self._profiler.profile_graph,
                 'op': self._profiler.profile_operations, 'code': self._profiler.profile_python,
                 'advise': self._profiler.advise}
        for cmd, options, steps in self._auto:
            if step in steps:
                self._views.setdefault(cmd, {})[step] = views[cmd](options)

    def get_profiles(self, cmd: str) -> Dict[int, Any]:
        """Returns the results of add_auto_profiling for a command, as a dictionary by step."""
        if cmd not in self._views:
            raise ValueError('No autoprofiler for command: %s, was run' % cmd)
        return self._views[cmd]

    def __enter__(self) -> 'ProfileContext':
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None and self._enabled and not self._step:
            warnings.warn('no profile is written: ' + _HOW, RuntimeWarning, stacklevel=2)
