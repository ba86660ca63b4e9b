-- SPDX-License-Identifier: Apache-2.0
-- Files that could not be read, with the reason.
-- like = %
SELECT run, host, path, code, message FROM errors WHERE run LIKE :like ORDER BY run, host, path
