/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What bpf/cc/controller.h tells a law.
 */
#ifndef PENSTOCK_CC_TOLD_H
#define PENSTOCK_CC_TOLD_H

#include "law/fx.h"

/* Event of crates/law/src/cc.rs. */
enum event {
	EVENT_ACK,
	EVENT_TICK,
	EVENT_ROUND,
	EVENT_CUT,
	EVENT_TIMEOUT,
};

/* What a law is told. Times are zero before the first sample. */
struct told {
	__u32 event;        /* enum event */
	__u32 packets;      /* that an acknowledgement covers */
	__s64 rtt_q32;      /* s: the average that is asked for, or the latest sample */
	__s64 base_rtt_q32; /* s: the smallest so far */
};

#endif
