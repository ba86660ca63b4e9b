# SPDX-License-Identifier: Apache-2.0
"""Reports and the server: over HTTP, and (make check-web) in a browser."""
from step import Step

STEPS = [
    Step('web-files', 'quick deep covered', 'tests/web/serve_run.py --program {program}', seconds=15),
    Step('web-pages', 'web', 'tests/web/run.py --program {program}', seconds=60),
]
