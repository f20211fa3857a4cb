// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * `gauge` for the kernel: the arithmetic of src/gauge.rs, operation by operation.
 */
#include "cc/observation.h"

struct gauge_params {
	__s64 alpha_q32; /* packets that the flow keeps queued, at most */
};

struct gauge {
	__s64 window_q32; /* packets */
	__s64 queued_q32; /* packets that the flow keeps queued */
};

static inline void gauge_event(const struct gauge_params *p, struct gauge *s,
			       const struct observation *observation)
{
	switch (observation->event) {
	case EVENT_ROUND:
		s->queued_q32 = fx_min(fx_add(s->queued_q32, FX_ONE), p->alpha_q32);
		break;
	case EVENT_CONGESTION:
		s->queued_q32 = fx_max(fx_mul(s->queued_q32, FX_HALF), FX_ONE);
		break;
	case EVENT_TIMEOUT:
		s->queued_q32 = FX_ONE;
		s->window_q32 = FX_ONE;
		break;
	}
}

static inline void gauge_delivery(const struct gauge_params *p, struct gauge *s,
				  const struct delivery *delivery,
				  const struct observation *observation)
{
	__s64 rate, window;

	if (delivery->rate.interval_q32 <= 0)
		return;
	rate = fx_div(fx_count(delivery->rate.delivered), delivery->rate.interval_q32);
	window = fx_add(fx_mul(rate, observation->base_rtt_q32), s->queued_q32);
	/* A flow that is short of data is slower than its path. */
	if (!delivery->then.app_limited || window > s->window_q32)
		s->window_q32 = window;
}

#define LAW_NAME "gauge"
#define LAW_PARAMS struct gauge_params
#define LAW_STATE struct gauge
#define LAW_OPEN(params, state, window) \
	((state)->window_q32 = (window), (state)->queued_q32 = (params)->alpha_q32)
#define LAW_EVENT gauge_event
#define LAW_DELIVERY gauge_delivery
#define LAW_WINDOW(params, state, observation) ((state)->window_q32)
#define LAW_GAP(params, state, observation) 0
#include "cc/controller.h"
