/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The observation that bpf/tc/aqm.h gives a law.
 */
#ifndef PENSTOCK_TC_OBSERVATION_H
#define PENSTOCK_TC_OBSERVATION_H

#include "law/fx.h"

/* What a program at a device measures, of crates/law/src/aqm.rs. */
struct observation {
	__u32 bytes;        /* of the packets that arrived, with link-layer headers */
	__u32 event;        /* enum event, for a replay; a law has a macro for each */
	__s64 arrived_q32;  /* mean packets since the last period; at its end only */
	__s64 capacity_q32; /* mean packets/s */
	__s64 now_q32;      /* s since the first packet */
};

#endif
