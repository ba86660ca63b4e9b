# SPDX-License-Identifier: Apache-2.0
"""torchrun: starts --nproc-per-node processes of a program."""
import os
import subprocess
import sys

n = int(sys.argv[1].split('=')[1])
ranks = [subprocess.Popen([sys.executable] + sys.argv[2:], env=dict(os.environ, RANK=str(i), LOCAL_RANK=str(i)))
         for i in range(n)]
sys.exit(max(p.wait() for p in ranks))
