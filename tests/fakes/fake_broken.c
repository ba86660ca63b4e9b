/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcupti that lacks almost everything.
 */
int cuptiGetVersion(unsigned *version);

int cuptiGetVersion(unsigned *version)
{
	*version = 130001;
	return 0;
}
