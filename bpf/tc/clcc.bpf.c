// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * CLCC around BAT on a device: the law of bpf/law/clcc.h for TCP and for
 * everything else, of which one has a share.
 *
 * Attach: penstock linux attach clcc --device DEV --set link.rate=RATE
 * --set classes.other.share=SHARE
 */
#include "law/clcc.h"

#define CLASS_PARAMS struct clcc_params
#define CLASS_STATE struct clcc
#define CLASS_TRANSMIT bat.transmit_q32
#define CLASS_TICK tick

struct interval;
static inline void tick(const struct clcc_params *params, struct clcc *s,
			const struct interval *observation, __s64 arrived_q32, __s64 let_in_q32);

#include "tc/classes.h"

static inline void tick(const struct clcc_params *params, struct clcc *s,
			const struct interval *observation, __s64 arrived_q32, __s64 let_in_q32)
{
	struct clcc_port port = {
		.queue_q32 = observation->queue_q32,
		.arrived_q32 = arrived_q32,
		.capacity_q32 = observation->capacity_q32,
		.departed_q32 = let_in_q32,
		.all_arrived_q32 = observation->all_arrived_q32,
		.all_departed_q32 = observation->all_let_in_q32,
	};

	clcc_tick(params, s, &port);
}

SEC("tcx/egress")
int clcc(struct __sk_buff *skb)
{
	return allocate(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
