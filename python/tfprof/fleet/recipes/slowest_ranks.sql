-- SPDX-License-Identifier: Apache-2.0
-- Ranks by the mean length of their steps, compared with the median rank of the run. Without ranks in the files: workers.
-- like = %
WITH each_worker AS (
    SELECT s.run, s.worker, count(*) AS steps, CAST(sum(s.duration_ns) AS BIGINT) AS total_ns
    FROM steps s WHERE s.run LIKE :like AND s.duration_ns IS NOT NULL GROUP BY s.run, s.worker
), means AS (
    SELECT run, worker, steps, CAST(round(CAST(total_ns AS DOUBLE) / steps) AS BIGINT) AS mean_ns FROM each_worker
), middle AS (
    SELECT run, count(*) AS ranks, CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY mean_ns) AS BIGINT) AS median_ns
    FROM means GROUP BY run
)
SELECT m.run, r.process_rank AS rank, m.worker, m.steps, m.mean_ns, d.median_ns, m.mean_ns - d.median_ns AS more_ns,
       CAST(m.mean_ns AS DOUBLE) / d.median_ns AS ratio
FROM means m JOIN middle d ON m.run = d.run JOIN runs r ON m.run = r.run AND m.worker = r.worker
WHERE d.ranks > 1 AND d.median_ns > 0
ORDER BY more_ns DESC, m.run, m.worker
