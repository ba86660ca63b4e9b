# SPDX-License-Identifier: Apache-2.0
"""Computes the float operations of TensorFlow operations from the shapes of their tensors. The results are those of
the statistic 'flops' that TensorFlow registers, for the same operations."""
import math
from typing import Any, Callable, Dict, List, Optional, Sequence

Shape = Optional[Sequence[int]]  # None or a negative dimension: unknown


class Unknown(Exception):
    """A required shape is unknown, or the layout is not supported."""


class Operation:
    """A node with the shapes of its tensors."""

    def __init__(self, attrs: Any, inputs: Sequence[Shape], output: Shape) -> None:
        self.attrs, self._inputs, self._output = attrs, inputs, output

    @staticmethod
    def _known(shape: Shape) -> List[int]:
        if shape is None or any(d < 0 for d in shape):
            raise Unknown()
        return list(shape)

    def input(self, i: int) -> List[int]:
        if i >= len(self._inputs):
            raise Unknown()
        return self._known(self._inputs[i])

    @property
    def output(self) -> List[int]:
        return self._known(self._output)

    def flag(self, name: str) -> bool:
        return name in self.attrs and bool(self.attrs[name].b)

    def numbers(self, name: str) -> List[int]:
        return list(self.attrs[name].list.i) if name in self.attrs else []

    def need_nhwc(self) -> None:
        if 'data_format' not in self.attrs or self.attrs['data_format'].s != 'NHWC':
            raise Unknown()

    @property
    def inputs(self) -> int:
        return len(self._inputs)


Count = Callable[[Operation], int]


def _of_input(each: int, more: int = 0) -> Count:
    return lambda op: math.prod(op.input(0)) * each + more


def _of_output(each: int) -> Count:
    return lambda op: math.prod(op.output) * each


def _reduction(finish: int) -> Count:
    """Returns the float operations of a reduction: one per input element, and `finish` per result."""
    return lambda op: math.prod(op.input(0)) + math.prod(op.output) * (finish - 1)


def _pool(op: Operation) -> int:
    op.need_nhwc()
    return math.prod(op.numbers('ksize')) * math.prod(op.output)


def _pool_gradient(each_output: Callable[[int], int]) -> Count:
    def count(op: Operation) -> int:
        op.need_nhwc()
        return math.prod(op.input(1)) * each_output(math.prod(op.numbers('ksize')))
    return count


def _convolution(dimensions: int) -> Count:
    """Returns the float operations of a convolution: two for each output element and each weight that it uses (the
    first dimensions of the filter)."""
    def count(op: Operation) -> int:
        op.input(0)
        weights = op.input(1)
        if len(weights) < dimensions:
            raise Unknown()
        return 2 * math.prod(op.output) * math.prod(weights[:dimensions])
    return count


def _convolution_gradient(image: Sequence[int], kernel: Sequence[int], op: Operation) -> int:
    op.need_nhwc()
    strides = op.numbers('strides')
    if len(strides) < 3 or not image or not image[-1] * strides[1] * strides[2]:
        raise Unknown()
    return int(2 * math.prod(image) * math.prod(kernel) / (image[-1] * strides[1] * strides[2]))


def _product(first: int, second: int) -> Count:
    """Returns the float operations of a matrix product. The common dimension is the second one of the left factor, or
    the first if the factor is transposed."""
    def count(op: Operation) -> int:
        left = op.input(0)
        if len(left) < 2:
            raise Unknown()
        return 2 * left[first if op.flag('transpose_a') else second] * math.prod(op.output)
    return count


def _sum_of_inputs(op: Operation) -> int:
    return math.prod(op.input(0)) * (op.inputs - 1) if op.inputs else 0


COUNTS: Dict[str, Count] = {
    'L2Loss': _of_input(3, -1), 'Softmax': _of_input(5), 'Rsqrt': _of_input(2), 'BiasAdd': _of_input(1),
    'RsqrtGrad': _of_output(4), 'SquaredDifference': _of_output(2),
    'Mean': _reduction(1), 'Sum': _reduction(0), 'ArgMax': _reduction(0), 'ArgMin': _reduction(0),
    'BiasAddGrad': _reduction(0),
    'AvgPool': _pool, 'MaxPool': _pool,
    'AvgPoolGrad': _pool_gradient(lambda area: 2 * area), 'MaxPoolGrad': _pool_gradient(lambda area: area + 1),
    'Conv2D': _convolution(3), 'Conv3D': _convolution(4), 'DepthwiseConv2dNative': _convolution(2),
    'Dilation2D': _convolution(2),
    'Conv2DBackpropInput': lambda op: _convolution_gradient(op.output, op.input(1), op),
    'Conv2DBackpropFilter': lambda op: _convolution_gradient(op.input(0), op.output, op),
    'AddN': _sum_of_inputs, 'MatMul': _product(0, 1)}
COUNTS.update(dict.fromkeys(('Reciprocal', 'Square', 'Log', 'Neg', 'AssignSub', 'AssignAdd'), _of_input(1)))
COUNTS.update(dict.fromkeys(('Add', 'AddV2', 'Sub', 'Mul', 'RealDiv', 'Maximum', 'Minimum', 'Pow', 'GreaterEqual',
                             'Greater', 'LessEqual', 'Less', 'Equal', 'NotEqual'), _of_output(1)))
COUNTS.update(dict.fromkeys(('BatchMatMul', 'BatchMatMulV2', 'BatchMatMulV3'), _product(-2, -1)))


def count(op: str, operation: Operation) -> Optional[int]:
    """Returns the float operations, or None for an operation without this statistic. Raises Unknown."""
    how = COUNTS.get(op)
    return how(operation) if how else None
