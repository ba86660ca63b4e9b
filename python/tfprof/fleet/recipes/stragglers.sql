-- SPDX-License-Identifier: Apache-2.0
-- Stragglers in communication: the worker with the least time in collectives comes last, and the others wait for it there.
-- like = %
WITH middle AS (
    SELECT run, step, count(*) AS workers, percentile_disc(0.5) WITHIN GROUP (ORDER BY communication_ns) AS middle_ns
    FROM steps WHERE run LIKE :like AND communication_ns IS NOT NULL GROUP BY run, step
), ranked AS (
    SELECT s.run, s.step, s.worker, s.communication_ns, m.middle_ns, m.workers,
           row_number() OVER (PARTITION BY s.run, s.step ORDER BY s.communication_ns, s.worker) AS place
    FROM steps s JOIN middle m ON s.run = m.run AND s.step = m.step WHERE s.communication_ns IS NOT NULL
)
SELECT run, worker, count(*) AS steps_as_last, CAST(sum(middle_ns - communication_ns) AS BIGINT) AS waited_ns
FROM ranked WHERE place = 1 AND workers > 1 AND middle_ns > communication_ns
GROUP BY run, worker
ORDER BY waited_ns DESC, run, worker
