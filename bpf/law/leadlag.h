/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The lead-lag protocol of Paganini, Wang, Low and Doyle, by marks or by delay, in
 * the exponential and the linearised form; arithmetic only.
 *
 * The law in Rust: crates/law/src/cc/leadlag.rs, which has the source and the deviations.
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
	__s64 gain_q32;   /* alpha / M; by delay the window's exponent */
	__s64 cap_q32;    /* caps of Fig. 3 [packets] */
	__s64 scale_q32;  /* window at xi = 0 and no price [packets] */
	__s64 least_q32;  /* least target [packets] */
	__s64 most_q32;   /* largest target [packets] */
	__s64 ln2_q32;    /* what a congestion event takes from xi */
};

struct leadlag {
	__s64 window_q32; /* packets */
	__s64 target_q32; /* the window by the equations [packets] */
	__s64 xi_q32;     /* the slow state */
};

static inline __s64 leadlag_demand(const struct leadlag_params *p, const struct leadlag *s)
{
	return fx_div(p->weight_q32, fx_max(s->target_q32, FX_ONE));
}

/*
 * What a period brings, in units of the round trip: the price or the queueing
 * delay, and the part of ln target that follows it at once.
 */
static inline void leadlag_exponential(const struct leadlag_params *p, struct leadlag *s,
				       __s64 load_q32, __s64 fast_q32)
{
	__s64 excess = fx_sub(leadlag_demand(p, s), load_q32);
	__s64 target;

	/* (20), (27) */
	s->xi_q32 = fx_add(s->xi_q32, fx_mul(p->step_q32, excess));
	/* (21), (28) */
	target = fx_mul(p->scale_q32, fx_exp(fx_sub(s->xi_q32, fast_q32)));
	s->target_q32 = fx_clamp(target, p->least_q32, p->most_q32);
}

static inline void leadlag_linearised(const struct leadlag_params *p, struct leadlag *s,
				      __s64 load_q32, __s64 fast_q32)
{
	__s64 before = fx_sub(s->xi_q32, fx_ln(s->target_q32));
	__s64 theta = fx_sub(FX_ONE, fx_mul(p->step_q32, load_q32));
	__s64 drift = fx_mul(p->step_q32, fx_mul(leadlag_demand(p, s), s->target_q32));

	theta = fx_clamp(fx_add(fx_sub(theta, fast_q32), before), FX_HALF, 2 * FX_ONE);
	s->target_q32 = fx_add(fx_mul(theta, s->target_q32), drift);
	s->target_q32 = fx_clamp(s->target_q32, FX_ONE, p->most_q32);
	s->xi_q32 = fx_add(fx_ln(s->target_q32), fast_q32);
}

static inline __s64 leadlag_fast_by_delay(const struct leadlag_params *p, __s64 empty_q32)
{
	return fx_neg(fx_mul(p->gain_q32, fx_ln(empty_q32)));
}

/* The period went by. Signal and form are the protocol's; times in seconds. */
static inline void leadlag_tick(const struct leadlag_params *p, struct leadlag *s, __s64 price_q32,
				__s64 base_rtt_q32)
{
	__s64 load = fx_div(price_q32, base_rtt_q32);

	leadlag_exponential(p, s, load, fx_mul(p->gain_q32, load));
}

static inline void leadlag_tick_delay(const struct leadlag_params *p, struct leadlag *s,
				      __s64 base_rtt_q32, __s64 rtt_q32)
{
	__s64 empty = fx_div(base_rtt_q32, rtt_q32);

	leadlag_exponential(p, s, fx_sub(FX_ONE, empty), leadlag_fast_by_delay(p, empty));
}

static inline void leadlag_tick_linearised(const struct leadlag_params *p, struct leadlag *s,
					   __s64 price_q32, __s64 base_rtt_q32)
{
	__s64 load = fx_div(price_q32, base_rtt_q32);

	leadlag_linearised(p, s, load, fx_mul(p->gain_q32, load));
}

static inline void leadlag_tick_linearised_delay(const struct leadlag_params *p, struct leadlag *s,
						 __s64 base_rtt_q32, __s64 rtt_q32)
{
	__s64 empty = fx_div(base_rtt_q32, rtt_q32);

	leadlag_linearised(p, s, fx_sub(FX_ONE, empty), leadlag_fast_by_delay(p, empty));
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
