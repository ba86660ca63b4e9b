-- SPDX-License-Identifier: Apache-2.0
-- Operation types by total time over all workers and steps, as the op view has them for one.
-- like = %
SELECT type, CAST(sum(self_us) AS BIGINT) AS us, CAST(sum(self_accelerator_us) AS BIGINT) AS accelerator_us,
       CAST(sum(self_cpu_us) AS BIGINT) AS cpu_us, CAST(sum(self_runs) AS BIGINT) AS runs,
       CAST(sum(self_bytes) AS BIGINT) AS bytes, count(DISTINCT node_key) AS nodes
FROM nodes WHERE run LIKE :like AND type IS NOT NULL
GROUP BY type
ORDER BY us DESC, type
