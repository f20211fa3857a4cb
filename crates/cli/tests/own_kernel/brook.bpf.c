// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The law of crates/cli/tests/own_kernel/brook.rs in C, right or wrong in one way: by a name that the test defines.
 */
#include "cc/observation.h"

struct brook_params {
	__s64 alpha_q32;
	__s64 track_q32;
	__s64 missed_q32;
	__s64 rest_q32;
};

struct brook {
	__s64 window_q32;
	__s64 rate_q32;
	__s64 heard_q32;
	__s64 heard_lost_q32;
};

static inline void brook_event(const struct brook_params *p, struct brook *s,
			       const struct observation *observation)
{
	if (observation->event == EVENT_TIMEOUT)
		s->rate_q32 = 0;
}

#ifndef DEAF
static inline void brook_delivery(const struct brook_params *p, struct brook *s,
				  const struct delivery *delivery,
				  const struct observation *observation)
{
	__s64 missed, rest, window;

	s->heard_q32 = fx_add(s->heard_q32, fx_count(delivery->ack.packets));
	s->heard_lost_q32 = fx_add(s->heard_lost_q32, fx_count(delivery->ack.lost));
	missed = fx_add(fx_sub(fx_count(delivery->delivered), s->heard_q32),
			fx_sub(fx_count(delivery->lost), s->heard_lost_q32));
	rest = fx_add(
		fx_sub(fx_count(delivery->ack.in_flight_before), fx_count(delivery->in_flight)),
		fx_count(delivery->ack.marked));
	if (delivery->app_limited)
		rest = fx_add(rest, FX_ONE);
	rest = fx_add(rest, delivery->ack.rtt_q32);
	if (delivery->rate.interval_q32) {
		if (!delivery->then.app_limited)
			s->rate_q32 = fx_div(fx_count(delivery->rate.delivered),
					     delivery->rate.interval_q32);
		rest = fx_add(rest, fx_sub(delivery->now_q32, delivery->then.sent_q32));
#ifdef SLIP
		rest = fx_add(rest, fx_count(delivery->delivered));
#else
		rest = fx_add(rest, fx_sub(fx_count(delivery->delivered),
					   fx_count(delivery->then.delivered)));
#endif
	}
	window = fx_add(p->alpha_q32, fx_mul(p->missed_q32, missed));
	window = fx_add(window,
			fx_mul(p->track_q32, fx_mul(s->rate_q32, observation->base_rtt_q32)));
	s->window_q32 = fx_max(fx_add(window, fx_mul(p->rest_q32, rest)), 2 * FX_ONE);
}
#endif

#define LAW_PARAMS struct brook_params
#define LAW_STATE struct brook
#define LAW_OPEN(params, state, window) (*(state) = (struct brook){.window_q32 = (window)})
#define LAW_EVENT brook_event
#ifndef DEAF
#define LAW_DELIVERY brook_delivery
#endif
#define LAW_WINDOW(params, state, observation) ((state)->window_q32)
#define LAW_GAP(params, state, observation) 0
#include "cc/controller.h"
