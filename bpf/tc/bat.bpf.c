// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * BAT on a device: the law of bpf/law/bat.h for TCP and for everything else.
 *
 * Attach: penstock linux attach bat --device DEV --set link.rate=RATE
 *
 * It drops, and marks nothing. Intervals end lazily, at the first packet behind
 * them: between packets nothing uses the probability.
 */
#include "law/bat.h"

#define CLASS_PARAMS struct bat_params
#define CLASS_STATE struct bat
#define CLASS_TRANSMIT transmit_q32
#define CLASS_TICK(params, state, observation, arrived, let_in) \
	bat_tick(params, state, (observation)->queue_q32, arrived)
#include "tc/classes.h"

SEC("tcx/egress")
int bat(struct __sk_buff *skb)
{
	return allocate(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
