-- SPDX-License-Identifier: Apache-2.0
-- Operation types by total time over all workers and steps, as the op view has them for one.
-- like = %
WITH sums AS (
    SELECT type, CAST(sum(CAST(round(self_us * 1000) AS BIGINT)) AS BIGINT) AS ns,
           CAST(sum(CAST(round(self_accelerator_us * 1000) AS BIGINT)) AS BIGINT) AS accelerator_ns,
           CAST(sum(CAST(round(self_cpu_us * 1000) AS BIGINT)) AS BIGINT) AS cpu_ns,
           CAST(sum(self_runs) AS BIGINT) AS runs, CAST(sum(self_bytes) AS BIGINT) AS bytes, count(DISTINCT node_key) AS nodes
    FROM nodes WHERE run LIKE :like AND type IS NOT NULL GROUP BY type
)
SELECT type, CAST(ns AS DOUBLE) / 1000 AS us, CAST(accelerator_ns AS DOUBLE) / 1000 AS accelerator_us,
       CAST(cpu_ns AS DOUBLE) / 1000 AS cpu_us, runs, bytes, nodes
FROM sums
ORDER BY ns DESC, type
