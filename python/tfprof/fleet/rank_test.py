# SPDX-License-Identifier: Apache-2.0
"""The rank test of the gates of tfprof diff (Mann and Whitney), for recipes: SQL counts the pairs, and this module says how
many pairs are needed."""
import math
from typing import Any, Callable, List, NamedTuple, Optional, Sequence, Tuple

LEVEL = 0.05  # probability of an error to either side
EXACT_WORK = 4000000  # as in base/shift.c: up to this size, the distribution is counted exactly

PAIRS = 'run_pairs'  # the table that recipes query
COLUMNS = [('run', 'text'), ('before', 'text'), ('steps', 'int64'), ('before_steps', 'int64'), ('least_pairs', 'int64')]
_RUNS = '''SELECT c.run, c.steps FROM (SELECT run, count(*) AS steps FROM steps WHERE run LIKE %s AND duration_ns IS NOT NULL GROUP BY run) c
JOIN (SELECT run, max(modified_ns) AS modified_ns FROM files GROUP BY run) t ON c.run = t.run ORDER BY t.modified_ns, c.run'''


class Pair(NamedTuple):
    """A run and the run before it. least_pairs: number of pairs of steps from which on a run is slower, or faster; None: the
    runs have too few steps for the test."""
    run: str
    before: str
    steps: int
    before_steps: int
    least_pairs: Optional[int]


def _counts(n: int, m: int) -> List[int]:
    """Returns the number of sets of n ranks out of n + m for each U: the coefficients of a Gaussian binomial."""
    size = n * m + 1
    c = [1] + [0] * (size - 1)
    for i in range(1, n + 1):
        for u in range(size - 1, m + i - 1, -1):
            c[u] -= c[u - m - i]
        for u in range(i, size):
            c[u] += c[u - i]
    return c


def least_pairs(n: int, m: int, level: float = LEVEL) -> Optional[int]:
    """Returns the least U whose probability is at most half of the level; None if there is none."""
    few, many, limit = min(n, m), max(n, m), level / 2
    if not few:
        return None
    if (few + many) * few * few * many <= EXACT_WORK:
        counts = _counts(few, many)
        every, tail, least = sum(counts), 0, None
        for u in range(few * many, -1, -1):
            tail += counts[u]
            if tail / every > limit:
                break
            least = u
        return least
    if few == 1:
        u = math.ceil(many + 1 - limit * (many + 1))
        return u if u <= many else None

    def probability(u: int) -> float:
        return math.erfc((u - 0.5 - few * many / 2) / math.sqrt(few * many * (few + many + 1) / 12) / math.sqrt(2)) / 2
    low, high = 0, few * many
    if probability(high) > limit:
        return None
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if probability(middle) <= limit else (middle + 1, high)
    return low


def pairs(query: Callable[[str], Sequence[Tuple[Any, ...]]], like: str) -> List[Pair]:
    """Returns each run with the run before it, by the time of their files. like: SQL literal that selects runs."""
    runs = query(_RUNS % like)
    found = []
    for (before, before_steps), (run, steps) in zip(runs, runs[1:]):
        found.append(Pair(run, before, steps, before_steps, least_pairs(steps, before_steps)))
    return found
