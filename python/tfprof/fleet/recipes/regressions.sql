-- SPDX-License-Identifier: Apache-2.0
-- Operation types whose time per step and worker differs between two sets of runs, such as two days.
-- before = %
-- after = %
WITH counted AS (
    SELECT run, count(*) AS n FROM steps GROUP BY run
), sums AS (
    SELECT 'before' AS side, type, round(sum(self_us), 6) AS us FROM nodes WHERE run LIKE :before GROUP BY type
    UNION ALL
    SELECT 'after' AS side, type, round(sum(self_us), 6) AS us FROM nodes WHERE run LIKE :after GROUP BY type
), sides AS (
    SELECT 'before' AS side, sum(n) AS n FROM counted WHERE run LIKE :before
    UNION ALL
    SELECT 'after' AS side, sum(n) AS n FROM counted WHERE run LIKE :after
), each_type AS (
    SELECT type, max(CASE WHEN s.side = 'before' THEN us * 1.0 / n END) AS before_us,
           max(CASE WHEN s.side = 'after' THEN us * 1.0 / n END) AS after_us
    FROM sums s JOIN sides d ON s.side = d.side WHERE type IS NOT NULL GROUP BY type
)
SELECT type, CAST(coalesce(before_us, 0) AS DOUBLE) AS before_us, CAST(coalesce(after_us, 0) AS DOUBLE) AS after_us,
       CAST(coalesce(after_us, 0) - coalesce(before_us, 0) AS DOUBLE) AS more_us,
       CASE WHEN before_us > 0 THEN CAST(coalesce(after_us, 0) / before_us AS DOUBLE) END AS ratio
FROM each_type
ORDER BY more_us DESC, type
