/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * One vector of any law, and the call it stands for.
 *
 * The order of laws, events and words is that of crates/linux/src/twins.rs,
 * which names them; the same text is compiled natively and into BPF.
 */
#ifndef PENSTOCK_REPLAY_H
#define PENSTOCK_REPLAY_H

#include "law/fast.h"
#include "law/leadlag.h"
#include "law/price.h"

struct replay_slot {
	union {
		__s64 words[8];
		struct fast_params fast;
		struct leadlag_params leadlag;
		struct price_params price;
	} params;
	union {
		__s64 words[3];
		struct fast fast;
		struct leadlag leadlag;
		struct price price;
	} state;
	__s64 seen[3];
	__u64 event;
};

static inline void replay_fast(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		fast_round(&slot->params.fast, &slot->state.fast, slot->seen[0], slot->seen[1]);
		break;
	case 1:
		fast_cut(&slot->state.fast);
		break;
	case 2:
		fast_timeout(&slot->state.fast);
		break;
	}
}

static inline void replay_leadlag(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		leadlag_tick(&slot->params.leadlag, &slot->state.leadlag, slot->seen[0],
			     slot->seen[1]);
		break;
	case 1:
		leadlag_ack(&slot->params.leadlag, &slot->state.leadlag, (__u32)slot->seen[2]);
		break;
	case 2:
	case 3:
		leadlag_cut(&slot->params.leadlag, &slot->state.leadlag);
		break;
	}
}

static inline void replay_price(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		price_tick(&slot->params.price, &slot->state.price, slot->seen[0], slot->seen[1]);
		break;
	}
}

#endif
