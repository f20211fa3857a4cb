/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the tc programs share: a packet as the laws count it, clock and random draw,
 * what becomes of it, and the books. No law is here.
 */
#ifndef PENSTOCK_TC_HOST_H
#define PENSTOCK_TC_HOST_H

#include <stdbool.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/pkt_cls.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "law/fx.h"

#define NS_PER_S 1000000000ULL

/* Set before loading, so that the verifier leaves out what cannot happen. */
const volatile struct {
	__u32 link_header; /* bytes: 14 for Ethernet, none for a tunnel of IP */
	__u32 supplied;    /* a test gives clock and coin, in the packet's control block */
} place SEC(".rodata.place") = {.link_header = ETH_HLEN};

/* What can become of a packet. Each wire packet that arrived is booked under one. */
enum fate {
	FATE_PASSED,          /* goes on as it came */
	FATE_MARKED,          /* CE or the DSCP of red was written here */
	FATE_YELLOW,          /* the DSCP of yellow was */
	FATE_MARKED_BEFORE,   /* chosen, but it had come with CE: goes on */
	FATE_NOT_IP,          /* counted as load; cannot be marked, goes on */
	FATE_UNWRITABLE,      /* chosen, but the kernel let nobody write: goes on */
	FATE_CONTENDED,       /* the law was busy for too long: goes on unjudged */
	FATE_PASSED_NOT_ECT,  /* chosen for a mark, cannot carry one: goes on, by `not_ect` */
	FATE_DROPPED_NOT_ECT, /* chosen for a mark, cannot carry one: dropped */
	FATE_DROPPED,         /* dropped by a law that drops */
	FATE_DROPPED_FULL,    /* did not fit a virtual queue */
	FATES,
};

/* A CPU's own, so that plain additions are enough. */
struct books {
	__u64 arrived_packets; /* on the wire: a super-packet counts its segments */
	__u64 arrived_bytes;   /* with link-layer headers */
	__u64 arrived_skbs;    /* as they came here: a super-packet is one */
	__u64 packets[FATES];
	__u64 bytes[FATES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct books);
} books SEC(".maps");

enum kind { NOT_IP, IPV4, IPV6 };

/* ECN codepoints (RFC 3168, section 5). */
#define ECN_MASK 3
#define ECN_NOT_ECT 0
#define ECN_CE 3

/* A packet, or many that travel as one through this machine. */
struct packet {
	__u32 segments; /* wire packets in it, at least one */
	__u32 bytes;    /* of all of them, with link-layer headers */
	enum kind kind;
	__u8 tos;      /* DSCP and ECN: TOS of IPv4, traffic class of IPv6 */
	__u8 protocol; /* of the transport, as far as the first header says */
};

static __always_inline __u64 now_ns(const struct __sk_buff *skb)
{
	if (place.supplied)
		return (__u64)skb->cb[2] << 32 | skb->cb[1];
	return bpf_ktime_get_ns();
}

/* Uniform over 0..2^32. */
static __always_inline __u32 coin_of(const struct __sk_buff *skb)
{
	return place.supplied ? skb->cb[0] : bpf_get_prandom_u32();
}

/* True with a probability. */
static __always_inline bool lands(__u32 coin, __s64 probability_q32)
{
	return (__s64)coin < probability_q32;
}

/* Seconds, rounded down; for less than 68 years. */
static __always_inline __s64 seconds_q32(__u64 ns)
{
	return (__s64)((ns / NS_PER_S) << 32 | ((ns % NS_PER_S) << 32) / NS_PER_S);
}

/*
 * Bytes of the headers that every segment of a super-packet repeats. Headers
 * behind the first of IPv6 are not looked for, nor what is inside a tunnel.
 */
static __always_inline __u32 repeated_headers(struct __sk_buff *skb, const struct packet *packet)
{
	__u32 network = 40;
	__u8 byte = 0;

	if (packet->kind == IPV4) {
		bpf_skb_load_bytes_relative(skb, 0, &byte, 1, BPF_HDR_START_NET);
		network = (byte & 15U) * 4;
	}
	if (packet->protocol == IPPROTO_UDP)
		return place.link_header + network + 8;
	byte = 0;
	bpf_skb_load_bytes_relative(skb, network + 12, &byte, 1, BPF_HDR_START_NET);
	return place.link_header + network + (byte >> 4) * 4U;
}

/* Looks at what came. */
static __always_inline struct packet packet_of(struct __sk_buff *skb)
{
	struct packet packet = {.segments = 1, .bytes = skb->len, .kind = NOT_IP};
	__u32 headers, payload;
	__u8 first[10] = {};

	if (!bpf_skb_load_bytes_relative(skb, 0, first, sizeof(first), BPF_HDR_START_NET)) {
		if (skb->protocol == bpf_htons(ETH_P_IP)) {
			packet.kind = IPV4;
			packet.tos = first[1];
			packet.protocol = first[9];
		} else if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
			packet.kind = IPV6;
			packet.tos = (__u8)(first[0] << 4 | first[1] >> 4);
			packet.protocol = first[6];
		}
	}
	if (!skb->gso_size)
		return packet;
	packet.segments = skb->gso_segs;
	/* On egress the kernel has counted the headers of all segments. */
	if (packet.segments && skb->wire_len > skb->len) {
		packet.bytes = skb->wire_len;
		return packet;
	}
	headers = repeated_headers(skb, &packet);
	payload = skb->len > headers ? skb->len - headers : 0;
	/* Who passed it in from a virtual machine may not have counted. */
	if (!packet.segments)
		packet.segments = (payload + skb->gso_size - 1) / skb->gso_size ?: 1;
	packet.bytes += (packet.segments - 1) * headers;
	return packet;
}

static __always_inline struct books *books_here(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&books, &only);
}

static __always_inline void book_arrival(const struct packet *packet)
{
	struct books *here = books_here();

	if (!here)
		return;
	here->arrived_packets += packet->segments;
	here->arrived_bytes += packet->bytes;
	here->arrived_skbs++;
}

/* Books it, and says to the kernel what to do: programs behind this one go on. */
static __always_inline int end(const struct packet *packet, enum fate fate)
{
	struct books *here = books_here();

	if (here) {
		here->packets[fate] += packet->segments;
		here->bytes[fate] += packet->bytes;
	}
	return fate >= FATE_DROPPED_NOT_ECT ? TC_ACT_SHOT : TC_ACT_UNSPEC;
}

/*
 * CE is written on a packet that can carry it, another is dropped (RFC 3168,
 * sections 5 and 7) unless the settings give another fate.
 */
static __always_inline int mark(struct __sk_buff *skb, const struct packet *packet,
				enum fate not_ect)
{
	if (packet->kind == NOT_IP)
		return end(packet, FATE_NOT_IP);
	if ((packet->tos & ECN_MASK) == ECN_CE)
		return end(packet, FATE_MARKED_BEFORE);
	if ((packet->tos & ECN_MASK) == ECN_NOT_ECT)
		return end(packet, not_ect);
	/* A header that a capture shares, say, has to become our own first. */
	if (bpf_skb_ecn_set_ce(skb) || (!bpf_skb_pull_data(skb, 0) && bpf_skb_ecn_set_ce(skb)))
		return end(packet, FATE_MARKED);
	return end(packet, FATE_UNWRITABLE);
}

#endif
