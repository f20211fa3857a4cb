/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * BAT of Pletka, Kind, Waldvogel and Mannel; arithmetic only. One state a class.
 *
 * The law in Rust: crates/law/src/aqm/bat.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/bat.txt.
 */
#ifndef PENSTOCK_LAW_BAT_H
#define PENSTOCK_LAW_BAT_H

#include "fx.h"

struct bat_params {
	__s64 interval_q32; /* s */
	__s64 coarse_q32;   /* step towards the guaranteed interval, w */
	__s64 low_q32;      /* a queue up to here is short [packets] */
	__s64 high_q32;     /* below here one that shrinks soon will be [packets] */
	__s64 gain_q32;     /* weight of the newest bit in the average of the signal */
	__s64 rate_q32;     /* of the line [packets/s] */
	__s64 floor_q32;    /* of the class [packets/s]; below zero where it has none */
	__s64 ceiling_q32;  /* of the class [packets/s]; the largest number where it has none */
	__s64 increase_q32; /* C */
	__s64 decrease_q32; /* D times the rate of the line */
};

struct bat {
	__s64 transmit_q32;     /* probability that a packet is let in */
	__s64 offered_q32;      /* packets/s, over the last interval */
	__s64 excess_q32;       /* average of the excess bandwidth signal */
	__s64 queue_before_q32; /* packets, at the end of the last interval */
};

/* An interval went by, at this decrease: packets that wait, and what the class offered. */
static inline void bat_step(const struct bat_params *p, struct bat *s, __s64 decrease_q32,
			    __s64 queue_q32, __s64 arrived_q32)
{
	int shrinks = queue_q32 < p->high_q32 && queue_q32 < s->queue_before_q32;
	int excess = queue_q32 <= p->low_q32 || shrinks;
	__s64 news = fx_sub(excess ? FX_ONE : 0, s->excess_q32);
	__s64 served;

	s->queue_before_q32 = queue_q32;
	s->excess_q32 = fx_add(s->excess_q32, fx_mul(p->gain_q32, news));
	s->offered_q32 = fx_div(arrived_q32, p->interval_q32);
	served = fx_mul(s->transmit_q32, s->offered_q32);
	/* (1), in the printed order: the bit decides, its average is the size of the step. */
	if (served <= p->floor_q32) {
		s->transmit_q32 = fx_min(fx_add(s->transmit_q32, p->coarse_q32), FX_ONE);
	} else if (served > p->ceiling_q32) {
		s->transmit_q32 = fx_mul(s->transmit_q32, fx_sub(FX_ONE, p->coarse_q32));
	} else if (excess) {
		__s64 step = fx_mul(p->increase_q32, s->excess_q32);

		s->transmit_q32 = fx_min(fx_add(s->transmit_q32, step), FX_ONE);
	} else {
		__s64 taken = fx_div(fx_mul(decrease_q32, s->offered_q32), p->rate_q32);

		s->transmit_q32 = fx_mul(s->transmit_q32, fx_max(fx_sub(FX_ONE, taken), 0));
	}
}

/* An interval went by. */
static inline void bat_tick(const struct bat_params *p, struct bat *s, __s64 queue_q32,
			    __s64 arrived_q32)
{
	bat_step(p, s, p->decrease_q32, queue_q32, arrived_q32);
}

#endif
