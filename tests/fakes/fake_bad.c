/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcupti of CUDA 13.2 on a machine without a GPU: each of its functions calls itself until the
 * stack is used up.
 */
#include <stdlib.h>

#define FUNCTION(name)                                                                             \
	int name(void);                                                                            \
	int name(void)                                                                             \
	{                                                                                          \
		abort();                                                                           \
	}

FUNCTION(cuptiGetVersion)
FUNCTION(cuptiSubscribe)
FUNCTION(cuptiSubscribe_v2)
FUNCTION(cuptiUnsubscribe)
FUNCTION(cuptiActivityRegisterCallbacks)
FUNCTION(cuptiActivityEnable)
FUNCTION(cuptiActivityDisable)
FUNCTION(cuptiActivityFlushAll)
FUNCTION(cuptiActivityGetNextRecord)
FUNCTION(cuptiActivityGetStructSize)
FUNCTION(cuptiGetResultString)
FUNCTION(cuptiGetTimestamp)
