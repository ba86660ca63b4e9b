-- SPDX-License-Identifier: Apache-2.0
-- Idle time of devices, by run and kind, and its causes, which add up to it; null without traces.
-- like = %
SELECT run, kind, count(*) AS devices, CAST(sum(window_ns) AS BIGINT) AS window_ns, CAST(sum(busy_ns) AS BIGINT) AS busy_ns,
       CAST(sum(idle_ns) AS BIGINT) AS idle_ns,
       CASE WHEN sum(window_ns) > 0 THEN CAST(sum(idle_ns) AS DOUBLE) / CAST(sum(window_ns) AS DOUBLE) END AS idle_share,
       CAST(sum(host_late_ns) AS BIGINT) AS host_late_ns, CAST(sum(launch_latency_ns) AS BIGINT) AS launch_latency_ns,
       CAST(sum(kernel_gap_ns) AS BIGINT) AS kernel_gap_ns, CAST(sum(event_wait_ns) AS BIGINT) AS event_wait_ns,
       CAST(sum(other_process_ns) AS BIGINT) AS other_process_ns, CAST(sum(unknown_wait_ns) AS BIGINT) AS unknown_wait_ns,
       CAST(sum(unknown_launch_ns) AS BIGINT) AS unknown_launch_ns,
       CAST(sum(before_first_ns) AS BIGINT) AS before_first_ns, CAST(sum(after_last_ns) AS BIGINT) AS after_last_ns
FROM devices WHERE run LIKE :like
GROUP BY run, kind
ORDER BY idle_ns DESC, run, kind
