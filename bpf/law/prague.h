/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * TCP Prague, without the fallback for classic queues; arithmetic only.
 *
 * The law in Rust: crates/law/src/cc/prague.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/prague.txt.
 */
#ifndef PENSTOCK_LAW_PRAGUE_H
#define PENSTOCK_LAW_PRAGUE_H

#include "fx.h"

/* A round trip longer than that is not scaled: 100 ms. */
#define PRAGUE_LONGEST 429496730LL
/* Weight of a sample in the smoothed round-trip time. */
#define PRAGUE_SMOOTHED (FX_ONE / 8)

struct prague_params {
	__s64 g_q32;
	__s64 virtual_rtt_q32; /* s */
	__s64 transition_q32;  /* round trips */
	__s64 least_window_q32;
	__u64 of_reductions; /* 1: a round trip begins with a reduction */
};

struct prague {
	__s64 window_q32;   /* packets */
	__s64 ssthresh_q32; /* packets */
	__s64 alpha_q32;
	__s64 smoothed_rtt_q32; /* s; zero before the first sample */
	__s64 acked_q32;        /* packets in this virtual round trip, */
	__s64 marked_q32;       /* and those of them with a mark */
	__s64 rounds_q32;       /* since slow start */
	__s64 since_q32;        /* when the round of alpha began [s] */
	__s64 reduced_q32;      /* when the last reduction came [s] */
	__u64 met;              /* 1: there was a mark */
	__u64 reduced;          /* 1: there was a reduction in this round */
};

/* The least time of a round trip, beside its own [s]. */
static inline __s64 prague_least(const struct prague_params *p, const struct prague *s)
{
	int is_virtual = s->window_q32 >= s->ssthresh_q32 && s->rounds_q32 >= p->transition_q32;

	return fx_max(is_virtual ? p->virtual_rtt_q32 : 0, s->smoothed_rtt_q32);
}

/* The growth of the window for an acknowledged packet, times the window. */
static inline __s64 prague_growth(const struct prague_params *p, const struct prague *s)
{
	__s64 rtt_q32 = s->smoothed_rtt_q32, share;

	if (s->rounds_q32 < p->transition_q32 || rtt_q32 <= 0 || rtt_q32 > PRAGUE_LONGEST ||
	    rtt_q32 >= p->virtual_rtt_q32)
		return FX_ONE;
	share = fx_div(rtt_q32, p->virtual_rtt_q32);
	return fx_mul(share, share);
}

static inline void prague_clock(struct prague *s, __s64 rtt_q32)
{
	__s64 step_q32 = fx_mul(PRAGUE_SMOOTHED, fx_sub(rtt_q32, s->smoothed_rtt_q32));

	if (rtt_q32 <= 0)
		return;
	s->smoothed_rtt_q32 = s->smoothed_rtt_q32 ? fx_add(s->smoothed_rtt_q32, step_q32) : rtt_q32;
}

/* A virtual round trip may be over. */
static inline void prague_round(const struct prague_params *p, struct prague *s, __s64 now_q32)
{
	if (!s->smoothed_rtt_q32 || fx_sub(now_q32, s->since_q32) < prague_least(p, s))
		return;
	s->since_q32 = now_q32;
	s->reduced = 0;
	if (s->window_q32 >= s->ssthresh_q32)
		s->rounds_q32 = fx_add(s->rounds_q32, FX_ONE);
	/* Without a mark nothing says that there is somebody who marks. */
	if (s->met && s->acked_q32 > 0) {
		__s64 share = fx_div(s->marked_q32, s->acked_q32);

		s->alpha_q32 = fx_add(s->alpha_q32, fx_mul(p->g_q32, fx_sub(share, s->alpha_q32)));
	}
	s->acked_q32 = 0;
	s->marked_q32 = 0;
}

/* A mark: at most one reduction in a virtual round trip. */
static inline void prague_reduce(const struct prague_params *p, struct prague *s, __s64 now_q32)
{
	__s64 kept;

	if (p->of_reductions) {
		if (fx_sub(now_q32, s->reduced_q32) < prague_least(p, s))
			return;
	} else if (s->reduced) {
		return;
	}
	s->reduced = 1;
	s->reduced_q32 = now_q32;
	kept = fx_sub(FX_ONE, fx_mul(FX_HALF, s->alpha_q32));
	s->window_q32 = fx_max(fx_mul(s->window_q32, kept), p->least_window_q32);
	s->ssthresh_q32 = s->window_q32;
}

/* New data was acknowledged, outside loss recovery; times in seconds. */
static inline void prague_ack(const struct prague_params *p, struct prague *s, __s64 now_q32,
			      __s64 rtt_q32, __u32 packets, __u32 marked)
{
	__s64 grows_q32 = fx_count(packets > marked ? packets - marked : 0);

	prague_clock(s, rtt_q32);
	prague_round(p, s, now_q32);
	s->acked_q32 = fx_add(s->acked_q32, fx_count(packets));
	s->marked_q32 = fx_add(s->marked_q32, fx_count(marked));
	if (marked) {
		s->met = 1;
		prague_reduce(p, s, now_q32);
	}
	/* Growth goes on in the round of a reduction. */
	if (s->window_q32 >= s->ssthresh_q32)
		grows_q32 = fx_div(fx_mul(grows_q32, prague_growth(p, s)), s->window_q32);
	s->window_q32 = fx_add(s->window_q32, grows_q32);
}

/* A congestion event by loss, at most once a round trip. */
static inline void prague_cut(const struct prague_params *p, struct prague *s)
{
	s->window_q32 = fx_max(fx_mul(FX_HALF, s->window_q32), p->least_window_q32);
	s->ssthresh_q32 = s->window_q32;
}

/* The retransmission timer expired. */
static inline void prague_timeout(struct prague *s)
{
	s->ssthresh_q32 = fx_max(fx_mul(FX_HALF, s->window_q32), 2 * FX_ONE);
	s->window_q32 = FX_ONE;
}

/* Over what a window is spread: half of the round trip far below the slow-start threshold [s]. */
static inline __s64 prague_spread(const struct prague *s)
{
	int fast = s->window_q32 < fx_mul(FX_HALF, s->ssthresh_q32);

	return fast ? s->smoothed_rtt_q32 >> 1 : s->smoothed_rtt_q32;
}

#endif
