# SPDX-License-Identifier: Apache-2.0
# Made by tools/gen_docs.c; do not edit.
"""The commands of the program as methods with typed arguments. None is the default of an argument."""
import os
from typing import Any, Callable, Dict, Iterable, List, Literal, Mapping, Optional, Sequence, Tuple, Union

from .result import Result
from .rows import Tree

Metric = Literal['bytes', 'peak_bytes', 'residual_bytes', 'output_bytes', 'micros', 'accelerator_micros', 'cpu_micros', 'params', 'float_ops', 'occurrence', 'device', 'op_types', 'input_shapes', 'tensor_value', 'num_hidden_ops', 'percent', 'self_micros', 'kernels', 'bytes_accessed', 'critical_micros', 'live_bytes', 'allocated_bytes', 'allocations']
Order = Literal['name', 'bytes', 'peak_bytes', 'residual_bytes', 'output_bytes', 'micros', 'accelerator_micros', 'cpu_micros', 'params', 'float_ops', 'occurrence', 'self_micros', 'kernels', 'bytes_accessed', 'critical_micros', 'live_bytes', 'allocated_bytes', 'allocations']
Statistic = Literal['mean', 'cv', 'median', 'min', 'max', 'std', 'p95', 'p99', 'n']
Metrics = Union[Metric, str, Sequence[Union[Metric, str]]]
Statistics = Union[Statistic, str, Sequence[Union[Statistic, str]]]
Words = Union[str, Sequence[str]]
Steps = Union[int, str, Sequence[int]]
Size = Union[int, str]  # a number, or a text such as '10MB', '20ms' or '3k'
Time = Union[int, float, str]
Share = Union[float, str]
Path = Union[str, 'os.PathLike[str]']
Other = Any  # a Profile, or what Profile accepts
Run = Callable[[str, Sequence[str], Mapping[str, Any]], Result]

# The options that only one command has.
OWN: Dict[str, Tuple[str, ...]] = {
    'scope': (),
    'graph': (),
    'code': (),
    'op': (),
    'summary': (),
    'top': ('n', ),
    'peek': ('top', 'table', ),
    'devices': ('top', 'table', ),
    'kernels': ('top', 'by', ),
    'steps': ('top', ),
    'phases': ('top', ),
    'critical': ('top', ),
    'what-if': ('top', 'each', ),
    'idle': ('top', 'by', ),
    'why': ('top', 'as', 'cause', 'fail-on', 'allow-inconclusive', ),
    'memory': ('top', 'by', 'diff', ),
    'collectives': ('top', 'fail-on', ),
    'roofline': ('top', 'by', 'peak-flops', 'peak-bandwidth', ),
    'flops': ('top', 'explain', 'partial', 'peak-flops', ),
    'diff': ('view', 'of', 'top', 'by', 'delta', 'min_size', 'all', 'names', 'label', 'swap', 'rename', 'match', 'per', 'gate', 'allow-inconclusive', 'level', ),
}
VIEWS = ('scope', 'graph', 'code', 'op', )


class DeviceNames(List[str]):
    """The names of the devices. A call runs the command devices."""

    def __init__(self, items: Iterable[str], run: Run) -> None:
        super().__init__(items)
        self._result = run

    def __reduce__(self) -> Tuple[Any, ...]:
        return list, (list(self),)

    def __call__(
            self,
            top: Optional[int] = None,
            *,
            table: Optional[Literal['all', 'devices', 'step_time', 'gpus', 'idle', 'idle_places', 'kernels', 'waits', 'latency', 'communication', 'transfers', 'processes', 'synchronisations', 'calls', 'launches', 'ranges', 'steps', 'copies', 'graphs', 'memory', 'overhead']] = None,
            step: Optional[Steps] = None) -> Result:
        """Runs the command devices: what each device did, and why it was idle; alias: gpu.

        The first table has a row for each device of a trace or recording. The window is the
        whole trace. Busy is the union of all work of the device. Exposed communication is
        communication while no compute ran; an exposed copy is a copy while neither ran.
        Compute, exposed communication and exposed copies add up to busy. Idle is the rest of
        the window, and its causes add up to it. help idle lists the causes; help communication
        lists what counts as communication. The second table divides an average step in the
        same way. With -step N, the window is that step, and only the times and idle causes are
        shown. With several files, each row names its worker. Recordings, and traces with
        launches, have additional tables: GPUs and their processes, idle causes (with their
        places in traces), launch latency, communication, copies, kernels, calls with the time
        in which the host waited, launch configurations, and work by steps and ranges.
        Recordings also have tables of synchronisations, CUDA graphs, memory and recording
        overhead. Medians and 99th percentiles are accurate to 0.2 %; all other numbers are
        exact. -output json contains all tables; csv contains the first one, or the table given
        with --table. Without a file, the newest recording in the current folder is read.

        top: show the first N rows of each table (20); 0 is all; also -n. Default: 0.
        table: print only this table; -output csv, md and ndjson write one table, at first
            devices; with json: the table in rows; help --table lists the tables. Default: all.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('devices', (), {
            'top': top,
            'table': table,
            'step': step,
        })


class StepNumbers(List[int]):
    """The numbers of the steps. A call runs the command steps."""

    def __init__(self, items: Iterable[int], run: Run) -> None:
        super().__init__(items)
        self._result = run

    def __reduce__(self) -> Tuple[Any, ...]:
        return list, (list(self),)

    def __call__(
            self,
            top: Optional[int] = None,
            *,
            step: Optional[Steps] = None) -> Result:
        """Runs the command steps: time of each step, divided by what the devices did.

        Each line is a step. Step time is wall time, from the start to the end of the mark. The
        other times are measured on each device within the step, then summed over the devices
        with work: compute, exposed communication, exposed copies and idle add up to the step
        time multiplied by the number of devices. The second table divides an average step of
        each device and prints the median, the shortest and the longest step. A trace or
        recording without marked steps is shown as one step named unknown. A profile without a
        trace, such as RunMetadata, has only the step time, and the busy and idle time of its
        accelerators or, without them, of its hosts. -step selects steps.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('steps', (), {
            'top': top,
            'step': step,
        })


