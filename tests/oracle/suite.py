# SPDX-License-Identifier: Apache-2.0
"""Comparison with other programs: libprotobuf, and a live original if it is installed."""
import glob
import os

from step import Step, counted


def libprotobuf(places):
    """Compares tfprof's readers with libprotobuf on mutations of the recorded messages."""
    seeds = sorted(glob.glob('testdata/recorded/*/*.pb') + glob.glob('testdata/recorded/*/*.pbtxt'))
    return counted(['tests/oracle/pb_differential.py', '--try', os.path.join(places['bin'], 'oracle', 'pb_try'),
                    '--judge', 'build/gen-cc/pb_judge'] + seeds)


STEPS = [
    Step('libprotobuf', 'deep', libprotobuf),
    Step('checkpoint-oracle', 'deep', 'tests/oracle/checkpoint.py --program {program}', seconds=60),
    Step('spool-original', 'deep', 'tests/oracle/spool.py --make {bin}/spool_make --program {program}', seconds=100),
    Step('op-log-original', 'deep', 'tests/oracle/op_log.py --bin {plain}', seconds=30),
    Step('differential', 'deep', 'tests/oracle/differential.py --seeds 1-40 --seconds 60 --program {program}', seconds=360),
]
