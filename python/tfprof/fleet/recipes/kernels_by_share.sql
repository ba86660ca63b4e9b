-- SPDX-License-Identifier: Apache-2.0
-- Kernels, or operation types where the source has no kernels, by their share of the fleet's device time.
-- like = %
SELECT name, CAST(sum(count) AS BIGINT) AS count, CAST(sum(total_ns) AS BIGINT) AS total_ns,
       CAST(sum(total_ns) AS DOUBLE) / CAST(sum(sum(total_ns)) OVER () AS DOUBLE) AS share,
       count(DISTINCT concat(run, ' ', worker)) AS workers, min(min_ns) AS min_ns, max(max_ns) AS max_ns
FROM kernels WHERE run LIKE :like
GROUP BY name
ORDER BY total_ns DESC, name