class Commands:
    """The base class of Profile, which runs the commands."""

    def _tree(self, view: str, options: Mapping[str, Any]) -> Tree:
        raise NotImplementedError

    def _result(self, command: str, words: Sequence[str], options: Mapping[str, Any]) -> Result:
        raise NotImplementedError

    def _compare(self, other: Optional[Other], steps: Optional[Sequence[Union[int, str]]],
                 options: Mapping[str, Any]) -> Result:
        raise NotImplementedError

    def _page(self, path: Path, options: Mapping[str, Any]) -> None:
        raise NotImplementedError

    def scope(
            self,
            *,
            max_depth: Optional[int] = None,
            min_bytes: Optional[Size] = None,
            min_peak_bytes: Optional[Size] = None,
            min_residual_bytes: Optional[Size] = None,
            min_output_bytes: Optional[Size] = None,
            min_micros: Optional[Size] = None,
            min_accelerator_micros: Optional[Size] = None,
            min_cpu_micros: Optional[Size] = None,
            min_params: Optional[Size] = None,
            min_float_ops: Optional[Size] = None,
            min_occurrence: Optional[Size] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            start_name_regexes: Optional[Words] = None,
            trim_name_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            account_displayed_op_only: Optional[bool] = None,
            select: Optional[Metrics] = None,
            device_regexes: Optional[Words] = None,
            top: Optional[int] = None,
            rename: Optional[str] = None,
            stats: Optional[Statistics] = None,
            at: Optional[str] = None,
            by: Optional[Literal['none', 'worker', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase', 'module-class', 'provider']] = None,
            max_workers: Optional[int] = None,
            worker_regexes: Optional[Words] = None,
            align: Optional[Literal['step', 'time']] = None,
            max_values: Optional[int] = None) -> Tree:
        """Runs the command scope: time, memory and parameters by name scope.

        Splits names such as tower/conv1/weights at the slashes. Each line is a node or a
        scope; a/b is its own number and the total with everything below it. Scopes have no own
        numbers. A node that does not match the account patterns shows -- as its own number.

        max_depth: show nodes at most this many levels deep (the root is level 1). Default: all
            levels.
        min_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_peak_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_residual_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_output_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_accelerator_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_cpu_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_params: show only nodes with at least N, such as 3k. Default: 0.
        min_float_ops: show only nodes with at least N, such as 3k. Default: 0.
        min_occurrence: show only nodes with at least N, such as 3k. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        start_name_regexes: use the nodes whose names match as roots. Default: .*.
        trim_name_regexes: do not show anything below the nodes whose names match.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        account_displayed_op_only: count only the nodes that are shown. Default: false.
        select: the columns to show. Default: micros.
        device_regexes: show only nodes on a device that matches. Default: .*.
        top: show at most N rows, those with the largest numbers of -order_by, of all levels
            unless -max_depth is given; 0 is all; also -n; op shows 20 rows of a trace by
            default. Default: -1.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        stats: add columns with statistics over the steps, such as mean,cv,p95,n.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        by: worker: add columns for each worker, the slowest worker and the spread; all other
            values select how scope, op and top group the slices of a trace, and source also
            how top groups a profile with call stacks; module-class: one row for all layers of
            a class, such as Linear; provider: by execution provider of ONNX Runtime. Default:
            none.
        max_workers: show columns for the N workers with the largest totals; negative: 8, or as
            many as fit the terminal. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.
        align: match the steps of workers by step number or by time. Default: step.
        max_values: tensor_value: show at most N values of a tensor, and statistics over all
            values. Default: -1.

        Units: times are microseconds, sizes bytes, everything else counts.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._tree('scope', {
            'max_depth': max_depth,
            'min_bytes': min_bytes,
            'min_peak_bytes': min_peak_bytes,
            'min_residual_bytes': min_residual_bytes,
            'min_output_bytes': min_output_bytes,
            'min_micros': min_micros,
            'min_accelerator_micros': min_accelerator_micros,
            'min_cpu_micros': min_cpu_micros,
            'min_params': min_params,
            'min_float_ops': min_float_ops,
            'min_occurrence': min_occurrence,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'start_name_regexes': start_name_regexes,
            'trim_name_regexes': trim_name_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'account_displayed_op_only': account_displayed_op_only,
            'select': select,
            'device_regexes': device_regexes,
            'top': top,
            'rename': rename,
            'stats': stats,
            'at': at,
            'by': by,
            'max_workers': max_workers,
            'worker_regexes': worker_regexes,
            'align': align,
            'max_values': max_values,
        })

    def graph(
            self,
            *,
            max_depth: Optional[int] = None,
            min_bytes: Optional[Size] = None,
            min_peak_bytes: Optional[Size] = None,
            min_residual_bytes: Optional[Size] = None,
            min_output_bytes: Optional[Size] = None,
            min_micros: Optional[Size] = None,
            min_accelerator_micros: Optional[Size] = None,
            min_cpu_micros: Optional[Size] = None,
            min_params: Optional[Size] = None,
            min_float_ops: Optional[Size] = None,
            min_occurrence: Optional[Size] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            start_name_regexes: Optional[Words] = None,
            trim_name_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            account_displayed_op_only: Optional[bool] = None,
            select: Optional[Metrics] = None,
            device_regexes: Optional[Words] = None,
            top: Optional[int] = None,
            rename: Optional[str] = None,
            stats: Optional[Statistics] = None,
            at: Optional[str] = None,
            by: Optional[Literal['none', 'worker', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase', 'module-class', 'provider']] = None,
            max_workers: Optional[int] = None,
            worker_regexes: Optional[Words] = None,
            align: Optional[Literal['step', 'time']] = None,
            max_values: Optional[int] = None) -> Tree:
        """Runs the command graph: nodes along data-flow edges, from outputs to inputs.

        Below each node are the nodes that it reads from. A node that several nodes read is
        shown only below the first reader.

        max_depth: show nodes at most this many levels deep (the root is level 1). Default: all
            levels.
        min_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_peak_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_residual_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_output_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_accelerator_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_cpu_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_params: show only nodes with at least N, such as 3k. Default: 0.
        min_float_ops: show only nodes with at least N, such as 3k. Default: 0.
        min_occurrence: show only nodes with at least N, such as 3k. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        start_name_regexes: use the nodes whose names match as roots. Default: .*.
        trim_name_regexes: do not show anything below the nodes whose names match.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        account_displayed_op_only: count only the nodes that are shown. Default: false.
        select: the columns to show. Default: micros.
        device_regexes: show only nodes on a device that matches. Default: .*.
        top: show at most N rows, those with the largest numbers of -order_by, of all levels
            unless -max_depth is given; 0 is all; also -n; op shows 20 rows of a trace by
            default. Default: -1.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        stats: add columns with statistics over the steps, such as mean,cv,p95,n.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        by: worker: add columns for each worker, the slowest worker and the spread; all other
            values select how scope, op and top group the slices of a trace, and source also
            how top groups a profile with call stacks; module-class: one row for all layers of
            a class, such as Linear; provider: by execution provider of ONNX Runtime. Default:
            none.
        max_workers: show columns for the N workers with the largest totals; negative: 8, or as
            many as fit the terminal. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.
        align: match the steps of workers by step number or by time. Default: step.
        max_values: tensor_value: show at most N values of a tensor, and statistics over all
            values. Default: -1.

        Units: times are microseconds, sizes bytes, everything else counts.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._tree('graph', {
            'max_depth': max_depth,
            'min_bytes': min_bytes,
            'min_peak_bytes': min_peak_bytes,
            'min_residual_bytes': min_residual_bytes,
            'min_output_bytes': min_output_bytes,
            'min_micros': min_micros,
            'min_accelerator_micros': min_accelerator_micros,
            'min_cpu_micros': min_cpu_micros,
            'min_params': min_params,
            'min_float_ops': min_float_ops,
            'min_occurrence': min_occurrence,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'start_name_regexes': start_name_regexes,
            'trim_name_regexes': trim_name_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'account_displayed_op_only': account_displayed_op_only,
            'select': select,
            'device_regexes': device_regexes,
            'top': top,
            'rename': rename,
            'stats': stats,
            'at': at,
            'by': by,
            'max_workers': max_workers,
            'worker_regexes': worker_regexes,
            'align': align,
            'max_values': max_values,
        })

    def code(
            self,
            *,
            max_depth: Optional[int] = None,
            min_bytes: Optional[Size] = None,
            min_peak_bytes: Optional[Size] = None,
            min_residual_bytes: Optional[Size] = None,
            min_output_bytes: Optional[Size] = None,
            min_micros: Optional[Size] = None,
            min_accelerator_micros: Optional[Size] = None,
            min_cpu_micros: Optional[Size] = None,
            min_params: Optional[Size] = None,
            min_float_ops: Optional[Size] = None,
            min_occurrence: Optional[Size] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            start_name_regexes: Optional[Words] = None,
            trim_name_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            account_displayed_op_only: Optional[bool] = None,
            select: Optional[Metrics] = None,
            device_regexes: Optional[Words] = None,
            top: Optional[int] = None,
            rename: Optional[str] = None,
            stats: Optional[Statistics] = None,
            at: Optional[str] = None,
            by: Optional[Literal['none', 'worker', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase', 'module-class', 'provider']] = None,
            max_workers: Optional[int] = None,
            worker_regexes: Optional[Words] = None,
            align: Optional[Literal['step', 'time']] = None,
            max_values: Optional[int] = None) -> Tree:
        """Runs the command code: time and memory by Python line (needs call stacks).

        Each line is a line of Python code with the cost of all operations created there. This
        needs call stacks: an op log, a profile that contains them, or a memory snapshot.
        -source prints the source lines with their own and total times instead.

        max_depth: show nodes at most this many levels deep (the root is level 1). Default: all
            levels.
        min_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_peak_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_residual_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_output_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_accelerator_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_cpu_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_params: show only nodes with at least N, such as 3k. Default: 0.
        min_float_ops: show only nodes with at least N, such as 3k. Default: 0.
        min_occurrence: show only nodes with at least N, such as 3k. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        start_name_regexes: use the nodes whose names match as roots. Default: .*.
        trim_name_regexes: do not show anything below the nodes whose names match.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        account_displayed_op_only: count only the nodes that are shown. Default: false.
        select: the columns to show. Default: micros.
        device_regexes: show only nodes on a device that matches. Default: .*.
        top: show at most N rows, those with the largest numbers of -order_by, of all levels
            unless -max_depth is given; 0 is all; also -n; op shows 20 rows of a trace by
            default. Default: -1.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        stats: add columns with statistics over the steps, such as mean,cv,p95,n.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        by: worker: add columns for each worker, the slowest worker and the spread; all other
            values select how scope, op and top group the slices of a trace, and source also
            how top groups a profile with call stacks; module-class: one row for all layers of
            a class, such as Linear; provider: by execution provider of ONNX Runtime. Default:
            none.
        max_workers: show columns for the N workers with the largest totals; negative: 8, or as
            many as fit the terminal. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.
        align: match the steps of workers by step number or by time. Default: step.
        max_values: tensor_value: show at most N values of a tensor, and statistics over all
            values. Default: -1.

        Units: times are microseconds, sizes bytes, everything else counts.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._tree('code', {
            'max_depth': max_depth,
            'min_bytes': min_bytes,
            'min_peak_bytes': min_peak_bytes,
            'min_residual_bytes': min_residual_bytes,
            'min_output_bytes': min_output_bytes,
            'min_micros': min_micros,
            'min_accelerator_micros': min_accelerator_micros,
            'min_cpu_micros': min_cpu_micros,
            'min_params': min_params,
            'min_float_ops': min_float_ops,
            'min_occurrence': min_occurrence,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'start_name_regexes': start_name_regexes,
            'trim_name_regexes': trim_name_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'account_displayed_op_only': account_displayed_op_only,
            'select': select,
            'device_regexes': device_regexes,
            'top': top,
            'rename': rename,
            'stats': stats,
            'at': at,
            'by': by,
            'max_workers': max_workers,
            'worker_regexes': worker_regexes,
            'align': align,
            'max_values': max_values,
        })

    def op(
            self,
            *,
            max_depth: Optional[int] = None,
            min_bytes: Optional[Size] = None,
            min_peak_bytes: Optional[Size] = None,
            min_residual_bytes: Optional[Size] = None,
            min_output_bytes: Optional[Size] = None,
            min_micros: Optional[Size] = None,
            min_accelerator_micros: Optional[Size] = None,
            min_cpu_micros: Optional[Size] = None,
            min_params: Optional[Size] = None,
            min_float_ops: Optional[Size] = None,
            min_occurrence: Optional[Size] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            start_name_regexes: Optional[Words] = None,
            trim_name_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            account_displayed_op_only: Optional[bool] = None,
            select: Optional[Metrics] = None,
            device_regexes: Optional[Words] = None,
            top: Optional[int] = None,
            rename: Optional[str] = None,
            stats: Optional[Statistics] = None,
            at: Optional[str] = None,
            by: Optional[Literal['none', 'worker', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase', 'module-class', 'provider']] = None,
            max_workers: Optional[int] = None,
            worker_regexes: Optional[Words] = None,
            align: Optional[Literal['step', 'time']] = None,
            max_values: Optional[int] = None) -> Tree:
        """Runs the command op: time per operation type, with the cumulative share.

        Each line is an operation type, such as Conv2D. The first percentage is the share of
        this type plus all types below it in the list; the second is the share of this type
        alone. On a terminal, tables of traces show only the second; -wide shows both.
        -max_depth N shows N + 1 lines like the original, or N lines if an option, output or
        input is used that the original does not have.

        max_depth: show nodes at most this many levels deep (the root is level 1). Default: all
            levels.
        min_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_peak_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_residual_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_output_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_accelerator_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_cpu_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_params: show only nodes with at least N, such as 3k. Default: 0.
        min_float_ops: show only nodes with at least N, such as 3k. Default: 0.
        min_occurrence: show only nodes with at least N, such as 3k. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        start_name_regexes: use the nodes whose names match as roots. Default: .*.
        trim_name_regexes: do not show anything below the nodes whose names match.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        account_displayed_op_only: count only the nodes that are shown. Default: false.
        select: the columns to show. Default: micros.
        device_regexes: show only nodes on a device that matches. Default: .*.
        top: show at most N rows, those with the largest numbers of -order_by, of all levels
            unless -max_depth is given; 0 is all; also -n; op shows 20 rows of a trace by
            default. Default: -1.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        stats: add columns with statistics over the steps, such as mean,cv,p95,n.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        by: worker: add columns for each worker, the slowest worker and the spread; all other
            values select how scope, op and top group the slices of a trace, and source also
            how top groups a profile with call stacks; module-class: one row for all layers of
            a class, such as Linear; provider: by execution provider of ONNX Runtime. Default:
            none.
        max_workers: show columns for the N workers with the largest totals; negative: 8, or as
            many as fit the terminal. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.
        align: match the steps of workers by step number or by time. Default: step.
        max_values: tensor_value: show at most N values of a tensor, and statistics over all
            values. Default: -1.

        Units: times are microseconds, sizes bytes, everything else counts.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._tree('op', {
            'max_depth': max_depth,
            'min_bytes': min_bytes,
            'min_peak_bytes': min_peak_bytes,
            'min_residual_bytes': min_residual_bytes,
            'min_output_bytes': min_output_bytes,
            'min_micros': min_micros,
            'min_accelerator_micros': min_accelerator_micros,
            'min_cpu_micros': min_cpu_micros,
            'min_params': min_params,
            'min_float_ops': min_float_ops,
            'min_occurrence': min_occurrence,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'start_name_regexes': start_name_regexes,
            'trim_name_regexes': trim_name_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'account_displayed_op_only': account_displayed_op_only,
            'select': select,
            'device_regexes': device_regexes,
            'top': top,
            'rename': rename,
            'stats': stats,
            'at': at,
            'by': by,
            'max_workers': max_workers,
            'worker_regexes': worker_regexes,
            'align': align,
            'max_values': max_values,
        })

    def summary(
            self,
            *,
            top: Optional[int] = None) -> Result:
        """Runs the command summary: one screen: inputs, hottest nodes, missing data.

        Prints the loaded inputs, how busy the devices are, the hottest operation types and
        nodes, memory, parameters, the slowest step, missing data and suggested commands.
        tfprof FILE prints it before the prompt. Times are averages over the steps, except for
        the slowest step.

        top: show at most N rows, those with the largest numbers of -order_by, of all levels
            unless -max_depth is given; 0 is all; also -n; op shows 20 rows of a trace by
            default. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._result('summary', (), {
            'top': top,
        })

    def top(
            self,
            n: Optional[int] = None,
            *,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            device_regexes: Optional[Words] = None,
            rename: Optional[str] = None,
            at: Optional[str] = None,
            by: Optional[Literal['none', 'worker', 'module', 'op', 'annotation', 'source', 'kernel', 'hlo_category', 'function', 'phase', 'module-class', 'provider']] = None,
            worker_regexes: Optional[Words] = None) -> Result:
        """Runs the command top: nodes by own time, the hottest first.

        Prints a flat list of nodes without their scopes. Each line shows a node's own number,
        its share of the total, the cumulative share, the number of calls and the mean per
        call. -by source ranks source lines, also those of profiles with call stacks that are
        not traces.

        n: show the first N nodes (20); 0 is all; also --top. Default: 20.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        device_regexes: show only nodes on a device that matches. Default: .*.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        by: worker: add columns for each worker, the slowest worker and the spread; all other
            values select how scope, op and top group the slices of a trace, and source also
            how top groups a profile with call stacks; module-class: one row for all layers of
            a class, such as Linear; provider: by execution provider of ONNX Runtime. Default:
            none.
        worker_regexes: use only the workers whose names match. Default: .*.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._result('top', (), {
            'n': n,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'device_regexes': device_regexes,
            'rename': rename,
            'at': at,
            'by': by,
            'worker_regexes': worker_regexes,
        })

    def peek(
            self,
            name: str,
            top: Optional[int] = None,
            *,
            table: Optional[Literal['all', 'callers', 'callees', 'inputs', 'readers', 'ops', 'kernels', 'lines', 'steps']] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None) -> Result:
        """Runs the command peek: one op, kernel, call, module or line, and what is around it.

        NAME is the name of an op, kernel, driver call, module, node, scope, op type or line,
        or else a pattern (PCRE2) found in names. If several names match, they are listed with
        their times, the largest first. For one name, the command lists what calls it and what
        it calls, its kernels, its Python lines, and its time and runs in each step. In a
        profile with a graph, it also lists the nodes that it reads from and the nodes that
        read from it; names of nodes are paths, and the scope around a node takes the place of
        its caller. Times include everything below, and shares are shares of the time of NAME.
        Below an op, further calls of the same op do not count again. A note names the lists
        for which the input has no data.

        top: show the first N rows (20) of each table; 0 is all; also -n. Default: 0.
        table: print only this table. Default: all.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('peek', (name,), {
            'top': top,
            'table': table,
            'step': step,
            'order_by': order_by,
        })

    def kernels(
            self,
            top: Optional[int] = None,
            *,
            by: Optional[Literal['kernel', 'phase']] = None,
            step: Optional[Steps] = None) -> Result:
        """Runs the command kernels: kernels, copies and compiled ops by total time.

        Each line is a name on a device of a trace or recording, sorted by total time, with the
        op that launched it. If several ops launched it, the part of their paths that is equal
        and their number are shown; -output json also has the op that launched most of it. In a
        recording, the op is the path of the NVTX ranges. -by phase divides each name by the
        phases of a server's steps. -step selects steps: work belongs to the step that launched
        it.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        by: phase: print a row for each kernel and each phase of a server (help phases).
            Default: kernel.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('kernels', (), {
            'top': top,
            'by': by,
            'step': step,
        })

    def phases(
            self,
            top: Optional[int] = None) -> Result:
        """Runs the command phases: prefill and decode steps of an LLM server.

        Each line is a phase: steps that only read prompts (prefill), only generate tokens
        (decode), or do both (mixed), as named by the annotations of vLLM and SGLang. The time
        of a step is measured on the device, over the work launched in the step; host is the
        mean length of the annotation. attention, gemm (matrix products), comm. and sampling
        are shares of the device time, found by words in the names of kernels and ops; the
        families of flops contain only work whose float operations are known. graphs is the
        number of graph launches, and eager the number of steps without any; graph gaps is the
        time in which a device was idle before the work of a launched graph; idle time before
        other work is not in it; padding is the share of the captured tokens that no request
        used. Requests and tokens are totals over the steps.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('phases', (), {
            'top': top,
        })

    def critical(
            self,
            top: Optional[int] = None,
            *,
            step: Optional[Steps] = None,
            worker_regexes: Optional[Words] = None) -> Result:
        """Runs the command critical: the chain of work that determines how long a step takes.

        Starts at the end of a step and goes back in time, each time to the predecessor that
        ended last: the previous work of the stream, the call that launched the work, the work
        that a blocking call waits for, or another thread. The times by kind add up to the
        window. Without -step, the command shows the step with the median time; if the trace
        has no steps, it shows the whole trace. csv, ndjson and json contain the chain itself;
        a timeline contains the slices of the window, and above them the chain as a track, with
        arrows where the chain changes the track.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('critical', (), {
            'top': top,
            'step': step,
            'worker_regexes': worker_regexes,
        })

    def what_if(
            self,
            *words: str,
            top: Optional[int] = None,
            each: Optional[Literal['none', 'kernel', 'op', 'line']] = None,
            step: Optional[Steps] = None,
            worker_regexes: Optional[Words] = None) -> Result:
        """Runs the command what-if: the step time if kernels, ops or calls took less time.

        Replays the trace with changed times: every piece of work still starts after the work
        that it had to wait for. A change is one of kernel:NAME*F, op:NAME*F, line:FILE:LINE*F,
        call:NAME*F, communication*F, copy*F, launch*F and host*F, where F is a factor and =0
        instead of *F removes the time; sync=0; or cause:ID, a cause that why reports. NAME is
        a whole name, or else a pattern (PCRE2) found in names. op and line change all time
        inside ops, ranges or Python functions, and the device work launched there. call
        changes driver calls. launch changes the latency from a launch to its work. host
        changes all time on threads. With sync=0, threads do not wait for devices. Several
        changes apply together. The answer contains the time before and after, the parts of the
        step on each device and the critical path by kind, as the mean over all steps or those
        selected by -step. The model error is the error of the replayed step time without the
        waits whose cause is not in the file; above 5% the answer is a rough estimate. --each
        ranks single changes by the time that they save.

        words: CHANGE... | --each=kernel|op|line.
        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        each: rank kernels, ops or lines by the time that a step saves if they take half as
            long, and if they take no time. Default: none.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('what-if', words, {
            'top': top,
            'each': each,
            'step': step,
            'worker_regexes': worker_regexes,
        })

    def idle(
            self,
            top: Optional[int] = None,
            *,
            by: Optional[Literal['auto', 'op', 'line', 'call', 'step']] = None,
            step: Optional[Steps] = None,
            worker_regexes: Optional[Words] = None) -> Result:
        """Runs the command idle: what the host did while devices were idle.

        Prints the idle time of each device of a trace or recording by cause, and below each
        cause the places with the most time. A place is the op that launched the next work, or
        what its thread did meanwhile. If that thread waited for another one, the place is what
        the other thread did. The window is the whole trace; -step N selects a step. The causes
        add up to the idle time that devices and steps print, and the places of a cause add up
        to its time. The last lines name the parts that the file does not explain, and the
        profiler settings that would explain them. help idle lists the causes.

        top: show the first N places of each cause (5); 0 is all; also -n. Default: 0.
        by: name places by op, Python line, call or step; auto: by calls that do not launch
            work, otherwise by ops. Default: auto.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('idle', (), {
            'top': top,
            'by': by,
            'step': step,
            'worker_regexes': worker_regexes,
        })

    def why(
            self,
            top: Optional[int] = None,
            *,
            as_: Optional[Literal['auto', 'ranks', 'runs']] = None,
            cause: Optional[str] = None,
            fail_on: Optional[Words] = None,
            allow_inconclusive: Optional[bool] = None,
            step: Optional[Steps] = None) -> Result:
        """Runs the command why: why a step takes as long as it does, and what would shorten it.

        The first line is the verdict. For each cause, the command prints the time that a step
        would save without it, computed by a replay as in what-if; the places with the most
        time; commands that show the evidence; and the usual remedies. Causes that would save
        less than 3% of the step are left out. Causes that cannot be judged from the file are
        listed with the reason. With --fail-on, the status is 1 if a cause is found, or without
        a verdict, unless --allow-inconclusive is given. The files of all ranks of a job are
        analysed together. For two runs, the answer explains the difference of their step
        times: the time on the critical path by cause, kind and name adds up to that
        difference.

        top: show the first N causes (5), places of one cause, or parts of the difference; 0 is
            all; also -n. Default: 0.
        as_: ranks: the files are ranks of one job; runs: explain the difference of two runs;
            auto: two files are runs unless they name different ranks. Default: auto.
        cause: show only this cause, with more of its places (--top).
        fail_on: fail if this cause is found, or saves more than TIME of a step (of the whole
            trace if no steps are marked), such as input_pipeline>5ms; may be repeated.
        allow_inconclusive: accept files without a verdict, which otherwise fail --fail-on.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('why', (), {
            'top': top,
            'as': as_,
            'cause': cause,
            'fail-on': fail_on,
            'allow-inconclusive': allow_inconclusive,
            'step': step,
        })

    def memory(
            self,
            top: Optional[int] = None,
            *,
            by: Optional[Literal['auto', 'line', 'op', 'kind', 'size', 'module']] = None,
            diff: Optional[bool] = None,
            step: Optional[Steps] = None,
            at: Optional[str] = None,
            worker_regexes: Optional[Words] = None) -> Result:
        """Runs the command memory: memory use over time, and the allocations at its peak.

        The first table has a line for each allocator: allocations, releases and their bytes,
        the peak and its time. The second table lists what has memory allocated at the peak, or
        at another time (-at), by op, module, Python line and kind; --by selects one of them,
        or the size. Its rows add up to the bytes in use: what was allocated before the first
        event and what has no event in the file are rows, too. --by=kind shows the rule that
        determined the kind. Further tables show reserved memory that is not in use, the
        largest free block, allocations that are never freed, and out-of-memory errors, as far
        as the file has them. -step N lists the peak within a step. For a TensorFlow profile,
        each device is shown in the step with its highest use. -output json also contains the
        use over time. A heap profile in pprof format has no times. Two files are compared row
        by row. With several files, the first line names the rank that is nearest to its limit.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        by: list what is allocated by Python line, op, kind, size or module; auto: by line in a
            memory snapshot, by op, module, line and kind in other files. Default: auto.
        diff: fail unless there are two files, whose live sets are compared.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        worker_regexes: use only the workers whose names match. Default: .*.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('memory', (), {
            'top': top,
            'by': by,
            'diff': diff,
            'step': step,
            'at': at,
            'worker_regexes': worker_regexes,
        })

    def collectives(
            self,
            top: Optional[int] = None,
            *,
            fail_on: Optional[Words] = None) -> Result:
        """Runs the command collectives: ranks that have not called a collective, and mismatched calls.

        Compares the dumps that PyTorch's Flight Recorder writes on each rank when a collective
        times out (TORCH_FR_BUFFER_SIZE, TORCH_NCCL_TRACE_BUFFER_SIZE). Calls of a process
        group with the same sequence number belong together. The first table lists the
        problems, the earliest first: op, size and dtype (ranks called different operations, or
        passed tensors of different sizes or types), missing (ranks have not called a
        collective for which others wait), timeout (a call ended without completion), peer (a
        send without its receive, or a receive without its send) and running (all ranks have
        called it, and some have not ended). The second table shows how far each process group
        is, the third the calls that have not ended, with their age at the last call of all
        ranks. With --fail-on, the status is 1 if a problem is found. The rank of a dump is the
        number in the name of its file.

        top: show the first N rows (20) of each table; 0 is all; also -n. Default: 0.
        fail_on: fail if a collective has this problem: op, size, dtype, missing, timeout, peer
            or running; may be repeated.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('collectives', (), {
            'top': top,
            'fail-on': fail_on,
        })

    def roofline(
            self,
            top: Optional[int] = None,
            *,
            by: Optional[Literal['op', 'kernel', 'module', 'phase']] = None,
            peak_flops: Optional[Size] = None,
            peak_bandwidth: Optional[Size] = None) -> Result:
        """Runs the command roofline: how close each op comes to the peaks of its device.

        Each line is an op with one combination of input shapes, sorted by total time; --by
        groups by kernel, module or phase instead. flop/s is the achieved rate, and flop/B the
        float operations per byte. roof is the achieved rate as a share of the rate that the
        peaks of the device allow at this intensity; saved is the time that the op would save
        at that rate. bound names the limit: compute, memory, or launch if the host takes
        longer to launch a kernel than the kernel would take. A question mark means that the
        file does not contain the number; flops lists the reasons. The peaks are the rates of
        the device for dense matrix products; -output json states their source.

        top: show the first N rows (20); 0 is all; also -n. Default: 0.
        by: group by op and input shapes, by kernel, by module, or by phase of a server's
            steps. Default: op.
        peak_flops: float operations per second, such as 989T, instead of the peaks of the
            device.
        peak_bandwidth: bytes of memory per second, such as 3.35T, instead of the bandwidth of
            the device.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('roofline', (), {
            'top': top,
            'by': by,
            'peak-flops': peak_flops,
            'peak-bandwidth': peak_bandwidth,
        })

    def flops(
            self,
            top: Optional[int] = None,
            *,
            partial: Optional[bool] = None,
            peak_flops: Optional[Size] = None) -> Result:
        """Runs the command flops: float operations by family and op, and what is not counted.

        Counts the float operations of the calls in a trace from the shapes of their inputs,
        over all steps: of PyTorch ops, of the compiled programs in XSpaces, and of the
        operators in ONNX models and ONNX Runtime profiles. In TensorFlow graphs and profiles,
        it counts the operations for which TensorFlow registers a statistic; shapes that a
        graph lacks are computed, and --assume_batch=N gives an unknown first dimension. A
        multiply-add counts as two; a bias is not counted; in causal attention, only pairs of a
        query and a key that the query may attend to are counted. The first table lists the
        float operations by family, the second by op. The third lists the device work whose
        float operations are unknown, with the reason: the op has no formula, or the file lacks
        a shape or a setting. Nested ops are counted once. Record PyTorch traces with
        record_shapes=True. MFU is the time that matrix products, convolutions and attention
        would take at the dense peak rates of the device, as a share of the wall time of the
        steps; HFU includes what a backward pass computes again. --explain=OP prints the
        formula of an op with the numbers of its calls.

        top: show the first N rows (20) of each table; 0 is all; also -n. Default: 0.
        partial: print MFU even if float operations are known for less than 90% of the device
            time.
        peak_flops: peak float operations per second for MFU, such as 989T, instead of the
            device's own peaks.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded, Error if the loaded files do not contain what the command needs.
        """
        return self._result('flops', (), {
            'top': top,
            'partial': partial,
            'peak-flops': peak_flops,
        })

    def report(
            self,
            path: Path,
            as_: Optional[Literal['auto', 'ranks', 'runs']] = None,
            *,
            step: Optional[Steps] = None,
            account_type_regexes: Optional[Words] = None,
            device_regexes: Optional[Words] = None,
            rename: Optional[str] = None,
            worker_regexes: Optional[Words] = None) -> None:
        """Runs the command report: write all views into one HTML file for the browser.

        Writes a page with all views of the files: overview, scope, graph, op and code as flame
        graphs and tables; for traces also the timeline, devices and kernels. The page is one
        file that opens from disk and makes no network connections. With two profiles, folders
        or lists such as graph.pbtxt,run_meta, it shows their differences. Traces of the ranks
        of one job are one page; see --as. Options of the views, such as -step, apply to all
        pages. Input flags such as --graph_path=FILE also work. At the prompt and in the
        library, report without files writes a page about the loaded profile.

        path: the file to write.
        as_: ranks: show the files as one job; runs: compare them; auto: traces are ranks if
            there are more than two, or they name different ranks. Default: auto.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        device_regexes: show only nodes on a device that matches. Default: .*.
        rename: rename nodes in the output by rules such as s/tower_0/t0/; separate rules with
            ;; op types that become equal are one row.
        worker_regexes: use only the workers whose names match. Default: .*.

        The page is one HTML file. It makes no connections.
        Raises: InvalidArgumentError for an unknown value, FileNotFoundError, PermissionError
        or Error if the file cannot be written.
        """
        return self._page(path, {
            'as': as_,
            'step': step,
            'account_type_regexes': account_type_regexes,
            'device_regexes': device_regexes,
            'rename': rename,
            'worker_regexes': worker_regexes,
        })

    def diff(
            self,
            other: Optional[Other] = None,
            view: Optional[Literal['scope', 'graph', 'op', 'code']] = None,
            *,
            steps: Optional[Sequence[Union[int, str]]] = None,
            of: Optional[Literal['nodes', 'kernels', 'steps', 'devices', 'memory', 'phases']] = None,
            top: Optional[int] = None,
            by: Optional[Literal['node', 'phase']] = None,
            delta: Optional[Share] = None,
            min_size: Optional[Size] = None,
            all: Optional[bool] = None,
            names: Optional[Words] = None,
            label: Optional[Words] = None,
            swap: Optional[bool] = None,
            rename: Optional[Words] = None,
            match: Optional[Literal['auto', 'path']] = None,
            per: Optional[Literal['step', 'run']] = None,
            gate: Optional[Words] = None,
            allow_inconclusive: Optional[bool] = None,
            level: Optional[Share] = None,
            max_depth: Optional[int] = None,
            min_bytes: Optional[Size] = None,
            min_peak_bytes: Optional[Size] = None,
            min_residual_bytes: Optional[Size] = None,
            min_output_bytes: Optional[Size] = None,
            min_micros: Optional[Size] = None,
            min_accelerator_micros: Optional[Size] = None,
            min_cpu_micros: Optional[Size] = None,
            min_params: Optional[Size] = None,
            min_float_ops: Optional[Size] = None,
            min_occurrence: Optional[Size] = None,
            step: Optional[Steps] = None,
            order_by: Optional[Order] = None,
            account_type_regexes: Optional[Words] = None,
            start_name_regexes: Optional[Words] = None,
            trim_name_regexes: Optional[Words] = None,
            show_name_regexes: Optional[Words] = None,
            hide_name_regexes: Optional[Words] = None,
            account_displayed_op_only: Optional[bool] = None,
            select: Optional[Metrics] = None,
            device_regexes: Optional[Words] = None,
            at: Optional[str] = None,
            max_workers: Optional[int] = None,
            worker_regexes: Optional[Words] = None,
            align: Optional[Literal['step', 'time']] = None,
            max_values: Optional[int] = None) -> Result:
        """Runs the command diff: compare two or more runs; check pass/fail gates in CI.

        Compares any view of two or more sides: profiles, lists such as graph.pbtxt,run_meta,
        folders, baseline:NAME, or the saved text output of a view. Nodes are matched by path;
        renamed scopes are found by the similarity of their contents. The result contains the
        nodes whose difference is large enough, and their ancestors, with the largest
        difference first. A difference is the last side minus the first, so increases are
        positive. PATH@11, PATH@3..9, PATH@slowest, PATH@fastest and PATH@median select steps
        of a side; at the prompt, a loaded job can also be a side. --of compares the rows of
        kernels, steps, devices or memory, or the phases of a server, instead of the nodes of a
        view. Time differences within noise have no row. If there are several steps, noise is a
        difference within their spread (Mann-Whitney rank test, or Welch's t-test if there are
        too few steps for ranks); otherwise it is a difference under 1% or 10us. One line gives
        their sum; -all shows them. -output legacy prints the older layout, the first side
        minus the last. View options apply to all sides; all levels are shown unless -max_depth
        is given. A gate consists of a number (total.METRIC, scope:PATTERN.METRIC,
        op:PATTERN.METRIC and so on), an operator (<, <=, > or >=) and a limit: +5% or +1MB
        limits the change from the first side to the last, 30ms limits the last side itself,
        and 30% its share of the total; such limits need only one side. The number can also be
        step_time or idle; for traces, exposed_communication, kernels, or the id of a cause of
        why (the time that its removal would save). idle_share<10% limits a part of the step
        time, multiplied by the number of devices. Changes of times are judged by the same test
        over the steps: the gate holds or fails if the steps show on which side of the limit
        the change is, and the average agrees. Otherwise it is inconclusive; a gate on a side
        with one step always is. The answer then prints the interval of changes that the steps
        do not exclude, the smallest change that they can show, and about how many steps would
        be enough. Numbers that do not vary and limits for the side itself need no test. The
        status is 1 if a gate fails, if a gate is inconclusive and --allow-inconclusive is not
        given, or if nothing matches.

        other: the other profile, or a path. Differences are the other profile minus this one,
        so increases are positive. steps: a step of each side, such as (3, 'slowest'); without
        other, two steps of this profile are compared. A gate that fails or is inconclusive
        raises no error; 'gates' of the document contains it.
        view: view to compare; can also be given as a word before the sides [scope]. Default:
            scope.
        of: compare kernels, steps, devices, memory or phases of two traces instead of the
            nodes of a view. Default: nodes.
        top: show the first N rows; 0 is all; also -n [20 for --of, otherwise all]. Default: 0.
        by: phase: compare step time, tokens per second and busy time for each phase of a
            server (help phases). Default: node.
        delta: show nodes that differ by more than SHARE: 0.1 or 10% [10%]. Default: 10%.
        min_size: show nodes with at least SIZE on one side: 1KB for bytes, 20ms for times
            [1MB].
        all: show all differences, also those within noise.
        names: names of the sides; can also be given as words after the sides.
        label: name of a side [A, B]; repeat it for each side.
        swap: reverse the direction: the first side minus the last.
        rename: rename nodes before matching; may be repeated.
        match: auto: find renamed scopes; path: match by path only. Default: auto.
        per: run: divide the numbers of each node by its number of runs. Default: step.
        gate: fail unless RULE holds, such as total.micros<+5% or, for traces, step_time<+5%;
            may be repeated.
        allow_inconclusive: do not fail if a gate is inconclusive because the steps vary too
            much or are too few.
        level: two-sided significance level of the tests for gates and noise [0.05]. Default:
            0.05.
        max_depth: show nodes at most this many levels deep (the root is level 1). Default: all
            levels.
        min_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_peak_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_residual_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_output_bytes: show only nodes with at least N, such as 1MB. Default: 0.
        min_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_accelerator_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_cpu_micros: show only nodes with at least N, such as 20ms. Default: 0.
        min_params: show only nodes with at least N, such as 3k. Default: 0.
        min_float_ops: show only nodes with at least N, such as 3k. Default: 0.
        min_occurrence: show only nodes with at least N, such as 3k. Default: 0.
        step: show this step; negative: the average of all steps; 0,2,5 or 3..9: the average of
            these steps; slowest, fastest or median: the step with this time. Default: -1.
        order_by: sort siblings by this metric, largest first, or by name, ascending; for a
            trace, micros sorts by device time, or by host time if it has no device work.
            Default: name.
        account_type_regexes: count only nodes with a type that matches. Default: .*.
        start_name_regexes: use the nodes whose names match as roots. Default: .*.
        trim_name_regexes: do not show anything below the nodes whose names match.
        show_name_regexes: show only nodes whose names match. Default: .*.
        hide_name_regexes: hide nodes whose names match.
        account_displayed_op_only: count only the nodes that are shown. Default: false.
        select: the columns to show. Default: micros.
        device_regexes: show only nodes on a device that matches. Default: .*.
        at: show what is allocated at the peak, at the first out-of-memory error (oom; for a
            device without such an error, at the end), at the end, or at a time such as 5ms
            after the first entry; in scope, op, code and top with -select live_bytes. Default:
            peak.
        max_workers: show columns for the N workers with the largest totals; negative: 8, or as
            many as fit the terminal. Default: -1.
        worker_regexes: use only the workers whose names match. Default: .*.
        align: match the steps of workers by step number or by time. Default: step.
        max_values: tensor_value: show at most N values of a tensor, and statistics over all
            values. Default: -1.

        Units: the end of a column's name: _ns nanoseconds, _micros microseconds, _bytes bytes;
        share is percent. columns has the unit of each column.
        Raises: InvalidArgumentError for an unknown value, NotFoundError for a step that is not
        loaded or data that the files do not contain.
        """
        return self._compare(other, steps, {
            'view': view,
            'of': of,
            'top': top,
            'by': by,
            'delta': delta,
            'min_size': min_size,
            'all': all,
            'names': names,
            'label': label,
            'swap': swap,
            'rename': rename,
            'match': match,
            'per': per,
            'gate': gate,
            'allow-inconclusive': allow_inconclusive,
            'level': level,
            'max_depth': max_depth,
            'min_bytes': min_bytes,
            'min_peak_bytes': min_peak_bytes,
            'min_residual_bytes': min_residual_bytes,
            'min_output_bytes': min_output_bytes,
            'min_micros': min_micros,
            'min_accelerator_micros': min_accelerator_micros,
            'min_cpu_micros': min_cpu_micros,
            'min_params': min_params,
            'min_float_ops': min_float_ops,
            'min_occurrence': min_occurrence,
            'step': step,
            'order_by': order_by,
            'account_type_regexes': account_type_regexes,
            'start_name_regexes': start_name_regexes,
            'trim_name_regexes': trim_name_regexes,
            'show_name_regexes': show_name_regexes,
            'hide_name_regexes': hide_name_regexes,
            'account_displayed_op_only': account_displayed_op_only,
            'select': select,
            'device_regexes': device_regexes,
            'at': at,
            'max_workers': max_workers,
            'worker_regexes': worker_regexes,
            'align': align,
            'max_values': max_values,
        })
