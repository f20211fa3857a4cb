/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A whole program at a device around an AQM that is only arithmetic: one of a
 * virtual capacity or a virtual queue, since a program cannot observe the queue.
 *
 * Define before the include:
 *
 *   AQM_PROGRAM  the law's name, without quotes and with _ for -: at most 15 characters
 *   AQM_PARAMS   a structure: its parameters, in the order of `words` of its entry
 *   AQM_STATE    a structure: the numbers of its state as in Rust, in their order, then
 *                whatever is frozen there; 256 bytes at most. Numbers begin as in Rust,
 *                what is frozen begins with zero
 *   AQM_ARRIVAL(params, state, observation)
 *                what an arrival does, of a law that decides on arrival and changes
 *                then; others leave it out
 *   AQM_TICK(params, state, observation)
 *                what the end of a period does, of a law that has one
 *   AQM_HIT(params, state, observation)
 *                what the coin's choice of the packet does, where it does anything;
 *                with AQM_ARRIVAL only
 *   AQM_PROBABILITY(params, state)
 *                of a mark or a drop, over 2^32
 *
 * with `struct observation` of tc/observation.h. Penstock's own price and avq are such
 * programs.
 *
 * A super-packet is one arrival of all its bytes. With AQM_ARRIVAL every packet changes
 * the state, so that one goes through the law at a time. Without it only the end of a
 * period does, and who comes while another ends it goes by the probability in force.
 *
 * Periods end lazily, at the first packet behind them: between packets nothing uses
 * the probability, and a timer would need a map that somebody holds. Idle periods are
 * gone through one by one, until they change nothing any more.
 *
 * `law_replay` gives the law a trail of events without a packet: `linux replay` holds
 * every number of it against the law in Rust.
 */
#ifndef PENSTOCK_TC_AQM_H
#define PENSTOCK_TC_AQM_H

#include "tc/line.h"
#include "tc/observation.h"

struct aqm {
	AQM_STATE of;
	AQM_STATE before;      /* a period */
	__s64 probability_q32; /* in force, where only periods change it */
	__u64 end_ns;          /* of this period; zero before the first packet */
	__u64 arrived_bytes;   /* in this period, of what went through AQM_ARRIVAL */
};

#define LAW_PARAMS AQM_PARAMS
#define LAW_STATE struct aqm
#define LAW_PLACE struct line
#include "tc/law.h"

_Static_assert(sizeof(AQM_STATE) % 8 == 0, "the law's state has whole words of 8 bytes");
_Static_assert(sizeof(AQM_STATE) <= 256, "the law's state has 256 bytes at most");

/* What sections, maps and calls of a program with this header mean; more where that changes. */
#define AQM_HEADERS 1

#ifdef AQM_ARRIVAL
#define AQM_ARRIVES 1
#else
#define AQM_ARRIVES 0
#define AQM_ARRIVAL(params, state, observation) ((void)(params))
#endif
#ifdef AQM_TICK
#define AQM_TICKS 1
#else
#define AQM_TICKS 0
#define AQM_TICK(params, state, observation) ((void)(params))
#endif
#if defined(AQM_HIT) && !AQM_ARRIVES
#error "a law with AQM_HIT has AQM_ARRIVAL too"
#endif
#ifndef AQM_HIT
#define AQM_HIT(params, state, observation) ((void)(params))
#endif

_Static_assert(AQM_ARRIVES || AQM_TICKS, "the law has AQM_ARRIVAL, AQM_TICK or both");

/* For the loader, which holds it against the law in Rust. */
const volatile struct {
	__u64 headers;
	__u64 arrives; /* 1: it has AQM_ARRIVAL */
	__u64 ticks;   /* 1: it has AQM_TICK */
	__u64 params_bytes;
	__u64 state_bytes;
} shape SEC(".rodata.shape") = {AQM_HEADERS, AQM_ARRIVES, AQM_TICKS, sizeof(AQM_PARAMS),
				sizeof(AQM_STATE)};

/* Periods ended for one packet at most, 20 s of silence at 5 ms; the next packet goes on. */
#define MOST_PERIODS 4096

typedef __u64 __attribute__((may_alias)) word;

static __always_inline bool is_as_before(const struct aqm *aqm)
{
	const word *now = (const void *)&aqm->of, *before = (const void *)&aqm->before;

	for (__u32 at = 0; at < sizeof(AQM_STATE) / sizeof(word); at++)
		if (now[at] != before[at])
			return false;
	return true;
}

static long end_period(__u32 at, void *nothing)
{
	struct state *s = state_of();
	struct observation observation = {};

	if (!s)
		return 1;
	s->law.before = s->law.of;
	observation.arrived_q32 =
		mean_packets_q32(&s->place, AQM_ARRIVES ? s->law.arrived_bytes : waiting(s));
	observation.capacity_q32 = s->place.capacity_q32;
	observation.now_q32 = seconds_q32(s->law.end_ns - s->time_ns);
	s->law.arrived_bytes = 0;
	s->law.end_ns += s->place.period_ns;
	AQM_TICK(&s->params, &s->law.of, &observation);
	/* What one idle period leaves as it is, the others do too. */
	return at && is_as_before(&s->law);
}

