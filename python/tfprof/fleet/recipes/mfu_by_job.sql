-- SPDX-License-Identifier: Apache-2.0
-- Float operations per second by run, and their share of the peak of the devices (MFU), where the traces state shapes.
-- The peak is that of the device in the table devices; peak_tflops replaces it. 0: the device's. Runs with several models of devices have no peak of their own.
-- like = %
-- peak_tflops = 0
WITH work AS (
    SELECT run, worker, step, CAST(sum(self_float_ops) AS BIGINT) AS flops, CAST(sum(self_uncounted) AS BIGINT) AS uncounted
    FROM nodes WHERE run LIKE :like AND step IS NOT NULL GROUP BY run, worker, step
), peaks AS (
    SELECT run, worker, CASE WHEN count(peak_flops) = count(*) THEN min(peak_flops) END AS least, max(peak_flops) AS most, min(model) AS model, max(model) AS other
    FROM devices WHERE kind <> 'cpu' GROUP BY run, worker
), sums AS (
    SELECT s.run, count(DISTINCT s.worker) AS workers, count(*) AS steps, CAST(sum(w.flops) AS BIGINT) AS flops,
           CAST(sum(w.uncounted) AS BIGINT) AS uncounted_calls, CAST(sum(s.duration_ns * greatest(coalesce(s.devices, 1), 1)) AS BIGINT) AS device_ns,
           CASE WHEN min(p.model) = max(p.other) THEN min(p.model) END AS model, CASE WHEN count(p.least) = count(*) THEN min(p.least) END AS least, max(p.most) AS most
    FROM steps s JOIN work w ON s.run = w.run AND s.worker = w.worker AND s.step = w.step
         LEFT JOIN peaks p ON s.run = p.run AND s.worker = p.worker
    WHERE s.duration_ns IS NOT NULL GROUP BY s.run
), rated AS (
    SELECT run, workers, steps, model, flops, uncounted_calls, CAST(flops AS DOUBLE) / device_ns / 1000 AS tflops_per_second,
           CASE WHEN CAST(:peak_tflops AS DOUBLE) > 0 THEN CAST(:peak_tflops AS DOUBLE)
                WHEN least = most THEN least / CAST(1000000000000 AS DOUBLE) END AS peak_tflops
    FROM sums WHERE flops > 0 AND device_ns > 0
)
SELECT run, workers, steps, model, flops, uncounted_calls, tflops_per_second, peak_tflops, tflops_per_second / peak_tflops AS mfu
FROM rated
ORDER BY CASE WHEN peak_tflops IS NULL THEN 1 ELSE 0 END, mfu DESC, tflops_per_second DESC, run
