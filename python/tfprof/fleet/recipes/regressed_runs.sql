-- SPDX-License-Identifier: Apache-2.0
-- Runs whose median step is longer than that of the run before, with the interval of the median (95 %) from the order of the steps.
-- A run regressed if its interval lies above that of the run before, and by at least the share.
-- like = %
-- share = 0.02
WITH ordered AS (
    SELECT run, duration_ns, row_number() OVER (PARTITION BY run ORDER BY duration_ns) AS place,
           count(*) OVER (PARTITION BY run) AS n
    FROM steps WHERE run LIKE :like AND duration_ns IS NOT NULL
), bounds AS (
    SELECT run, n AS steps, max(CASE WHEN place = CAST(floor((n + 1) / CAST(2 AS DOUBLE)) AS BIGINT) THEN duration_ns END) AS median_ns,
           max(CASE WHEN place = greatest(1, CAST(floor(n / CAST(2 AS DOUBLE) - 0.98 * sqrt(CAST(n AS DOUBLE))) AS BIGINT)) THEN duration_ns END) AS low_ns,
           max(CASE WHEN place = least(n, CAST(ceil(1 + n / CAST(2 AS DOUBLE) + 0.98 * sqrt(CAST(n AS DOUBLE))) AS BIGINT)) THEN duration_ns END) AS high_ns
    FROM ordered GROUP BY run, n
), times AS (
    SELECT run, max(modified_ns) AS modified_ns FROM files GROUP BY run
), listed AS (
    SELECT b.run, b.steps, b.median_ns, b.low_ns, b.high_ns, lag(b.run) OVER (ORDER BY t.modified_ns, b.run) AS before,
           lag(b.median_ns) OVER (ORDER BY t.modified_ns, b.run) AS before_median_ns,
           lag(b.high_ns) OVER (ORDER BY t.modified_ns, b.run) AS before_high_ns
    FROM bounds b JOIN times t ON b.run = t.run
)
SELECT run, before, steps, median_ns, low_ns, high_ns, before_median_ns, before_high_ns,
       CAST(median_ns AS DOUBLE) / before_median_ns AS ratio,
       CASE WHEN steps < 6 THEN 'too few steps'
            WHEN low_ns > before_high_ns AND median_ns - before_median_ns >= CAST(:share AS DOUBLE) * before_median_ns THEN 'regressed'
            ELSE 'no' END AS verdict
FROM listed WHERE before_median_ns > 0
ORDER BY ratio DESC, run
