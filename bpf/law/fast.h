/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * FAST TCP's window control; arithmetic only.
 *
 * Twin: crates/law/src/cc/fast.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/fast.txt.
 */
#ifndef PENSTOCK_LAW_FAST_H
#define PENSTOCK_LAW_FAST_H

#include "fx.h"

struct fast_params {
	__s64 alpha_q32; /* packets kept queued */
	__s64 gamma_q32; /* step size */
	__s64 keep_q32;  /* 1 - gamma, rounded once */
};

struct fast {
	__s64 window_q32; /* packets */
};

/* A round trip ended; times in seconds. */
static inline void fast_round(const struct fast_params *p, struct fast *s, __s64 base_rtt_q32,
			      __s64 rtt_q32)
{
	__s64 target = fx_add(fx_mul(s->window_q32, fx_div(base_rtt_q32, rtt_q32)), p->alpha_q32);
	__s64 next = fx_add(fx_mul(p->keep_q32, s->window_q32), fx_mul(p->gamma_q32, target));

	s->window_q32 = fx_max(fx_min(next, fx_mul(2 * FX_ONE, s->window_q32)), 2 * FX_ONE);
}

/* A congestion event, at most once a round trip. */
static inline void fast_cut(struct fast *s)
{
	s->window_q32 = fx_max(fx_mul(s->window_q32, FX_HALF), 2 * FX_ONE);
}

/* The retransmission timer expired. */
static inline void fast_timeout(struct fast *s)
{
	s->window_q32 = 2 * FX_ONE;
}

#endif
