/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The observation that bpf/cc/controller.h gives a law, and the delivery.
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
	EVENT_DELIVERY, /* an acknowledgement, for LAW_DELIVERY */
};

/* An event and what was measured. Times are zero before the first sample. */
struct observation {
	__u32 event;        /* enum event */
	__u32 packets;      /* of EVENT_ACK: that the acknowledgement covers */
	__s64 rtt_q32;      /* s: the average that is required, or the latest sample */
	__s64 base_rtt_q32; /* s: the smallest so far */
};

/*
 * An acknowledgement and its rate sample: `Delivery` of crates/law/src/cc/delivery.rs with
 * `DeliveryEvent::Ack`, by the kernel's counts. A count begins with the connection, whose
 * SYN is a packet too, and starts over after 2^32 packets. `sent` is the sum of delivered,
 * lost and in_flight.
 */
struct delivery {
	__s64 now_q32;     /* s: the kernel's clock, whole microseconds */
	__u32 delivered;   /* packets */
	__u32 lost;        /* packets; it does not fall where a loss was none */
	__u32 in_flight;   /* packets */
	__u32 app_limited; /* 1: the flow was short of data, and packets of then are in flight */
	struct {
		__u32 packets;          /* newly delivered */
		__u32 marked;           /* those of them with an echo of a mark */
		__u32 lost;             /* packets, since the acknowledgement before */
		__u32 in_flight_before; /* packets */
		__s64 rtt_q32;          /* s: that it measured; zero: none */
	} ack;
	/* Valid where the interval is above zero: it is at least the smallest round trip. */
	struct {
		__s64 interval_q32; /* s: of sending, or of acknowledgements if that is longer */
		__u32 delivered;    /* packets, within the interval */
	} rate;
	/* When the newest packet left that is acknowledged; as valid as the rate. */
	struct {
		__s64 sent_q32;    /* s: on the clock of now_q32 */
		__u32 delivered;   /* packets, by then */
		__u32 app_limited; /* 1: as above, then */
	} then;
};

_Static_assert(sizeof(struct delivery) == 80,
	       "as crates/kernel/src/attach/controller/steps.rs has it");

#endif
