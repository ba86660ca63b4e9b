-- SPDX-License-Identifier: Apache-2.0
-- Causes of long steps by day, as tfprof why finds them: workers, workers where it is the first cause, and the share of the step time saved without it.
-- Days are those of the traces, in UTC; of traces without a date, those of their files. The build must have written the table causes.
-- like = %
WITH days AS (
    SELECT r.run, r.worker, max(CAST(floor(CAST(CASE WHEN r.epoch = 1 THEN r.start_ns ELSE f.modified_ns END AS DOUBLE) / 86400000000000) AS BIGINT)) AS day
    FROM runs r JOIN files f ON r.run = f.run AND r.worker = f.worker WHERE r.run LIKE :like GROUP BY r.run, r.worker
), judged AS (
    SELECT d.day, c.number, c.cause, c.step_ns, c.saved_ns FROM causes c JOIN days d ON c.run = d.run AND c.worker = d.worker
), totals AS (
    SELECT day, count(*) AS workers, CAST(sum(step_ns) AS BIGINT) AS step_ns FROM judged WHERE number = 1 GROUP BY day
), sums AS (
    SELECT day, cause, count(*) AS workers, CAST(sum(CASE WHEN number = 1 THEN 1 ELSE 0 END) AS BIGINT) AS first,
           CAST(sum(saved_ns) AS BIGINT) AS saved_ns
    FROM judged GROUP BY day, cause
)
SELECT s.day AS day_since_1970, s.cause, s.workers, s.first, t.workers AS all_workers, s.saved_ns,
       CASE WHEN t.step_ns > 0 THEN CAST(s.saved_ns AS DOUBLE) / t.step_ns END AS saved_share
FROM sums s JOIN totals t ON s.day = t.day
ORDER BY day_since_1970, s.first DESC, s.saved_ns DESC, s.cause
