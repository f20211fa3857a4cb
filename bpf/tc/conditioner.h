/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Conditioners on a device: each packet gets the codepoint of its colour, AF11 in
 * profile, AF12 within the excess that is agreed, AF13 beyond (RFC 2597, section
 * 6), and keeps its ECN field.
 *
 * A super-packet goes through the law segment by segment, and travels under one
 * colour: the one that most packets are owed. What each colour was granted and has
 * not got, or has got beyond that, counts for the next super-packet: over time as
 * many packets have a colour as were granted it.
 *
 * Who includes this has named INGRESS_PARAMS and INGRESS_STATE, the structures of its
 * kernel implementation in bpf/law, INGRESS_ARRIVAL, INGRESS_COLOURED and INGRESS_COLOUR.
 */
#ifndef PENSTOCK_TC_CONDITIONER_H
#define PENSTOCK_TC_CONDITIONER_H

#include "tc/host.h"

struct ingress {
	__u32 green; /* DSCP */
	__u32 yellow;
	__u32 red;
};

struct ingress_state {
	INGRESS_STATE of;
	/* Packets granted over those that went; of red it is what makes the sum zero. */
	__s64 owed_green;
	__s64 owed_yellow;
};

#define LAW_PARAMS INGRESS_PARAMS
#define LAW_STATE struct ingress_state
#define LAW_PLACE struct ingress
#include "tc/law.h"

/* Segments of a super-packet that are asked for at most; of more, several are one. */
#define MOST_SEGMENTS 64

struct segments {
	__s64 now_q32;
	__s64 green; /* so many of them */
	__s64 yellow;
	__u32 bytes; /* of each */
	__u32 coin;  /* where a test tells it */
};

/*
 * A segment goes through the law; its colour. A global function, which the
 * verifier checks once, instead of in every turn of the loop that it tries.
 */
FX_GLOBAL int colour_of(__u32 bytes, __s64 now_q32, __u32 coin)
{
	struct state *s = state_of();
	__u32 colour;

	/* The verifier wants every argument given, also where a law tosses no coin. */
	asm volatile("" : : "r"(coin));
	if (!s)
		return COLOUR_RED;
	INGRESS_ARRIVAL(&s->params, &s->law.of, bytes, now_q32);
	colour = (__u32)(INGRESS_COLOUR(&s->law.of, coin));
	INGRESS_COLOURED(&s->law.of, bytes, colour);
	return (int)colour;
}

/* A loop of the kernel's, since the verifier would follow each turn of one of C. */
static long ask(__u32 at, void *context)
{
	struct segments *segments = context;
	__u32 coin = place.supplied ? segments->coin : bpf_get_prandom_u32();
	int colour = colour_of(segments->bytes, segments->now_q32, coin);

	segments->green += colour == COLOUR_GREEN;
	segments->yellow += colour == COLOUR_YELLOW;
	return 0;
}

/* The colour that all of so many segments travel under. */
static __always_inline __u32 colour_of_all(struct ingress_state *s, const struct segments *segments,
					   __s64 count)
{
	__s64 green = s->owed_green + segments->green;
	__s64 yellow = s->owed_yellow + segments->yellow;
	__s64 red = count - green - yellow;
	__u32 colour = green >= yellow && green >= red ? COLOUR_GREEN
		       : yellow >= red                 ? COLOUR_YELLOW
						       : COLOUR_RED;

	s->owed_green = green - (colour == COLOUR_GREEN ? count : 0);
	s->owed_yellow = yellow - (colour == COLOUR_YELLOW ? count : 0);
	return colour;
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
	__u32 count, colour, dscp;
	__u64 now;

	book_arrival(&packet);
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
	segments.coin = place.supplied ? coin_of(skb) : 0;
	bpf_loop(count, ask, &segments, 0);
	if (count > 1)
		colour = colour_of_all(&s->law, &segments, count);
	else
		colour = segments.green    ? COLOUR_GREEN
			 : segments.yellow ? COLOUR_YELLOW
					   : COLOUR_RED;
	dscp = colour == COLOUR_GREEN    ? s->place.green
	       : colour == COLOUR_YELLOW ? s->place.yellow
					 : s->place.red;
	give_back(s);
	if (!write_dscp(skb, &packet, dscp))
		return end(&packet, FATE_UNWRITABLE);
	return end(&packet, colour == COLOUR_GREEN    ? FATE_PASSED
			    : colour == COLOUR_YELLOW ? FATE_YELLOW
						      : FATE_MARKED);
}

#endif
