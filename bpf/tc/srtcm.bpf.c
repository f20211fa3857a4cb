// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The single rate three colour marker of RFC 2697 on a device: the law of
 * bpf/law/srtcm.h over all of IP that passes here.
 *
 * Attach: penstock linux attach srtcm --device DEV
 * --set conditioner.committed_rate=RATE
 */
#include "law/srtcm.h"

#define INGRESS_PARAMS struct srtcm_params
#define INGRESS_STATE struct srtcm
#define INGRESS_ARRIVAL srtcm_arrival
#define INGRESS_COLOURED srtcm_coloured
#define INGRESS_COLOUR(state, coin) ((void)(coin), (state)->colour)
#include "tc/conditioner.h"

SEC("tcx/egress")
int srtcm(struct __sk_buff *skb)
{
	return condition(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
