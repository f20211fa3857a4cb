/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the laws of queues have in common on a device: what they are told of the
 * line behind it, and where their state is.
 *
 * Who includes this has named LAW_PARAMS and LAW_STATE, the structures of its
 * twin in bpf/law.
 */
#ifndef PENSTOCK_TC_LINE_H
#define PENSTOCK_TC_LINE_H

#include "tc/host.h"

struct line {
	__s64 capacity_q32; /* mean packets/s */
	__u64 period_ns;    /* of the law; zero where it has none */
	__u32 mean_packet;  /* bytes, with link-layer header */
	__u32 marks;        /* what is chosen gets CE where it can; otherwise it is dropped */
};

/*
 * Written by user space, at any time and all at once: with BPF_F_LOCK, and with
 * another version.
 */
struct settings {
	struct bpf_spin_lock lock;
	__u32 version;
	char text[1024]; /* the same as a scenario writes it; nobody reads it here */
	struct line line;
	LAW_PARAMS law;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

struct state {
	LAW_STATE law;
	__u64 arrived_bytes; /* since the law was told last; many add to it at once */
	__u64 next_ns;       /* the end of this period; zero before the first packet */
	__u32 busy;          /* somebody is about what is here */
	__u32 version;       /* of what follows */
	struct line line;
	LAW_PARAMS params;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} state SEC(".maps");

static __always_inline struct state *state_of(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&state, &only);
}

static __always_inline bool take(struct state *s)
{
	return !__sync_val_compare_and_swap(&s->busy, 0, 1);
}

static __always_inline void give_back(struct state *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

/* Under `take`. A new period begins now where its length is another. */
static __always_inline void read_settings(struct state *s, __u64 now)
{
	__u32 only = 0;
	struct settings *told = bpf_map_lookup_elem(&settings, &only);
	__u64 period_ns = s->line.period_ns;

	if (!told || told->version == s->version)
		return;
	bpf_spin_lock(&told->lock);
	s->version = told->version;
	s->line = told->line;
	s->params = told->law;
	bpf_spin_unlock(&told->lock);
	if (s->line.period_ns != period_ns)
		s->next_ns = now + s->line.period_ns;
}

/* Bytes in units of the mean packet, rounded down. */
static __always_inline __s64 mean_packets_q32(const struct line *line, __u64 bytes)
{
	__u32 one = line->mean_packet ?: 1;
	__u64 whole = bytes / one;

	if (whole >> 31)
		return FX_MOST;
	return (__s64)(whole << 32 | ((bytes % one) << 32) / one);
}

/* What the coin chose. */
static __always_inline int hit(struct __sk_buff *skb, const struct packet *packet,
			       const struct line *line)
{
	if (packet->kind != NOT_IP && !line->marks)
		return end(packet, FATE_DROPPED);
	return mark(skb, packet);
}

/* What it did not. */
static __always_inline int pass(const struct packet *packet)
{
	return end(packet, packet->kind == NOT_IP ? FATE_NOT_IP : FATE_PASSED);
}

#endif
