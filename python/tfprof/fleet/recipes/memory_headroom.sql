-- SPDX-License-Identifier: Apache-2.0
-- The highest use of memory by run and worker, and what is left of the capacity where the source says it.
-- used: from this share of the capacity on, such as 0.9; workers without a known capacity come last.
-- like = %
-- used = 0
WITH peaks AS (
    SELECT m.run, m.worker, m.device, max(m.peak_bytes) AS peak_bytes, max(m.reserved_bytes) AS reserved_bytes,
           max(coalesce(m.capacity_bytes, d.memory_bytes)) AS capacity_bytes
    FROM memory m LEFT JOIN devices d ON m.run = d.run AND m.worker = d.worker AND m.device_key = d.device_key
    WHERE m.run LIKE :like GROUP BY m.run, m.worker, m.device
)
SELECT run, worker, device, peak_bytes, reserved_bytes, capacity_bytes, capacity_bytes - peak_bytes AS free_bytes,
       CASE WHEN capacity_bytes > 0 THEN CAST(peak_bytes AS DOUBLE) / capacity_bytes END AS used
FROM peaks WHERE peak_bytes IS NOT NULL AND (capacity_bytes IS NULL OR peak_bytes >= CAST(:used AS DOUBLE) * capacity_bytes)
ORDER BY CASE WHEN capacity_bytes IS NULL THEN 1 ELSE 0 END, free_bytes, peak_bytes DESC, run, worker, device
