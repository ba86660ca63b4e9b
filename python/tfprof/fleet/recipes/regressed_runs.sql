-- SPDX-License-Identifier: Apache-2.0
-- Runs whose steps are longer than those of the run before, by the test of the gates of tfprof diff (Mann-Whitney, 5 %).
-- regressed: the steps exclude a change up to the share, and the mean is beyond it; inconclusive: the steps vary too much.
-- like = %
-- share = 0.02
WITH listed AS (
    SELECT run, before, steps, before_steps, least_pairs FROM run_pairs WHERE run LIKE :like
), changes AS (
    SELECT l.run, 1 AS is_after, CAST(s.duration_ns AS DOUBLE) AS v FROM listed l JOIN steps s ON s.run = l.run
    WHERE s.duration_ns IS NOT NULL
    UNION ALL
    SELECT l.run, 0 AS is_after, CAST(s.duration_ns AS DOUBLE) * (1 + CAST(:share AS DOUBLE)) AS v
    FROM listed l JOIN steps s ON s.run = l.before WHERE s.duration_ns IS NOT NULL
), ranked AS (
    SELECT run, is_after,
           sum(is_after) OVER (PARTITION BY run ORDER BY v DESC, is_after ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS above,
           sum(is_after) OVER (PARTITION BY run ORDER BY v, is_after ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS below
    FROM changes
), pairs AS (
    SELECT run, CAST(sum(above) AS BIGINT) AS above, CAST(sum(below) AS BIGINT) AS below FROM ranked WHERE is_after = 0 GROUP BY run
), times AS (
    SELECT run, CAST(sum(duration_ns) AS BIGINT) AS total_ns, count(*) AS n, min(duration_ns) AS least_ns, max(duration_ns) AS most_ns,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ns) AS BIGINT) AS median_ns
    FROM steps WHERE duration_ns IS NOT NULL GROUP BY run
), judged AS (
    SELECT l.run, l.before, l.steps, l.before_steps, a.median_ns, b.median_ns AS before_median_ns,
           CAST(a.total_ns AS DOUBLE) / a.n AS mean_ns, CAST(b.total_ns AS DOUBLE) / b.n AS before_mean_ns,
           a.least_ns = a.most_ns AND b.least_ns = b.most_ns AS constant, l.least_pairs, p.above, p.below
    FROM listed l JOIN times a ON l.run = a.run JOIN times b ON l.before = b.run JOIN pairs p ON l.run = p.run
)
SELECT run, before, steps, before_steps, median_ns, before_median_ns, mean_ns, before_mean_ns, mean_ns / before_mean_ns AS ratio,
       CASE WHEN least_pairs IS NULL THEN 'too few steps'
            WHEN constant AND mean_ns < before_mean_ns * (1 + CAST(:share AS DOUBLE)) THEN 'no'
            WHEN constant THEN 'regressed'
            WHEN below >= least_pairs AND mean_ns < before_mean_ns * (1 + CAST(:share AS DOUBLE)) THEN 'no'
            WHEN above >= least_pairs AND mean_ns >= before_mean_ns * (1 + CAST(:share AS DOUBLE)) THEN 'regressed'
            ELSE 'inconclusive' END AS verdict
FROM judged WHERE before_mean_ns > 0
ORDER BY ratio DESC, run
