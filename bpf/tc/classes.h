/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Laws that treat classes of traffic apart, on a device: the virtual queue that
 * they go by, and one state a class.
 *
 * A program observes arrivals and not the queue behind them. So the queue is one
 * that is reckoned: what is let in goes through a line of the given rate, and what
 * does not fit the given buffer is dropped. What has departed in an interval is
 * taken to be what was let in, which over a second is off by the buffer at most.
 *
 * Who includes this has named CLASS_PARAMS and CLASS_STATE, the structures of its
 * kernel implementation in bpf/law, and CLASS_TICK.
 */
#ifndef PENSTOCK_TC_CLASSES_H
#define PENSTOCK_TC_CLASSES_H

#include "tc/line.h"

/* Of TCP, and of everything else. */
#define CLASSES 2

struct shared_line {
	struct line line;
	__u64 rate_bit_per_s;
	__u64 buffer_ns; /* what may wait, in time of the line */
};

struct class_params {
	CLASS_PARAMS of[CLASSES];
};

struct class_states {
	CLASS_STATE of[CLASSES];
	__u64 arrived_bytes[CLASSES]; /* in this interval */
	__u64 let_in_bytes[CLASSES];
	__u64 free_ns; /* when the line has sent what is in the virtual queue */
};

#define LAW_PARAMS struct class_params
#define LAW_STATE struct class_states
#define LAW_PLACE struct shared_line
#include "tc/law.h"

/* What an interval saw, as the kernel implementations want it [packets, packets/s]. */
struct interval {
	__s64 queue_q32;
	__s64 capacity_q32;
	__s64 all_arrived_q32;
	__s64 all_let_in_q32;
};

/* Intervals ended for one packet at most, 4 s of silence at 4 ms; the next packet goes on. */
#define MOST_INTERVALS 1024

static __always_inline __s64 queue_q32(const struct state *s, __u64 at_ns)
{
	__u64 waits_ns = s->law.free_ns > at_ns ? s->law.free_ns - at_ns : 0;

	return fx_mul(seconds_q32(waits_ns), s->place.line.capacity_q32);
}

static long end_interval(__u32 at, void *nothing)
{
	struct state *s = state_of();
	struct interval observation;
	__u32 class;

	if (!s)
		return 1;
	observation.queue_q32 = queue_q32(s, s->time_ns);
	observation.capacity_q32 = s->place.line.capacity_q32;
	observation.all_arrived_q32 =
		mean_packets_q32(&s->place.line, s->law.arrived_bytes[0] + s->law.arrived_bytes[1]);
	observation.all_let_in_q32 =
		mean_packets_q32(&s->place.line, s->law.let_in_bytes[0] + s->law.let_in_bytes[1]);
	for (class = 0; class < CLASSES; class ++) {
		CLASS_TICK(&s->params.of[class], &s->law.of[class], &observation,
			   mean_packets_q32(&s->place.line, s->law.arrived_bytes[class]),
			   mean_packets_q32(&s->place.line, s->law.let_in_bytes[class]));
		s->law.arrived_bytes[class] = 0;
		s->law.let_in_bytes[class] = 0;
	}
	s->time_ns += s->place.line.period_ns;
	return 0;
}

/* `time_ns` is the end of this interval. */
static __always_inline void end_intervals(struct state *s, __u64 now)
{
	__u64 period_ns = s->place.line.period_ns;
	__u64 intervals;

	if (read_settings(s) && s->place.line.period_ns != period_ns)
		s->time_ns = now + s->place.line.period_ns;
	if (now < s->time_ns || !s->place.line.period_ns)
		return;
	intervals = 1 + (now - s->time_ns) / s->place.line.period_ns;
	if (intervals > MOST_INTERVALS)
		intervals = MOST_INTERVALS;
	bpf_loop((__u32)intervals, end_interval, NULL, 0);
}

/* Under `take`: lets a packet in, or not. */
static __always_inline enum fate admitted(struct __sk_buff *skb, struct state *s,
					  const struct packet *packet, __u32 class, __u64 now)
{
	__u64 from = s->law.free_ns > now ? s->law.free_ns : now;
	__u64 work_ns;

	s->law.arrived_bytes[class] += packet->bytes;
	/* Neighbours and the like are few, and nothing works without them. */
	if (packet->kind != NOT_IP &&
	    lands(coin_of(skb), fx_sub(FX_ONE, s->law.of[class].CLASS_TRANSMIT)))
		return FATE_DROPPED;
	if (packet->kind != NOT_IP && from - now > s->place.buffer_ns)
		return FATE_DROPPED_FULL;
	work_ns = s->place.rate_bit_per_s
			  ? packet->bytes * 8ULL * NS_PER_S / s->place.rate_bit_per_s
			  : 0;
	s->law.free_ns = from + work_ns;
	s->law.let_in_bytes[class] += packet->bytes;
	return packet->kind == NOT_IP ? FATE_NOT_IP : FATE_PASSED;
}

static __always_inline int allocate(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	__u32 class = packet.kind != NOT_IP && packet.protocol == IPPROTO_TCP ? 0 : 1;
	struct state *s = state_of();
	enum fate fate;
	__u64 now;

	book_arrival(&packet);
	if (!s || !take_in_time(s))
		return end(&packet, FATE_CONTENDED);
	/* Looked at behind the lock, so that time does not go back. */
	now = now_ns(skb);
	end_intervals(s, now);
	fate = admitted(skb, s, &packet, class, now);
	give_back(s);
	return end(&packet, fate);
}

#endif
