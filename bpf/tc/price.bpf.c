// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Price marking on a device: the law of bpf/law/price.h over the bytes that pass
 * here. It needs no queue, since its capacity is virtual.
 *
 * Attach: penstock linux attach price --device DEV --set link.rate=RATE
 */
#include "law/price.h"

#define AQM_PROGRAM price
#define AQM_PARAMS struct price_params
#define AQM_STATE struct price
#define AQM_TICK(params, state, observation) \
	price_tick(params, state, (observation)->arrived_q32, (observation)->capacity_q32)
#define AQM_PROBABILITY(params, state) ((state)->probability_q32)
#include "tc/aqm.h"
