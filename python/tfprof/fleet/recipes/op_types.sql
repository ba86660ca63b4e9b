-- SPDX-License-Identifier: Apache-2.0
-- Operation types by total time over all workers and steps, as the op view has them for one.
-- like = %
SELECT type, CAST(round(sum(self_us), 6) AS DOUBLE) AS us,
       CAST(round(sum(self_accelerator_us), 6) AS DOUBLE) AS accelerator_us,
       CAST(round(sum(self_cpu_us), 6) AS DOUBLE) AS cpu_us, CAST(round(sum(self_runs), 6) AS DOUBLE) AS runs,
       CAST(round(sum(self_bytes), 6) AS DOUBLE) AS bytes, count(DISTINCT node_key) AS nodes
FROM nodes WHERE run LIKE :like AND type IS NOT NULL
GROUP BY type
ORDER BY us DESC, type
