/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Copa of Arun and Balakrishnan, in both modes; arithmetic only.
 *
 * The law in Rust: crates/law/src/cc/copa.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/copa.txt, and over whole connections, with
 * the smallest round trips of recent.h, by crates/kernel/src/generators/copa.rs.
 *
 * In the competitive mode 1/delta grows to 92,000 packets: by then a packet more is less
 * than half a unit of delta.
 */
#ifndef PENSTOCK_LAW_COPA_H
#define PENSTOCK_LAW_COPA_H

#include "recent.h"

/* Round trips that the window of the smallest one has at the least. */
#define COPA_ROUNDS 20
/* The velocity doubles once the direction has stayed for so many round trips. */
#define COPA_STEADY 3
/* Packets. */
#define COPA_LEAST (2 * FX_ONE)

struct copa_params {
	__s64 delta_q32;
	__s64 min_rtt_window_q32; /* s */
	__s64 mode_window_q32;    /* round trips */
	__s64 nearly_empty_q32;
	__u64 competitive; /* 1: delta changes where others fill the queue */
};

struct copa {
	__s64 window_q32; /* packets */
	__s64 velocity_q32;
	__s64 delta_q32;
	__s64 min_rtt_q32;  /* s; zero before the first sample */
	__s64 standing_q32; /* s */
	__s64 since_q32;    /* when the round trip began [s], */
	__s64 before_q32;   /* and the window then [packets] */
	__u64 slow_start;
	__u64 competes;
	__u64 up;     /* 1: the window grows */
	__u64 steady; /* round trips in that direction, COPA_STEADY at most */
	__u64 lost;   /* 1: a loss in this round trip */
};

/* Round trips of the times that Copa goes by [s]. */
struct copa_extremes {
	__s64 least_q32; /* the smallest of min_rtt_window */
	__s64 half_q32;  /* the smallest of the last half of a round trip */
	__s64 low_q32;   /* the smallest of mode_window, */
	__s64 high_q32;  /* and the largest; both with `competitive` only */
};

/* What they are made of. */
struct copa_memory {
	struct recent_min least;
	struct recent_min half;
	struct recent_min low;
	struct recent_min high; /* with the other sign */
};

static inline void copa_forget(struct copa_memory *memory)
{
	memory->least.kept = 0;
	memory->half.kept = 0;
	memory->low.kept = 0;
	memory->high.kept = 0;
}

/* The queue by round trips of several times, and the mode that follows from it. */
static inline void copa_see(const struct copa_params *p, struct copa *s,
			    const struct copa_extremes *extremes)
{
	__s64 edge_q32;
	__u64 competes;

	s->min_rtt_q32 = extremes->least_q32;
	s->standing_q32 = fx_max(extremes->half_q32, s->min_rtt_q32);
	if (!p->competitive)
		return;
	edge_q32 = fx_add(s->min_rtt_q32,
			  fx_mul(p->nearly_empty_q32, fx_sub(extremes->high_q32, s->min_rtt_q32)));
	competes = extremes->low_q32 > edge_q32;
	if (s->competes && !competes)
		s->delta_q32 = p->delta_q32;
	s->competes = competes;
}

/* A round trip, under an average of them; times in seconds. */
static inline void copa_measure(const struct copa_params *p, struct copa *s,
				struct copa_memory *memory, __s64 now_q32, __s64 rtt_q32,
				__s64 average_q32)
{
	__s64 long_q32 =
		fx_max(p->min_rtt_window_q32, fx_mul(COPA_ROUNDS * FX_ONE, s->min_rtt_q32));
	struct copa_extremes extremes = {};

	extremes.least_q32 = recent_take(&memory->least, now_q32, rtt_q32, long_q32);
	extremes.half_q32 =
		recent_take(&memory->half, now_q32, rtt_q32, fx_mul(FX_HALF, average_q32));
	if (p->competitive) {
		__s64 mode_q32 = fx_mul(p->mode_window_q32, average_q32);

		extremes.low_q32 = recent_take(&memory->low, now_q32, rtt_q32, mode_q32);
		extremes.high_q32 =
			fx_neg(recent_take(&memory->high, now_q32, fx_neg(rtt_q32), mode_q32));
	}
	copa_see(p, s, &extremes);
}

