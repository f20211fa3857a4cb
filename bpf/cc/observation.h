/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The observation that bpf/cc/controller.h gives a law.
 */
#ifndef PENSTOCK_CC_OBSERVATION_H
#define PENSTOCK_CC_OBSERVATION_H

#include "law/fx.h"

/* Event of crates/law/src/cc.rs. */
enum event {
	EVENT_ACK,
	EVENT_TICK,
	EVENT_ROUND,
	EVENT_CONGESTION,
	EVENT_TIMEOUT,
};

/* An event and what was measured. Times are zero before the first sample. */
struct observation {
	__u32 event;        /* enum event */
	__u32 packets;      /* that an acknowledgement covers */
	__s64 rtt_q32;      /* s: the average that is required, or the latest sample */
	__s64 base_rtt_q32; /* s: the smallest so far */
};

#endif
