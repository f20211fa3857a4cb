// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The token bucket on a device: the law of bpf/law/token-bucket.h over all of IP
 * that passes here.
 *
 * Attach: penstock linux attach token-bucket --device DEV
 * --set conditioner.committed_rate=RATE
 */
#include "law/token-bucket.h"

#define INGRESS_PARAMS struct token_bucket_params
#define INGRESS_STATE struct token_bucket
#define INGRESS_ARRIVAL token_bucket_arrival
#define INGRESS_COLOURED token_bucket_coloured
#define INGRESS_COLOUR(state, coin) ((void)(coin), (state)->colour)
#include "tc/conditioner.h"

SEC("tcx/egress")
int token_bucket(struct __sk_buff *skb)
{
	return condition(skb);
}

char _license[] SEC("license") = "Dual BSD/GPL";
