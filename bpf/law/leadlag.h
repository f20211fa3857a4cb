/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The lead-lag ECN protocol of Paganini, Wang, Low and Doyle; arithmetic only.
 *
 * Twin: crates/law/src/cc/leadlag.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/leadlag.txt.
 *
 * The price of the path is an argument: its estimate is a table of one entry
 * for each count of marks, made where the parameters are compiled.
 */
#ifndef PENSTOCK_LAW_LEADLAG_H
#define PENSTOCK_LAW_LEADLAG_H

#include "fx.h"

struct leadlag_params {
	__s64 step_q32;   /* beta T_s: the slow gain times the period */
	__s64 weight_q32; /* K [packets] */
	__s64 gain_q32;   /* alpha / M */
	__s64 cap_q32;    /* caps of Fig. 3 [packets] */
	__s64 scale_q32;  /* window at xi = 0 and no price [packets] */
	__s64 least_q32;  /* least target [packets] */
	__s64 most_q32;   /* largest target [packets] */
	__s64 ln2_q32;    /* what a congestion event takes from xi */
};

struct leadlag {
	__s64 window_q32; /* packets */
	__s64 target_q32; /* the window the equations ask for [packets] */
	__s64 xi_q32;     /* the slow state */
};

/* The period went by; price and round trip in seconds. */
static inline void leadlag_tick(const struct leadlag_params *p, struct leadlag *s, __s64 price_q32,
				__s64 base_rtt_q32)
{
	__s64 load = fx_div(price_q32, base_rtt_q32);
	__s64 demand = fx_div(p->weight_q32, fx_max(s->target_q32, FX_ONE));
	__s64 phase;

	/* (20) */
	s->xi_q32 = fx_add(s->xi_q32, fx_mul(p->step_q32, fx_sub(demand, load)));
	/* (21) */
	phase = fx_sub(s->xi_q32, fx_mul(p->gain_q32, load));
	s->target_q32 = fx_clamp(fx_mul(p->scale_q32, fx_exp(phase)), p->least_q32, p->most_q32);
}

/* New data was acknowledged, outside loss recovery. */
static inline void leadlag_ack(const struct leadlag_params *p, struct leadlag *s, __u32 packets)
{
	__s64 reach = fx_mul(p->cap_q32, fx_count(packets));
	__s64 way = fx_sub(s->target_q32, s->window_q32);

	s->window_q32 = fx_max(fx_add(s->window_q32, fx_clamp(way, fx_neg(reach), reach)), FX_ONE);
}

/* A congestion event, at most once a round trip, or a timeout. */
static inline void leadlag_cut(const struct leadlag_params *p, struct leadlag *s)
{
	s->xi_q32 = fx_sub(s->xi_q32, p->ln2_q32);
	s->target_q32 = fx_max(fx_mul(s->target_q32, FX_HALF), p->least_q32);
	s->window_q32 = fx_max(fx_mul(s->window_q32, FX_HALF), FX_ONE);
}

#endif
