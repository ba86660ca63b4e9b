-- SPDX-License-Identifier: Apache-2.0
-- The slowest worker of each step, how much longer it took than the median, and which part of its time exceeds the median most.
-- like = %
WITH middle AS (
    SELECT run, step, count(*) AS workers,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY duration_ns) AS BIGINT) AS duration_ns,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(compute_ns, busy_ns, 0)) AS BIGINT) AS compute_ns,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(communication_ns, 0)) AS BIGINT) AS communication_ns,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(copy_ns, 0)) AS BIGINT) AS copy_ns,
           CAST(percentile_disc(0.5) WITHIN GROUP (ORDER BY coalesce(idle_ns, 0)) AS BIGINT) AS idle_ns
    FROM steps WHERE run LIKE :like AND duration_ns IS NOT NULL GROUP BY run, step
), ranked AS (
    SELECT s.run, s.step, s.worker, m.workers, s.duration_ns, s.duration_ns - m.duration_ns AS late_ns,
           coalesce(s.compute_ns, s.busy_ns, 0) - m.compute_ns AS more_compute_ns,
           coalesce(s.communication_ns, 0) - m.communication_ns AS more_communication_ns,
           coalesce(s.copy_ns, 0) - m.copy_ns AS more_copy_ns,
           coalesce(s.idle_ns, 0) - m.idle_ns AS more_idle_ns,
           row_number() OVER (PARTITION BY s.run, s.step ORDER BY s.duration_ns DESC, s.worker) AS place
    FROM steps s JOIN middle m ON s.run = m.run AND s.step = m.step
)
SELECT run, step, worker, workers, duration_ns, late_ns,
       CASE WHEN late_ns <= 0 THEN 'none'
            WHEN greatest(more_compute_ns, more_communication_ns, more_copy_ns, more_idle_ns) <= 0 THEN 'host'
            WHEN more_compute_ns >= greatest(more_communication_ns, more_copy_ns, more_idle_ns) THEN 'compute'
            WHEN more_communication_ns >= greatest(more_copy_ns, more_idle_ns) THEN 'communication'
            WHEN more_copy_ns >= more_idle_ns THEN 'copy'
            ELSE 'idle' END AS why,
       more_compute_ns, more_communication_ns, more_copy_ns, more_idle_ns
FROM ranked WHERE place = 1
ORDER BY late_ns DESC, run, step
