/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * CCP and CCPD of Cavendish, Kuwahara, Kumazoe, Tsuru and Oie; arithmetic only.
 *
 * Kernel implementations: crates/law/src/cc/ccp.rs, which has the source and the deviations, and
 * crates/law/src/cc/ccpd.rs. Held equal bit for bit by vectors/ccp.txt, where kd
 * is zero, and vectors/ccpd.txt.
 *
 * The law holds no estimate; the observation of the bottleneck is an argument.
 * Exact to the rounding while kp times the buffer, and kd over the time looked
 * back times the change of the level, are below 2^31; saturated beyond.
 */
#ifndef PENSTOCK_LAW_CCP_H
#define PENSTOCK_LAW_CCP_H

#include "fx.h"

struct ccp_params {
	__s64 kp_q32;
	__u64 implicit; /* 0: (3) as printed, else solved for the window */
	__s64 kd_q32;   /* s; zero is CCP, without derivative */
};

struct ccp {
	__s64 window_q32;   /* packets */
	__s64 ssthresh_q32; /* packets */
	__u64 slow_start;   /* 1: it is not over */
	__u64 recovers;     /* 1: no acknowledgement since the last congestion event */
};

/* What was measured of the bottleneck; buffer is zero until it is known. */
struct ccp_path {
	__s64 buffer_q32;    /* packets it holds */
	__s64 level_q32;     /* packets in it */
	__s64 in_flight_q32; /* packets */
	__s64 earlier_q32;   /* level or in flight a while ago, as the law's host measures it */
	__s64 earlier_s_q32; /* how long ago [s]; zero where nothing is known of that time */
};

/* Equation (3). Without a moment to look back to there is no derivative. */
static inline __s64 ccp_window(const struct ccp_params *p, __s64 level_q32, __s64 in_flight_q32,
			       const struct ccp_path *observation)
{
	__s64 kappa = 0, earlier = 0, committed, space;

	if (observation->earlier_s_q32 > 0) {
		kappa = fx_div(p->kd_q32, observation->earlier_s_q32);
		earlier = observation->earlier_q32;
	}
	committed = p->implicit ? level_q32 : fx_add(level_q32, in_flight_q32);
	space = fx_add(fx_mul(p->kp_q32, fx_sub(observation->buffer_q32, committed)),
		       fx_mul(kappa, fx_sub(earlier, committed)));
	return p->implicit ? fx_div(space, fx_add(fx_add(FX_ONE, p->kp_q32), kappa)) : space;
}

/* New data was acknowledged, outside loss recovery. */
static inline void ccp_ack(const struct ccp_params *p, struct ccp *s, __u32 packets,
			   const struct ccp_path *observation)
{
	int known = observation->buffer_q32 > 0;

	s->recovers = 0;
	if (s->slow_start) {
		__s64 acknowledged = fx_count(packets);
		__s64 used = fx_add(observation->in_flight_q32, acknowledged);

		/* No window grows of which less than half is in use. */
		if (s->window_q32 < fx_mul(2 * FX_ONE, used))
			s->window_q32 = fx_add(s->window_q32, fx_count(packets / 2 + packets % 2));
		s->slow_start = s->window_q32 < s->ssthresh_q32 || !known;
	}
	if (!s->slow_start && known) {
		__s64 window = ccp_window(p, observation->level_q32, observation->in_flight_q32,
					  observation);

		s->window_q32 = fx_max(window, 2 * FX_ONE);
	}
}

/* A congestion event, at most once a round trip. Section V: the window is kept. */
static inline void ccp_cut(const struct ccp_params *p, struct ccp *s,
			   const struct ccp_path *observation)
{
	if (s->recovers && observation->buffer_q32 > 0) {
		/* What fits beside nobody; below that, what (3) allows. */
		__s64 most = ccp_window(p, 0, 0, observation);
		__s64 allowed = ccp_window(p, observation->level_q32, observation->in_flight_q32,
					   observation);
		__s64 less = s->window_q32 > most ? most : allowed;

		s->window_q32 = fx_max(less, 2 * FX_ONE);
	}
	s->ssthresh_q32 = s->window_q32;
	s->slow_start = 0;
	s->recovers = 1;
}

/* The retransmission timer expired. */
static inline void ccp_timeout(struct ccp *s)
{
	s->ssthresh_q32 = fx_max(fx_mul(s->window_q32, FX_HALF), 2 * FX_ONE);
	s->window_q32 = FX_ONE;
	s->slow_start = 1;
	s->recovers = 0;
}

#endif
