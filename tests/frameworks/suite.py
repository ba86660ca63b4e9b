# SPDX-License-Identifier: Apache-2.0
"""Files that current PyTorch, JAX and TensorFlow write here and now, against what the frameworks' own tools print."""
from step import Step, counted, scratch_python


def made_by(name, script, *packages):
    """Returns a function that runs a script in an environment with these packages, which is made once below build/frameworks."""
    def run(places):
        python, skipped = scratch_python('frameworks/' + name, list(packages))
        return skipped or counted([python, '-B', 'tests/frameworks/' + script, '--bin', places['bin']])
    return run


# The package of PyTorch takes 5.4 GB, the other environment 2.3 GB.
STEPS = [
    Step('frameworks-torch', 'deep', made_by('torch', 'torch_made.py', 'torch==2.15.0', 'numpy'), seconds=120),
    Step('frameworks-xprof', 'deep',
         made_by('xprof', 'xprof_made.py', 'jax==0.10.2', 'tensorflow-cpu==2.21.0', 'xprof==2.24.2'), seconds=60),
]
