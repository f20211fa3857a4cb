/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the laws of queues know of the line behind a device.
 */
#ifndef PENSTOCK_TC_LINE_H
#define PENSTOCK_TC_LINE_H

#include "tc/host.h"

/* What becomes of a packet that the law chooses. */
enum chosen {
	CHOSEN_DROP,
	CHOSEN_MARK,         /* it gets CE where it can carry it, and is dropped where it cannot */
	CHOSEN_MARK_OR_PASS, /* the same, but what cannot carry it goes on */
};

struct line {
	__s64 capacity_q32; /* mean packets/s */
	__u64 period_ns;    /* of the law; zero where it has none */
	__u32 mean_packet;  /* bytes, with link-layer header */
	__u32 chosen;       /* enum chosen */
};

/* Bytes in units of the mean packet, rounded down. */
static __always_inline __s64 mean_packets_q32(const struct line *line, __u64 bytes)
{
	__u32 one = line->mean_packet ?: 1;
	__u64 whole = bytes / one;

	if (whole >> 31)
		return FX_MOST;
	return (__s64)(whole << 32 | ((bytes % one) << 32) / one);
}

/* The fate of a packet by the output of the law. */
static __always_inline int judged(struct __sk_buff *skb, const struct packet *packet,
				  const struct line *line, bool chosen)
{
	if (packet->kind == NOT_IP)
		return end(packet, FATE_NOT_IP);
	if (!chosen)
		return end(packet, FATE_PASSED);
	if (line->chosen == CHOSEN_DROP)
		return end(packet, FATE_DROPPED);
	return mark(skb, packet,
		    line->chosen == CHOSEN_MARK ? FATE_DROPPED_NOT_ECT : FATE_PASSED_NOT_ECT);
}

#endif
