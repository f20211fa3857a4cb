/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * CLCC of Pletka, Kind, Waldvogel and Mannel, around BAT; arithmetic only. One
 * state a class.
 *
 * The law in Rust: crates/law/src/aqm/clcc.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/clcc.txt.
 */
#ifndef PENSTOCK_LAW_CLCC_H
#define PENSTOCK_LAW_CLCC_H

#include "bat.h"

/* What becomes of the decrease while a class offers too little: `preemption`. */
#define CLCC_HOLD 0
#define CLCC_DECAY 1
#define CLCC_NONE 2

struct clcc_params {
	struct bat_params bat;
	__s64 beta_near_q32;    /* gain for a small error, over the decrease */
	__s64 beta_between_q32; /* between the thresholds */
	__s64 beta_far_q32;     /* where it is large */
	__s64 edge_near_q32;
	__s64 edge_far_q32;
	__s64 b1_q32;           /* weight of the previous error, over the decrease */
	__s64 b2_q32;           /* of the one before that */
	__s64 period_q32;       /* s */
	__s64 left_q32;         /* what a step of decay leaves of the decrease */
	__s64 least_others_q32; /* what the other classes count with at least [packets/s] */
	__s64 share_q32;        /* of the line, for this class */
	__s64 reference_q32;    /* what it is served over what the others are */
	__s64 most_ratio_q32;   /* the ratio counts as this at most */
	__s64 least_q32;        /* its decrease at least */
	__u64 bound;            /* 1: below the bound (7) of what all offer */
	__u64 preemption;       /* CLCC_HOLD, CLCC_DECAY or CLCC_NONE */
	__u64 steered;          /* 1: the class has a share */
	__u64 intervals;        /* in a period */
};

struct clcc {
	struct bat bat;
	__s64 decrease_q32; /* starts as the one of BAT */
	__s64 ratio_q32;
	__s64 error_q32;
	__s64 error_before_q32;
	/* Counts since the last step [packets]. */
	__s64 arrived_so_far_q32;
	__s64 all_arrived_so_far_q32;
	__s64 departed_so_far_q32;
	__s64 all_departed_so_far_q32;
	__u64 since; /* intervals */
};

/* What an interval saw [packets], of the class and of all; capacity in packets/s. */
struct clcc_port {
	__s64 queue_q32;
	__s64 arrived_q32;
	__s64 capacity_q32;
	__s64 departed_q32;
	__s64 all_arrived_q32;
	__s64 all_departed_q32;
};

/* (6), with the other terms of (4) where they have weights. */
static inline __s64 clcc_moved(const struct clcc_params *p, const struct clcc *s, __s64 error_q32)
{
	__s64 size = fx_max(error_q32, fx_neg(error_q32));
	int zone = (size >= p->edge_near_q32) + (size >= p->edge_far_q32);
	__s64 beta = p->beta_near_q32;
	__s64 change;

	if (zone == 1)
		beta = p->beta_between_q32;
	else if (zone == 2)
		beta = p->beta_far_q32;
	change = fx_add(fx_mul(beta, error_q32), fx_mul(p->b1_q32, s->error_q32));
	change = fx_add(change, fx_mul(p->b2_q32, s->error_before_q32));
	return fx_add(s->decrease_q32, fx_mul(s->decrease_q32, change));
}

/* The period is over. */
static inline void clcc_turn(const struct clcc_params *p, struct clcc *s, __s64 capacity_q32)
{
	__s64 most = FX_MOST;
	__s64 others, served, offered, all_offered, error;
	int preempted;

	if (s->all_departed_so_far_q32 <= 0)
		return;
	others = fx_sub(s->all_departed_so_far_q32, s->departed_so_far_q32);
	others = fx_max(fx_div(others, p->period_q32), p->least_others_q32);
	served = fx_div(s->departed_so_far_q32, p->period_q32);
	offered = fx_div(s->arrived_so_far_q32, p->period_q32);
	all_offered = fx_div(s->all_arrived_so_far_q32, p->period_q32);
	s->ratio_q32 = fx_min(fx_div(served, others), p->most_ratio_q32);
	/* (5) */
	error = fx_div(fx_sub(p->reference_q32, s->ratio_q32), p->reference_q32);
	/* Even a probability of one cannot give the share, or the floor lets everything in. */
	preempted = offered < fx_mul(capacity_q32, p->share_q32) || offered < p->bat.floor_q32;
	if (!preempted || p->preemption >= CLCC_NONE)
		s->decrease_q32 = clcc_moved(p, s, error);
	else if (p->preemption == CLCC_DECAY)
		s->decrease_q32 = fx_mul(s->decrease_q32, p->left_q32);
	/* (7) */
	if (p->bound && all_offered > 0)
		most = fx_div(p->bat.rate_q32, all_offered);
	s->decrease_q32 = fx_min(fx_max(s->decrease_q32, p->least_q32), most);
	s->error_before_q32 = s->error_q32;
	s->error_q32 = error;
}

/* An interval went by. */
static inline void clcc_tick(const struct clcc_params *p, struct clcc *s,
			     const struct clcc_port *observation)
{
	bat_step(&p->bat, &s->bat, s->decrease_q32, observation->queue_q32,
		 observation->arrived_q32);
	if (!p->steered)
		return;
	s->arrived_so_far_q32 = fx_add(s->arrived_so_far_q32, observation->arrived_q32);
	s->all_arrived_so_far_q32 = fx_add(s->all_arrived_so_far_q32, observation->all_arrived_q32);
	s->departed_so_far_q32 = fx_add(s->departed_so_far_q32, observation->departed_q32);
	s->all_departed_so_far_q32 =
		fx_add(s->all_departed_so_far_q32, observation->all_departed_q32);
	if (++s->since == p->intervals) {
		clcc_turn(p, s, observation->capacity_q32);
		s->arrived_so_far_q32 = s->all_arrived_so_far_q32 = 0;
		s->departed_so_far_q32 = s->all_departed_so_far_q32 = 0;
		s->since = 0;
	}
}

#endif
