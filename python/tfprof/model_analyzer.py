# SPDX-License-Identifier: Apache-2.0
"""The interface of TensorFlow's model_analyzer and option_builder. Graphs, run metadata and op logs are serialized
messages, paths, or objects with SerializeToString (or as_graph_def)."""
import copy
from typing import Any, Dict, Iterable, Mapping, Optional, Union, cast

from . import errors, message_session
from .graphdef import Graph
from .messages import (AdviceProto, AdvisorOptionsProto, CheckerOption, GraphNodeProto,
                       MultiGraphNodeProto, OptionsProto)
from .tfprof_logger import merge_default_with_oplog

Options = Dict[str, Any]
Result = Union[GraphNodeProto, MultiGraphNodeProto]

# Defaults of options that are missing in a dict.
_ABSENT = {'max_depth': 10, 'step': -1, 'order_by': 'name', 'output': 'stdout'}
_RESULTS = {'scope': GraphNodeProto, 'graph': GraphNodeProto, 'op': MultiGraphNodeProto,
            'code': MultiGraphNodeProto}


def _preset(**changes: Any) -> Options:
    """Returns options that show everything, changed by the arguments."""
    options: Options = {
        'max_depth': 10000, 'min_bytes': 0, 'min_micros': 0, 'min_params': 0, 'min_float_ops': 0,
        'min_occurrence': 0, 'order_by': 'name', 'account_type_regexes': ['.*'],
        'start_name_regexes': ['.*'], 'trim_name_regexes': [], 'show_name_regexes': ['.*'],
        'hide_name_regexes': [], 'account_displayed_op_only': True, 'select': ['micros'],
        'step': -1, 'output': 'stdout'}
    options.update(changes)
    return options


TRAINABLE_VARS_PARAMS_STAT_OPTIONS = _preset(
    account_type_regexes=['_trainable_variables'], select=['params'], dump_to_file='')
FLOAT_OPS_OPTIONS = _preset(
    min_float_ops=1, order_by='float_ops', select=['float_ops'], dump_to_file='')
PRINT_ALL_TIMING_MEMORY = _preset(
    min_bytes=1, min_micros=1, select=['micros', 'bytes'], dump_to_file='')
PRINT_PARAMS_ON_DEVICE = _preset(
    max_depth=1, account_type_regexes=['.*ps.*task:0.*'], account_displayed_op_only=False,
    select=['device', 'params'], dump_to_file='')
ALL_ADVICE: Dict[str, Dict[str, str]] = {
    'ExpensiveOperationChecker': {}, 'AcceleratorUtilizationChecker': {}, 'JobChecker': {},
    'OperationChecker': {}}


class ProfileOptionBuilder:
    """Builds options by chained calls: ProfileOptionBuilder().order_by('micros').build()."""

    def __init__(self, options: Optional[Mapping[str, Any]] = None) -> None:
        base = _preset(max_depth=100, account_displayed_op_only=False)
        self._options: Options = copy.deepcopy(dict(base if options is None else options))

    @staticmethod
    def trainable_variables_parameter() -> Options:
        return _preset(account_type_regexes=['_trainable_variables'], select=['params'])

    @staticmethod
    def float_operation() -> Options:
        return _preset(min_float_ops=1, order_by='float_ops', select=['float_ops'])

    @staticmethod
    def time_and_memory(min_micros: int = 1, min_bytes: int = 1, min_accelerator_micros: int = 0,
                        min_cpu_micros: int = 0, min_peak_bytes: int = 0,
                        min_residual_bytes: int = 0, min_output_bytes: int = 0) -> Options:
        return _preset(
            min_micros=min_micros, min_bytes=min_bytes,
            min_accelerator_micros=min_accelerator_micros, min_cpu_micros=min_cpu_micros,
            min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
            min_output_bytes=min_output_bytes, order_by='micros', select=['micros', 'bytes'])

    def build(self) -> Options:
        return copy.deepcopy(self._options)

    def _with(self, **changes: Any) -> 'ProfileOptionBuilder':
        self._options.update(changes)
        return self

    def with_max_depth(self, max_depth: int) -> 'ProfileOptionBuilder':
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes: int = 0, min_peak_bytes: int = 0, min_residual_bytes: int = 0,
                        min_output_bytes: int = 0) -> 'ProfileOptionBuilder':
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes,
                          min_residual_bytes=min_residual_bytes, min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros: int = 0, min_accelerator_micros: int = 0,
                                min_cpu_micros: int = 0) -> 'ProfileOptionBuilder':
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros,
                          min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params: int) -> 'ProfileOptionBuilder':
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence: int) -> 'ProfileOptionBuilder':
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops: int) -> 'ProfileOptionBuilder':
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes: Iterable[str]) -> 'ProfileOptionBuilder':
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes: Optional[Iterable[str]] = None,
                        show_name_regexes: Optional[Iterable[str]] = None,
                        hide_name_regexes: Optional[Iterable[str]] = None,
                        trim_name_regexes: Optional[Iterable[str]] = None) -> 'ProfileOptionBuilder':
        given = {'start_name_regexes': start_name_regexes, 'show_name_regexes': show_name_regexes,
                 'hide_name_regexes': hide_name_regexes, 'trim_name_regexes': trim_name_regexes}
        return self._with(**{k: list(v) for k, v in given.items() if v is not None})

    def account_displayed_op_only(self, is_true: bool) -> 'ProfileOptionBuilder':
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self) -> 'ProfileOptionBuilder':
        return self._with(output='none')

    def with_stdout_output(self) -> 'ProfileOptionBuilder':
        return self._with(output='stdout')

    def with_file_output(self, outfile: str) -> 'ProfileOptionBuilder':
        return self._with(output='file:outfile=%s' % outfile)

    def with_timeline_output(self, timeline_file: str) -> 'ProfileOptionBuilder':
        return self._with(output='timeline:outfile=%s' % timeline_file)

    def with_pprof_output(self, pprof_file: str) -> 'ProfileOptionBuilder':
        return self._with(output='pprof:outfile=%s' % pprof_file)

    def order_by(self, attribute: str) -> 'ProfileOptionBuilder':
        return self._with(order_by=attribute)

    def select(self, attributes: Iterable[str]) -> 'ProfileOptionBuilder':
        return self._with(select=list(attributes))

    def with_step(self, step: int) -> 'ProfileOptionBuilder':
        return self._with(step=step)


