/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries of the Flight Recorder in a trace: arguments that no other source has.
 */
#ifndef TFPROF_TRACE_FLIGHT_H
#define TFPROF_TRACE_FLIGHT_H

#define FLIGHT_GROUP "process group" /* name of the instant that contains the ranks of a group */

#define FLIGHT_KEY_LIST(KEY)                                                                       \
	KEY(DESCRIPTION, "group_description")                                                      \
	KEY(RANKS, "ranks")                                                                        \
	KEY(SEQ, "collective_seq_id")                                                              \
	KEY(RECORD, "record_id")                                                                   \
	KEY(P2P, "is_p2p")                                                                         \
	KEY(RETIRED, "retired")                                                                    \
	KEY(STATE, "state")                                                                        \
	KEY(INPUT_SIZES, "input_sizes")                                                            \
	KEY(INPUT_TYPES, "input_dtypes")                                                           \
	KEY(OUTPUT_SIZES, "output_sizes")                                                          \
	KEY(OUTPUT_TYPES, "output_dtypes")

#define KEY(id, name) FLIGHT_##id,
enum flight_key { FLIGHT_KEY_LIST(KEY) FLIGHT_KEYS };
#undef KEY

#endif
