-- SPDX-License-Identifier: Apache-2.0
-- Float operations per second by run, and their share of the peak (MFU), where the traces state shapes. The peak is that of one device.
-- like = %
-- peak_tflops = 989.5
WITH work AS (
    SELECT run, worker, step, CAST(sum(self_float_ops) AS BIGINT) AS flops, CAST(sum(self_uncounted) AS BIGINT) AS uncounted
    FROM nodes WHERE run LIKE :like AND step IS NOT NULL GROUP BY run, worker, step
), sums AS (
    SELECT s.run, count(DISTINCT s.worker) AS workers, count(*) AS steps, CAST(sum(w.flops) AS BIGINT) AS flops,
           CAST(sum(w.uncounted) AS BIGINT) AS uncounted_calls, CAST(sum(s.duration_ns * greatest(coalesce(s.devices, 1), 1)) AS BIGINT) AS device_ns
    FROM steps s JOIN work w ON s.run = w.run AND s.worker = w.worker AND s.step = w.step
    WHERE s.duration_ns IS NOT NULL GROUP BY s.run
)
SELECT run, workers, steps, flops, uncounted_calls, CAST(flops AS DOUBLE) / device_ns / 1000 AS tflops_per_second,
       CAST(flops AS DOUBLE) / device_ns / 1000 / CAST(:peak_tflops AS DOUBLE) AS mfu
FROM sums WHERE flops > 0 AND device_ns > 0
ORDER BY mfu DESC, run
