-- SPDX-License-Identifier: Apache-2.0
-- Operation types whose time per step and worker differs between two sets of runs, such as two days.
-- before = %
-- after = %
WITH counted AS (
    SELECT run, count(*) AS n FROM steps GROUP BY run
), sums AS (
    SELECT 'before' AS side, type, CAST(sum(CAST(round(self_us * 1000) AS BIGINT)) AS BIGINT) AS ns
    FROM nodes WHERE run LIKE :before GROUP BY type
    UNION ALL
    SELECT 'after' AS side, type, CAST(sum(CAST(round(self_us * 1000) AS BIGINT)) AS BIGINT) AS ns
    FROM nodes WHERE run LIKE :after GROUP BY type
), sides AS (
    SELECT 'before' AS side, CAST(sum(n) AS BIGINT) AS n FROM counted WHERE run LIKE :before
    UNION ALL
    SELECT 'after' AS side, CAST(sum(n) AS BIGINT) AS n FROM counted WHERE run LIKE :after
), each_type AS (
    SELECT type, coalesce(max(CASE WHEN s.side = 'before' THEN CAST(ns AS DOUBLE) / 1000 / n END), CAST(0 AS DOUBLE)) AS before_us,
           coalesce(max(CASE WHEN s.side = 'after' THEN CAST(ns AS DOUBLE) / 1000 / n END), CAST(0 AS DOUBLE)) AS after_us
    FROM sums s JOIN sides d ON s.side = d.side WHERE type IS NOT NULL GROUP BY type
)
SELECT type, before_us, after_us, after_us - before_us AS more_us, CASE WHEN before_us > 0 THEN after_us / before_us END AS ratio
FROM each_type
ORDER BY more_us DESC, type