_DEFAULT_PROFILE_OPTIONS: Options = ProfileOptionBuilder.trainable_variables_parameter()


def _build_options(options: Mapping[str, Any]) -> OptionsProto:
    """Returns a dict of options as a message. Unknown keys are ignored."""
    message = OptionsProto()
    for f in OptionsProto.NAMES.values():
        value = options.get(f.name, _ABSENT.get(f.name))
        if value is None:
            continue
        if f.repeated:
            getattr(message, f.name).extend(value)
        else:
            setattr(message, f.name, value)
    return message


def _build_advisor_options(options: Mapping[str, Any]) -> AdvisorOptionsProto:
    message = AdvisorOptionsProto()
    for checker, its in options.items():
        message.checkers[checker] = CheckerOption()
        message.checkers[checker].options.update({str(k): str(v) for k, v in (its or {}).items()})
    return message


def _check(cmd: str) -> str:
    if cmd not in _RESULTS:
        raise errors.InvalidArgumentError('unknown cmd: %s' % cmd, 'INVALID_ARGUMENT')
    return cmd


class Profiler:
    """A profile to which steps can be added at any time. A process may have several. As in TensorFlow, float
    operations, trainable variables and call stacks are read from the graph if the op log has none."""

    def __init__(self, graph: Any = None, op_log: Any = None) -> None:
        self._coverage = 0.0
        self._graph = None if graph is None else Graph(graph)
        self._op_log = op_log
        self._session = message_session.new_session(graph, self._logged(None))

    def _logged(self, run_meta: Any, add_trace: bool = True) -> Any:
        if self._graph is None:
            return self._op_log if run_meta is None else None
        return merge_default_with_oplog(self._graph, self._op_log, run_meta, add_trace)

    def add_step(self, step: int, run_meta: Any) -> float:
        """Adds the run metadata of a step. Returns the share of the graph's nodes that ran."""
        self._coverage = message_session.add_step(self._session, step, None, run_meta, self._logged(run_meta))
        return self._coverage

    def _profile(self, cmd: str, options: Mapping[str, Any]) -> Any:
        serialized = _build_options(options).SerializeToString()
        return _RESULTS[_check(cmd)].FromString(message_session.run(self._session, cmd, serialized))

    def profile_python(self, options: Mapping[str, Any]) -> MultiGraphNodeProto:
        """Returns the code view."""
        return cast(MultiGraphNodeProto, self._profile('code', options))

    profile_python_codes = profile_python

    def profile_operations(self, options: Mapping[str, Any]) -> MultiGraphNodeProto:
        return cast(MultiGraphNodeProto, self._profile('op', options))

    def profile_name_scope(self, options: Mapping[str, Any]) -> GraphNodeProto:
        return cast(GraphNodeProto, self._profile('scope', options))

    def profile_graph(self, options: Mapping[str, Any]) -> GraphNodeProto:
        return cast(GraphNodeProto, self._profile('graph', options))

    def advise(self, options: Mapping[str, Any]) -> AdviceProto:
        serialized = _build_advisor_options(options).SerializeToString()
        result = message_session.run(self._session, 'advise', serialized)
        return cast(AdviceProto, AdviceProto.FromString(result))

    def serialize_to_string(self) -> bytes:
        return self._session.write_profile()

    def _write_profile(self, filename: str) -> None:
        self._session.write_profile(filename)


def profile(graph: Any = None, run_meta: Any = None, op_log: Any = None, cmd: str = 'scope',
            options: Mapping[str, Any] = _DEFAULT_PROFILE_OPTIONS) -> Any:
    """Prints a view, or writes it to the file of options['output']. Returns the result message."""
    _check(cmd)
    profiler = Profiler(graph, op_log)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return profiler._profile(cmd, options)


def advise(graph: Any = None, run_meta: Any = None,
           options: Mapping[str, Any] = ALL_ADVICE) -> AdviceProto:
    """Prints the advice. Returns an AdviceProto."""
    profiler = Profiler(graph)
    if run_meta is not None:
        profiler.add_step(0, run_meta)
    return profiler.advise(options)


def print_model_analysis(graph: Any = None, run_meta: Any = None, op_log: Any = None,
                         tfprof_cmd: str = 'scope',
                         tfprof_options: Mapping[str, Any] = TRAINABLE_VARS_PARAMS_STAT_OPTIONS,
                         *, cmd: Optional[str] = None,
                         options: Optional[Mapping[str, Any]] = None) -> Any:
    """Calls profile(). TensorFlow used this name in 2016; the keywords of 2016 and the later ones are accepted."""
    return profile(graph, run_meta, op_log, cmd or tfprof_cmd,
                   tfprof_options if options is None else options)