/* An acknowledgement moves the window towards the target rate 1 / (delta d_q). */
static inline void copa_step(struct copa *s, __s64 now_q32, __u32 packets, __u32 limited)
{
	__s64 queue_q32 = fx_sub(s->standing_q32, s->min_rtt_q32);
	__s64 due_q32 = fx_mul(fx_mul(s->window_q32, s->delta_q32), queue_q32);
	__u64 up = due_q32 <= s->standing_q32;
	__s64 by_q32;

	if (s->slow_start) {
		if (up) {
			if (!limited)
				s->window_q32 = fx_add(s->window_q32, fx_count(packets));
			return;
		}
		s->slow_start = 0;
		s->since_q32 = now_q32;
		s->before_q32 = s->window_q32;
	}
	/* What is fast in one direction turns at once, and another round trip begins. */
	if (up != s->up && s->velocity_q32 > FX_ONE) {
		s->up = up;
		s->velocity_q32 = FX_ONE;
		s->steady = 0;
		s->since_q32 = now_q32;
		s->before_q32 = s->window_q32;
	}
	by_q32 = fx_div(fx_mul(s->velocity_q32, fx_count(packets)),
			fx_mul(s->delta_q32, s->window_q32));
	if (!up)
		s->window_q32 = fx_max(fx_sub(s->window_q32, by_q32), COPA_LEAST);
	else if (!limited)
		s->window_q32 = fx_add(s->window_q32, by_q32);
}

/* A round trip is over: where the window went in it. */
static inline void copa_turn(struct copa *s, __s64 now_q32)
{
	__u64 up = s->window_q32 > s->before_q32;

	s->since_q32 = now_q32;
	s->before_q32 = s->window_q32;
	if (up != s->up) {
		s->up = up;
		s->steady = 0;
		s->velocity_q32 = FX_ONE;
		return;
	}
	if (s->steady < COPA_STEADY)
		s->steady++;
	if (s->steady >= COPA_STEADY) {
		__s64 most_q32 = fx_mul(s->window_q32, s->delta_q32);

		s->velocity_q32 =
			fx_max(fx_min(fx_mul(2 * FX_ONE, s->velocity_q32), most_q32), FX_ONE);
	}
}

/*
 * An acknowledgement, after its round trip if it has one; limited: the application was
 * short of data.
 */
static inline void copa_ack(struct copa *s, __s64 now_q32, __s64 average_q32, __u32 packets,
			    __u32 limited)
{
	if (!s->min_rtt_q32)
		return;
	copa_step(s, now_q32, packets, limited);
	if (!s->slow_start && fx_sub(now_q32, s->since_q32) >= average_q32)
		copa_turn(s, now_q32);
}

/* A round of packets ended. */
static inline void copa_round(struct copa *s)
{
	if (s->competes && !s->lost)
		s->delta_q32 = fx_div(FX_ONE, fx_add(fx_div(FX_ONE, s->delta_q32), FX_ONE));
	s->lost = 0;
}

/* A congestion event, at most once a round trip. In the default mode it is no signal. */
static inline void copa_cut(const struct copa_params *p, struct copa *s)
{
	if (!s->competes)
		return;
	s->lost = 1;
	s->delta_q32 = fx_min(fx_mul(2 * FX_ONE, s->delta_q32), p->delta_q32);
}

/* The retransmission timer expired. */
static inline void copa_timeout(struct copa *s)
{
	s->window_q32 = COPA_LEAST;
	s->velocity_q32 = FX_ONE;
	s->steady = 0;
	s->slow_start = 1;
}

#endif
