// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The adaptive virtual queue on a device: the law of bpf/law/avq.h over what
 * passes here. Its queue is virtual, and so needs none.
 *
 * Attach: penstock linux attach avq --device DEV --set link.rate=RATE
 *
 * A super-packet is one arrival of all its bytes: it fits into the virtual queue or not.
 */
#include "law/avq.h"

#define AQM_PROGRAM avq
#define AQM_PARAMS struct avq_params
#define AQM_STATE struct avq
#define AQM_ARRIVAL(params, state, observation)                                       \
	avq_arrival(params, state, (observation)->bytes, (observation)->capacity_q32, \
		    (observation)->now_q32)
#define AQM_PROBABILITY(params, state) ((state)->overflowed ? FX_ONE : 0)
#include "tc/aqm.h"
