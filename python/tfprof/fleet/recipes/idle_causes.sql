-- SPDX-License-Identifier: Apache-2.0
-- Idle time of devices, by run and kind, and the waits of their streams (which overlap, so they can exceed it): late launches of
-- the host, short gaps between kernels, all other gaps.
-- like = %
SELECT run, kind, count(*) AS devices, CAST(sum(span_ns) AS BIGINT) AS span_ns, CAST(sum(busy_ns) AS BIGINT) AS busy_ns,
       CAST(sum(idle_ns) AS BIGINT) AS idle_ns,
       CAST(CASE WHEN sum(span_ns) > 0 THEN sum(idle_ns) * 1.0 / sum(span_ns) END AS DOUBLE) AS idle_share,
       CAST(sum(host_wait_ns) AS BIGINT) AS host_wait_ns, CAST(sum(kernel_wait_ns) AS BIGINT) AS kernel_wait_ns,
       CAST(sum(other_wait_ns) AS BIGINT) AS other_wait_ns
FROM devices WHERE run LIKE :like
GROUP BY run, kind
ORDER BY idle_ns DESC, run, kind
