// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * `steady` for the kernel: the arithmetic of src/steady.rs, operation by operation.
 */
#include "cc/observation.h"

struct steady_params {
	__s64 alpha_q32; /* packets that the flow keeps queued */
	__s64 gain_q32;
};

struct steady {
	__s64 window_q32; /* packets */
};

static inline void steady_event(const struct steady_params *p, struct steady *s,
				const struct observation *observation)
{
	__s64 queued, step;

	switch (observation->event) {
	case EVENT_ACK:
		/* Before the first sample of the round-trip time there is nothing to go by. */
		if (observation->rtt_q32 <= 0)
			break;
		queued = fx_mul(s->window_q32, fx_sub(FX_ONE, fx_div(observation->base_rtt_q32,
								     observation->rtt_q32)));
		step = fx_div(fx_mul(p->gain_q32, fx_sub(p->alpha_q32, queued)), s->window_q32);
		s->window_q32 = fx_add(s->window_q32, fx_mul(fx_count(observation->packets), step));
		break;
	case EVENT_CONGESTION:
	case EVENT_TIMEOUT:
		s->window_q32 = fx_mul(s->window_q32, FX_HALF);
		break;
	}
	s->window_q32 = fx_max(s->window_q32, FX_ONE);
}

#define LAW_NAME "steady"
#define LAW_PARAMS struct steady_params
#define LAW_STATE struct steady
#define LAW_OPEN(params, state, window) ((state)->window_q32 = (window))
#define LAW_EVENT steady_event
#define LAW_WINDOW(params, state, observation) ((state)->window_q32)
#define LAW_GAP(params, state, observation) 0
#include "cc/controller.h"
