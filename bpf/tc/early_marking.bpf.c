// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The early marker on a device: the law of bpf/law/early-marking.h over all of IP
 * that passes here.
 *
 * Attach: penstock linux attach early-marking --device DEV
 * --set conditioner.committed_rate=RATE
 */
#include "law/early-marking.h"

#define INGRESS_PARAMS struct early_marking_params
#define INGRESS_STATE struct early_marking
#define INGRESS_ARRIVAL early_marking_arrival
#define INGRESS_COLOURED early_marking_coloured
/* The coin has 32 bits, the probability 62; rounded as in the law in Rust. */
#define INGRESS_COLOUR(state, coin)                                                        \
	((state)->conforms && !lands(coin, ((state)->probability_q62 + (1LL << 29)) >> 30) \
		 ? COLOUR_GREEN                                                            \
		 : COLOUR_RED)
#include "tc/conditioner.h"

SEC("tcx/egress")
int early_marking(struct __sk_buff *skb)
{
	return condition(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
