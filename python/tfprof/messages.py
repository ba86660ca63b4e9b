# SPDX-License-Identifier: Apache-2.0
"""The messages of the package tensorflow.tfprof that the functions take and return."""
from .wire import Field, Message

_DTYPES = dict(enumerate(
    'DT_INVALID DT_FLOAT DT_DOUBLE DT_INT32 DT_UINT8 DT_INT16 DT_INT8 DT_STRING DT_COMPLEX64 DT_INT64 '
    'DT_BOOL DT_QINT8 DT_QUINT8 DT_QINT32 DT_BFLOAT16 DT_QINT16 DT_QUINT16 DT_UINT16 DT_COMPLEX128 '
    'DT_HALF DT_RESOURCE DT_VARIANT DT_UINT32 DT_UINT64'.split()))


class Dim(Message):
    FIELDS = {1: Field('size', 'int'), 2: Field('name', 'string')}


class TensorShapeProto(Message):
    FIELDS = {2: Field('dim', 'message', True, Dim), 3: Field('unknown_rank', 'bool')}


class TFProfTensorProto(Message):
    FIELDS = {1: Field('dtype', 'enum', message=_DTYPES), 2: Field('value_double', 'double', True),
              3: Field('value_int64', 'int', True), 4: Field('value_str', 'string', True)}


class MetricProto(Message):
    """A selected metric that has no field in a row."""
    FIELDS = {1: Field('name', 'string'), 2: Field('own', 'int'), 3: Field('total', 'int')}


class GraphNodeProto(Message):
    """A row of scope and graph, and a graph node of op and code."""
    FIELDS = {
        1: Field('name', 'string'), 2: Field('exec_micros', 'int'),
        3: Field('requested_bytes', 'int'), 4: Field('parameters', 'int'),
        6: Field('total_exec_micros', 'int'), 7: Field('total_requested_bytes', 'int'),
        8: Field('total_parameters', 'int'), 10: Field('devices', 'string', True),
        11: Field('shapes', 'message', True, TensorShapeProto),
        13: Field('float_ops', 'int'), 14: Field('total_float_ops', 'int'),
        15: Field('tensor_value', 'message', message=TFProfTensorProto),
        16: Field('input_shapes', 'message', message=TensorShapeProto, key='int'),
        17: Field('accelerator_exec_micros', 'int'), 18: Field('cpu_exec_micros', 'int'),
        19: Field('total_accelerator_exec_micros', 'int'), 20: Field('total_cpu_exec_micros', 'int'),
        21: Field('run_count', 'int'), 22: Field('total_run_count', 'int'),
        23: Field('total_definition_count', 'int'), 24: Field('peak_bytes', 'int'),
        25: Field('residual_bytes', 'int'), 26: Field('output_bytes', 'int'),
        27: Field('total_peak_bytes', 'int'), 28: Field('total_residual_bytes', 'int'),
        29: Field('total_output_bytes', 'int'), 100: Field('metrics', 'message', True, MetricProto)}


class MultiGraphNodeProto(Message):
    """A row of op and code."""
    FIELDS = {
        1: Field('name', 'string'), 2: Field('exec_micros', 'int'),
        3: Field('requested_bytes', 'int'), 4: Field('parameters', 'int'), 5: Field('float_ops', 'int'),
        6: Field('total_exec_micros', 'int'), 7: Field('total_requested_bytes', 'int'),
        8: Field('total_parameters', 'int'), 9: Field('total_float_ops', 'int'),
        10: Field('graph_nodes', 'message', True, GraphNodeProto),
        12: Field('accelerator_exec_micros', 'int'), 13: Field('cpu_exec_micros', 'int'),
        14: Field('total_accelerator_exec_micros', 'int'), 15: Field('total_cpu_exec_micros', 'int'),
        16: Field('peak_bytes', 'int'), 17: Field('residual_bytes', 'int'),
        18: Field('output_bytes', 'int'), 19: Field('total_peak_bytes', 'int'),
        20: Field('total_residual_bytes', 'int'), 21: Field('total_output_bytes', 'int'),
        100: Field('metrics', 'message', True, MetricProto)}


for _message, _number in ((GraphNodeProto, 12), (MultiGraphNodeProto, 11)):
    _field = Field('children', 'message', True, _message)
    _message.FIELDS[_number] = _message.NAMES['children'] = _field


class Checker(Message):
    FIELDS = {2: Field('reports', 'string', True)}


class AdviceProto(Message):
    FIELDS = {1: Field('checkers', 'message', message=Checker, key='string')}


class OptionsProto(Message):
    FIELDS = {
        1: Field('max_depth', 'int'), 2: Field('min_bytes', 'int'), 3: Field('min_micros', 'int'),
        4: Field('min_params', 'int'), 5: Field('min_float_ops', 'int'), 7: Field('order_by', 'string'),
        8: Field('account_type_regexes', 'string', True), 9: Field('start_name_regexes', 'string', True),
        10: Field('trim_name_regexes', 'string', True), 11: Field('show_name_regexes', 'string', True),
        12: Field('hide_name_regexes', 'string', True), 13: Field('account_displayed_op_only', 'bool'),
        14: Field('select', 'string', True), 15: Field('output', 'string'),
        16: Field('dump_to_file', 'string'), 17: Field('min_occurrence', 'int'), 18: Field('step', 'int'),
        19: Field('min_peak_bytes', 'int'), 20: Field('min_residual_bytes', 'int'),
        21: Field('min_output_bytes', 'int'), 22: Field('min_accelerator_micros', 'int'),
        23: Field('min_cpu_micros', 'int')}


class CheckerOption(Message):
    FIELDS = {1: Field('options', 'string', key='string')}


class AdvisorOptionsProto(Message):
    FIELDS = {1: Field('checkers', 'message', message=CheckerOption, key='string')}


class Trace(Message):
    """A line of a call stack. Strings are stored as keys of id_to_string."""
    FIELDS = {2: Field('lineno', 'int'), 5: Field('func_start_line', 'int'), 6: Field('file_id', 'int'),
              7: Field('function_id', 'int'), 8: Field('line_id', 'int')}


class CodeDef(Message):
    FIELDS = {1: Field('traces', 'message', True, Trace)}


class OpLogEntry(Message):
    FIELDS = {1: Field('name', 'string'), 2: Field('float_ops', 'int'), 3: Field('types', 'string', True),
              4: Field('code_def', 'message', message=CodeDef)}


class OpLogProto(Message):
    """An op log, with which callers can add float operations and types to nodes: log_entries.add(name=...,
    types=[...])."""
    FIELDS = {1: Field('log_entries', 'message', True, OpLogEntry),
              2: Field('id_to_string', 'string', key='int')}


OpLog = OpLogProto  # the name that TensorFlow used until 2017
TFGraphNodeProto = TFProfNode = GraphNodeProto
TFMultiGraphNodeProto = MultiGraphNodeProto
