-- SPDX-License-Identifier: Apache-2.0
-- What the steps of each day consisted of: shares of compute, exposed communication, exposed copies and the causes of idle time.
-- Days are those of the traces, in UTC; of traces without a date, those of their files.
-- like = %
WITH days AS (
    SELECT r.run, r.worker, max(CAST(floor(CAST(CASE WHEN r.epoch = 1 THEN r.start_ns ELSE f.modified_ns END AS DOUBLE) / 86400000000000) AS BIGINT)) AS day
    FROM runs r JOIN files f ON r.run = f.run AND r.worker = f.worker WHERE r.run LIKE :like GROUP BY r.run, r.worker
), sums AS (
    SELECT d.day, count(DISTINCT s.run) AS runs, CAST(sum(s.duration_ns * s.devices) AS BIGINT) AS total_ns,
           CAST(sum(s.compute_ns) AS BIGINT) AS compute_ns, CAST(sum(s.exposed_communication_ns) AS BIGINT) AS communication_ns,
           CAST(sum(s.exposed_copy_ns) AS BIGINT) AS copy_ns, CAST(sum(s.host_late_ns) AS BIGINT) AS host_late_ns,
           CAST(sum(s.launch_latency_ns) AS BIGINT) AS launch_latency_ns, CAST(sum(s.kernel_gap_ns) AS BIGINT) AS kernel_gap_ns,
           CAST(sum(s.event_wait_ns + s.unknown_wait_ns + s.unknown_launch_ns + s.other_process_ns) AS BIGINT) AS wait_ns,
           CAST(sum(s.before_first_ns + s.after_last_ns) AS BIGINT) AS edge_ns
    FROM steps s JOIN days d ON s.run = d.run AND s.worker = d.worker
    WHERE s.devices > 0 AND s.duration_ns IS NOT NULL GROUP BY d.day
)
SELECT day AS day_since_1970, runs, CAST(compute_ns AS DOUBLE) / total_ns AS compute, CAST(communication_ns AS DOUBLE) / total_ns AS exposed_communication,
       CAST(copy_ns AS DOUBLE) / total_ns AS exposed_copy, CAST(host_late_ns AS DOUBLE) / total_ns AS host_late,
       CAST(launch_latency_ns AS DOUBLE) / total_ns AS launch_latency, CAST(kernel_gap_ns AS DOUBLE) / total_ns AS kernel_gap,
       CAST(wait_ns AS DOUBLE) / total_ns AS wait, CAST(edge_ns AS DOUBLE) / total_ns AS start_and_end
FROM sums WHERE total_ns > 0
ORDER BY day
