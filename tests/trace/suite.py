# SPDX-License-Identifier: Apache-2.0
"""Readers of traces: generated files, and real files with known numbers."""
from step import Step, counted, scratch_python


def onnx_made(version, *more):
    """Returns a function that tests profiles of an installed onnxruntime."""
    def run(places):
        python, skipped = scratch_python('onnxruntime-' + version, ['onnxruntime==' + version, *more])
        return skipped or counted([python, 'tests/trace/onnx_made.py', '--bin', places['bin']])
    return run


def perfetto_made(places):
    """Compares random Perfetto traces with the messages of the installed package perfetto."""
    python, skipped = scratch_python('perfetto', ['perfetto', 'protobuf'])
    return skipped or counted([python, 'tests/trace/perfetto_run.py', '--bin', places['bin'], 'against_messages'])


STEPS = [
    Step('traces-perfetto-made', 'deep', perfetto_made, seconds=30),
    Step('traces', 'quick deep covered', 'tests/trace/run.py --bin {bin}', seconds=6),
    Step('traces-groups', 'quick deep covered', 'tests/trace/groups.py --bin {bin}'),
    Step('traces-logdir', 'quick deep covered', 'tests/trace/logdir.py --bin {bin}'),
    Step('traces-hlo', 'quick deep covered', 'tests/trace/hlo.py --bin {bin}', seconds=5),
    Step('traces-memory', 'quick deep covered', 'tests/trace/memory_run.py --bin {bin}', seconds=5),
    Step('traces-kineto', 'quick deep covered', 'tests/trace/kineto_run.py --bin {bin}'),
    Step('traces-nsys', 'quick deep covered', 'tests/trace/nsys_run.py --bin {bin}', seconds=2),
    Step('traces-sources', 'quick deep covered', 'tests/trace/sources_run.py --bin {bin}'),
    Step('traces-formats', 'quick deep covered', 'tests/trace/formats_run.py --bin {bin}'),
    Step('traces-unsupported', 'quick deep covered', 'tests/trace/unsupported_run.py --bin {bin}', seconds=10),
    Step('traces-onnx-1.15', 'deep', onnx_made('1.15.0', 'numpy<2'), seconds=30),
    Step('traces-onnx-1.22', 'deep', onnx_made('1.22.1'), seconds=30),
    Step('traces-onnx-1.32', 'deep', onnx_made('1.32.0'), seconds=30),
    Step('traces-perfetto', 'quick deep covered', 'tests/trace/perfetto_run.py --bin {bin}'),
    Step('traces-nsys-sums', 'quick deep covered', 'tests/trace/nsys_sums_run.py --bin {bin}', seconds=6),
    Step('traces-nsys-large', 'deep', 'tests/trace/nsys_sums_run.py --bin {bin} large', seconds=40),
    Step('traces-rocprof', 'quick deep covered', 'tests/trace/rocprof_run.py --bin {bin}'),
    Step('traces-critical', 'quick deep covered', 'tests/trace/critical_run.py --bin {bin}'),
    Step('traces-idle', 'quick deep covered', 'tests/trace/idle_run.py --bin {bin}'),
    Step('traces-idle-real', 'real', 'tests/trace/idle_run.py --bin {bin} --realdata {realdata}'),
    Step('traces-critical-real', 'real', 'tests/trace/critical_run.py --bin {bin} --realdata {realdata} --modern={modern}'),
    Step('traces-real', 'real', 'tests/trace/real.py --bin {bin} --realdata {realdata} --modern={modern}'),
    Step('traces-kineto-real', 'real', 'tests/trace/kineto_real.py --bin {bin} --realdata {realdata} --modern={modern}'),
    Step('traces-sources-real', 'real', 'tests/trace/sources_real.py --bin {bin} --realdata {realdata} --modern={modern}'),
]
