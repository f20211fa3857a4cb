/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * FAST TCP's window control; arithmetic only.
 *
 * The law in Rust: crates/law/src/cc/fast.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/fast.txt.
 */
#ifndef PENSTOCK_LAW_FAST_H
#define PENSTOCK_LAW_FAST_H

#include "fx.h"

struct fast_params {
	__s64 alpha_q32;  /* packets kept queued */
	__s64 gamma_q32;  /* step size */
	__s64 keep_q32;   /* 1 - gamma, rounded once */
	__s64 step_q32;   /* gamma alpha, rounded once [packets] */
	__s64 surge_q32;  /* start_growth - 1; zero: the start does not multiply */
	__s64 qdelay_q32; /* queueing delay from which on it does not [s] */
};

struct fast {
	__s64 window_q32; /* packets */
	__s64 before_q32; /* that of the round before; zero after a congestion event */
	__s64 fits_q32;   /* how much of that needed no queue; zero until measured [packets] */
	__s64 known_q32;  /* fits, when the path was last full; zero before that [packets] */
};

/* What a round brings beyond the law's own step [packets]. */
static inline __s64 fast_beyond(const struct fast_params *p, struct fast *s, __s64 qdelay_q32,
				__s64 empty_q32)
{
	__s64 left = fx_max(fx_sub(FX_ONE, fx_div(qdelay_q32, p->qdelay_q32)), 0);
	__s64 distance, gain;

	if (s->before_q32 > 0) {
		s->fits_q32 = fx_mul(s->before_q32, empty_q32);
		if (left <= 0)
			s->known_q32 = s->fits_q32;
	}
	s->before_q32 = s->window_q32;
	distance = fx_sub(s->window_q32, s->known_q32);
	gain = fx_min(fx_mul(p->surge_q32, s->window_q32), fx_neg(distance));
	gain = fx_max(gain, fx_mul(p->surge_q32, distance));
	return fx_max(fx_sub(fx_mul(gain, left), p->step_q32), 0);
}

/* A round trip ended; times in seconds. */
static inline void fast_round(const struct fast_params *p, struct fast *s, __s64 base_rtt_q32,
			      __s64 rtt_q32)
{
	__s64 empty = fx_div(base_rtt_q32, rtt_q32);
	__s64 target = fx_add(fx_mul(s->window_q32, empty), p->alpha_q32);
	__s64 next = fx_add(fx_mul(p->keep_q32, s->window_q32), fx_mul(p->gamma_q32, target));

	if (p->surge_q32)
		next = fx_add(next, fast_beyond(p, s, fx_sub(rtt_q32, base_rtt_q32), empty));
	s->window_q32 = fx_max(fx_min(next, fx_mul(2 * FX_ONE, s->window_q32)), 2 * FX_ONE);
}

/* Another window after a congestion event. */
static inline void fast_lose(struct fast *s, __s64 window_q32)
{
	s->window_q32 = fx_max(window_q32, 2 * FX_ONE);
	s->before_q32 = 0;
	s->known_q32 = s->fits_q32;
}

/* A congestion event, at most once a round trip. */
static inline void fast_cut(struct fast *s)
{
	fast_lose(s, fx_mul(s->window_q32, FX_HALF));
}

/* The retransmission timer expired. */
static inline void fast_timeout(struct fast *s)
{
	fast_lose(s, 2 * FX_ONE);
}

#endif