/* Under `take`: periods that are over, and the probability from here on. */
static __always_inline void end_periods(struct state *s, __u64 now)
{
	__u64 period_ns = s->place.period_ns;
	__u64 end_ns = s->law.end_ns;
	__u64 periods;

	if (!s->time_ns)
		s->time_ns = now;
	if (read_settings(s) && s->place.period_ns != period_ns)
		s->law.end_ns = end_ns = now + s->place.period_ns;
	if (AQM_TICKS && now >= end_ns && s->place.period_ns) {
		periods = 1 + (now - end_ns) / s->place.period_ns;
		if (periods > MOST_PERIODS)
			periods = MOST_PERIODS;
		bpf_loop((__u32)periods, end_period, NULL, 0);
		s->law.end_ns = end_ns + periods * s->place.period_ns;
	}
	s->law.probability_q32 = AQM_PROBABILITY(&s->params, &s->law.of);
}

/* The coin, which nobody tosses for a packet that is chosen for certain, or not at all. */
static __always_inline bool falls_on(const struct __sk_buff *skb, __s64 probability_q32)
{
	return probability_q32 >= FX_ONE ||
	       (probability_q32 > 0 && lands(coin_of(skb), probability_q32));
}

/* Under `take`: the packet goes through the law, with those that found it busy. */
static __always_inline bool arrive(struct __sk_buff *skb, struct state *s, __u32 packet_bytes)
{
	struct observation observation = {};
	/* Looked at behind the lock, so that time does not go back. */
	__u64 now = now_ns(skb);
	__u64 bytes = packet_bytes + waiting(s);
	bool chosen;

	end_periods(s, now);
	s->law.arrived_bytes += bytes;
	observation.bytes = bytes >> 32 ? 0xffffffff : (__u32)bytes;
	observation.capacity_q32 = s->place.capacity_q32;
	observation.now_q32 = seconds_q32(now - s->time_ns);
	AQM_ARRIVAL(&s->params, &s->law.of, &observation);
	chosen = falls_on(skb, AQM_PROBABILITY(&s->params, &s->law.of));
	if (chosen)
		AQM_HIT(&s->params, &s->law.of, &observation);
	return chosen;
}

SEC("tcx/egress")
int AQM_PROGRAM(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	struct state *s = state_of();
	bool chosen;
	__u64 now;

	book_arrival(&packet);
	if (!s)
		return end(&packet, FATE_CONTENDED);
	if (AQM_ARRIVES) {
		if (!take_in_time(s)) {
			/* The next one brings it before the law. */
			__sync_fetch_and_add(&s->waiting_bytes, packet.bytes);
			return end(&packet, FATE_CONTENDED);
		}
		chosen = arrive(skb, s, packet.bytes);
		give_back(s);
	} else {
		now = now_ns(skb);
		if (now >= s->law.end_ns && take(s)) {
			end_periods(s, now);
			give_back(s);
		}
		__sync_fetch_and_add(&s->waiting_bytes, packet.bytes);
		chosen = falls_on(skb, s->law.probability_q32);
	}
	return judged(skb, &packet, &s->place, chosen);
}

char _license[] SEC("license") = "Dual BSD/GPL";

/* Events of a trail. */
enum event {
	EVENT_ARRIVAL,
	EVENT_TICK,
	EVENT_HIT,
};

/* A step of a trail: an event, and the law after it. */
struct step {
	struct observation observation;
	__s64 probability_q32;
	AQM_STATE state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as many as there are steps, where a trail is given */
	__type(key, __u32);
	__type(value, struct step);
} trail SEC(".maps");

/* The context of law_replay: read, and written back. */
struct replay {
	__u64 steps;
	__u64 unused;
	__u64 elapsed_ns; /* what all steps took */
};

static long law_step(__u32 at, void *nothing)
{
	struct step *step = bpf_map_lookup_elem(&trail, &at);
	struct state *s = state_of();

	if (!step || !s)
		return 1;
	switch (step->observation.event) {
	case EVENT_ARRIVAL:
		AQM_ARRIVAL(&s->params, &s->law.of, &step->observation);
		break;
	case EVENT_TICK:
		AQM_TICK(&s->params, &s->law.of, &step->observation);
		break;
	case EVENT_HIT:
		AQM_HIT(&s->params, &s->law.of, &step->observation);
		break;
	}
	step->probability_q32 = AQM_PROBABILITY(&s->params, &s->law.of);
	step->state = s->law.of;
	return 0;
}

SEC("syscall")
int law_replay(struct replay *replay)
{
	struct state *s = state_of();
	__u64 start = bpf_ktime_get_ns();
	long done;

	if (!s)
		return 1;
	read_settings(s);
	done = bpf_loop((__u32)replay->steps, law_step, NULL, 0);
	replay->elapsed_ns = bpf_ktime_get_ns() - start;
	return done == (long)replay->steps ? 0 : 1;
}

#endif
