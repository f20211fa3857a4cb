// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * `linear` for a network device: the arithmetic of src/linear.rs, operation by operation.
 */
#include "tc/observation.h"

struct linear_params {
	__s64 target_q32; /* service of the virtual queue over the capacity */
	__s64 period_q32; /* s */
	__s64 limit_q32;  /* virtual queue at which every packet is marked */
};

struct linear {
	__s64 virtual_queue_q32; /* packets */
	__s64 probability_q32;
};

static inline void linear_tick(const struct linear_params *p, struct linear *s,
			       const struct observation *observation)
{
	__s64 served = fx_mul(p->target_q32, fx_mul(observation->capacity_q32, p->period_q32));

	s->virtual_queue_q32 =
		fx_max(fx_add(s->virtual_queue_q32, fx_sub(observation->arrived_q32, served)), 0);
	s->probability_q32 = fx_min(fx_div(s->virtual_queue_q32, p->limit_q32), FX_ONE);
}

#define AQM_PROGRAM linear
#define AQM_PARAMS struct linear_params
#define AQM_STATE struct linear
#define AQM_TICK linear_tick
#define AQM_PROBABILITY(params, state) ((state)->probability_q32)
#include "tc/aqm.h"
