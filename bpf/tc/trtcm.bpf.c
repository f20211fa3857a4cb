// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The two rate three colour marker of RFC 2698 on a device: the law of
 * bpf/law/trtcm.h over all of IP that passes here.
 *
 * Attach: penstock linux attach trtcm --device DEV
 * --set conditioner.committed_rate=RATE
 */
#include "law/trtcm.h"

#define INGRESS_PARAMS struct trtcm_params
#define INGRESS_STATE struct trtcm
#define INGRESS_ARRIVAL trtcm_arrival
#define INGRESS_COLOURED trtcm_coloured
#define INGRESS_COLOUR(state, coin) ((void)(coin), (state)->colour)
#include "tc/conditioner.h"

SEC("tcx/egress")
int trtcm(struct __sk_buff *skb)
{
	return condition(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
