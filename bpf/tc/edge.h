/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Conditioners on a device: each packet gets the codepoint of its colour, AF11 in
 * profile and AF13 out of it (RFC 2597, section 6), and keeps its ECN field.
 *
 * A super-packet goes through the law segment by segment, and travels under one
 * colour. What it was granted and has not got, or has got beyond that, counts
 * for the next one: over time as many packets are in profile as were granted.
 *
 * Who includes this has named EDGE_PARAMS and EDGE_STATE, the structures of its
 * twin in bpf/law, EDGE_ARRIVAL, EDGE_COLOURED and EDGE_GREEN.
 */
#ifndef PENSTOCK_TC_EDGE_H
#define PENSTOCK_TC_EDGE_H

#include "tc/host.h"

struct edge {
	__u32 green; /* DSCP */
	__u32 red;
};

struct edge_state {
	EDGE_STATE of;
	__s64 granted; /* packets, over what went in profile */
};

#define LAW_PARAMS EDGE_PARAMS
#define LAW_STATE struct edge_state
#define LAW_PLACE struct edge
#include "tc/law.h"

/* Segments of a super-packet that are asked for at most; of more, several are one. */
#define MOST_SEGMENTS 64

struct segments {
	__s64 now_q32;
	__s64 granted; /* so many of them */
	__u32 bytes;   /* of each */
	__u32 coin;    /* where a test tells it */
};

/* A loop of the kernel's, since the verifier would follow each turn of one of C. */
static long ask(__u32 at, void *context)
{
	struct segments *segments = context;
	struct state *s = state_of();
	__u32 coin = place.told ? segments->coin : bpf_get_prandom_u32();
	bool green;

	if (!s)
		return 1;
	EDGE_ARRIVAL(&s->params, &s->law.of, segments->bytes, segments->now_q32);
	green = EDGE_GREEN(&s->law.of, coin);
	EDGE_COLOURED(&s->law.of, segments->bytes, green ? COLOUR_GREEN : COLOUR_RED);
	segments->granted += green;
	return 0;
}

/* TOS or traffic class with another DSCP; whether the kernel let us. */
static __always_inline bool write_dscp(struct __sk_buff *skb, const struct packet *packet,
				       __u32 dscp)
{
	__u8 tos = (__u8)(dscp << 2 | (packet->tos & ECN_MASK));
	__u32 at = place.link_header;
	__u8 two[2];

	if (tos == packet->tos)
		return true;
	if (packet->kind == IPV4)
		return !bpf_l3_csum_replace(skb, at + 10, bpf_htons(packet->tos), bpf_htons(tos),
					    2) &&
		       !bpf_skb_store_bytes(skb, at + 1, &tos, 1, 0);
	if (bpf_skb_load_bytes(skb, at, two, sizeof(two)))
		return false;
	two[0] = (__u8)((two[0] & 0xf0) | tos >> 4);
	two[1] = (__u8)((two[1] & 0x0f) | tos << 4);
	return !bpf_skb_store_bytes(skb, at, two, sizeof(two), BPF_F_RECOMPUTE_CSUM);
}

static __always_inline int condition(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	struct segments segments = {};
	struct state *s = state_of();
	__u32 count;
	bool green;
	__u64 now;

	book_seen(&packet);
	if (packet.kind == NOT_IP)
		return end(&packet, FATE_NOT_IP);
	if (!s || !take_in_time(s))
		return end(&packet, FATE_CONTENDED);
	read_settings(s);
	/* Looked at behind the lock, so that time does not go back. */
	now = now_ns(skb);
	if (!s->time_ns)
		s->time_ns = now;
	count = packet.segments < MOST_SEGMENTS ? packet.segments : MOST_SEGMENTS;
	segments.now_q32 = seconds_q32(now - s->time_ns);
	segments.bytes = packet.bytes / (count ?: 1);
	segments.coin = place.told ? coin_of(skb) : 0;
	bpf_loop(count, ask, &segments, 0);
	green = segments.granted == count;
	if (count > 1) {
		__s64 granted = s->law.granted + segments.granted;

		green = 2 * granted >= count;
		s->law.granted = green ? granted - count : granted;
	}
	give_back(s);
	if (!write_dscp(skb, &packet, green ? s->place.green : s->place.red))
		return end(&packet, FATE_UNWRITABLE);
	return end(&packet, green ? FATE_PASSED : FATE_MARKED);
}

#endif
