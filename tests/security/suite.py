# SPDX-License-Identifier: Apache-2.0
"""The promises of docs/SECURITY.md."""
from step import Step

STEPS = [
    Step('security', 'quick',
         'tests/security/run.py --program {program} --jail {bin}/faults/jail.so --make {bin}/spool_make', seconds=10),
]
