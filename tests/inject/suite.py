# SPDX-License-Identifier: Apache-2.0
"""The collector under fakes of driver and CUPTI; README.md lists what each test shows."""
from step import Step

# t28 waits for silences, which also occur on a busy machine; check-deep runs it under the options, too.
STEPS = [
    Step('inject', 'quick', 'tests/inject/run.py --bin {bin}', seconds=40),
    Step('inject-options', 'quick', 'tests/inject/run.py --bin {bin} --options -- t06 t08 t23 t25', seconds=20),
    Step('inject', 'deep', 'tests/inject/run.py --bin {bin} --san address,undefined --long', seconds=300),
    Step('inject-tsan', 'deep', 'tests/inject/run.py --bin {tsan} --san thread', seconds=200),
    Step('inject-starts', 'deep', 'tests/inject/run.py --bin {tsan} --san thread --long t50_many_starts', seconds=1200),
    Step('inject-valgrind', 'deep', 'tests/inject/run.py --bin {plain} --valgrind', seconds=350),
    Step('inject-options-20', 'deep', 'tests/inject/run.py --bin {plain} --options --times-over=20 --jobs=8'),
    Step('inject-real', 'deep', 'tests/inject/real.py --bin {plain}'),
    Step('inject-real-asan', 'deep', 'tests/inject/real.py --bin {bin} --san address,undefined'),
    Step('inject-real-tsan', 'deep', 'tests/inject/real.py --bin {tsan} --san thread'),
    Step('inject-real-valgrind', 'deep', 'tests/inject/real.py --bin {plain} --valgrind'),
]
