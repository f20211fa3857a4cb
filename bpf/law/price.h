/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Price marking of Paganini, Wang, Low and Doyle; arithmetic only.
 *
 * The law in Rust: crates/law/src/aqm/price.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/price.txt.
 */
#ifndef PENSTOCK_LAW_PRICE_H
#define PENSTOCK_LAW_PRICE_H

#include "fx.h"

struct price_params {
	__s64 target_q32; /* virtual capacity over the real one */
	__s64 period_q32; /* s */
	__s64 ln_phi_q32; /* of the marking law 1 - phi^-price */
};

struct price {
	__s64 price_q32;       /* s */
	__s64 probability_q32; /* of a mark */
};

/* The period went by; arrivals since the last in packets, capacity in packets/s. */
static inline void price_tick(const struct price_params *p, struct price *s, __s64 arrived_q32,
			      __s64 capacity_q32)
{
	__s64 fitted = fx_mul(p->target_q32, fx_mul(capacity_q32, p->period_q32));
	__s64 excess = fx_sub(fx_div(arrived_q32, fitted), FX_ONE);

	/* (5) over one period */
	s->price_q32 = fx_max(fx_add(s->price_q32, fx_mul(excess, p->period_q32)), 0);
	s->probability_q32 = fx_sub(FX_ONE, fx_exp(fx_neg(fx_mul(p->ln_phi_q32, s->price_q32))));
}

#endif
