# SPDX-License-Identifier: Apache-2.0
"""torchrun: starts a program as often as --nproc-per-node says."""
import os
import subprocess
import sys

n = int(sys.argv[1].split('=')[1])
ranks = [subprocess.Popen([sys.executable] + sys.argv[2:], env=dict(os.environ, RANK=str(i), LOCAL_RANK=str(i)))
         for i in range(n)]
sys.exit(max(p.wait() for p in ranks))
