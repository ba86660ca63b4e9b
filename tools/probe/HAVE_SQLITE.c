/* SPDX-License-Identifier: Apache-2.0
 * Is there libsqlite3, which can read a database from memory (3.36)? Then Nsight Systems exports
 * can be read.
 */
#include <sqlite3.h>

int main(void)
{
	return sqlite3_deserialize(0, "main", 0, 0, 0, SQLITE_DESERIALIZE_READONLY) == SQLITE_OK ||
	       SQLITE_VERSION_NUMBER < 3036000;
}
