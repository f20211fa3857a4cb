/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * One vector of any law, and the call it stands for.
 *
 * The order of laws, events and words is that of crates/kernel/src/kernel_laws.rs,
 * which names them; the same text is compiled natively and into BPF.
 */
#ifndef PENSTOCK_REPLAY_H
#define PENSTOCK_REPLAY_H

#include "law/avq.h"
#include "law/bat.h"
#include "law/ccp.h"
#include "law/ccpd.h"
#include "law/clcc.h"
#include "law/copa.h"
#include "law/early-marking.h"
#include "law/fast.h"
#include "law/leadlag.h"
#include "law/prague.h"
#include "law/price.h"
#include "law/srtcm.h"
#include "law/token-bucket.h"
#include "law/trtcm.h"

struct replay_slot {
	union {
		__s64 words[28];
		struct fast_params fast;
		struct leadlag_params leadlag;
		struct price_params price;
		struct avq_params avq;
		struct ccp_params ccp;
		struct bat_params bat;
		struct clcc_params clcc;
		struct token_bucket_params token_bucket;
		struct srtcm_params srtcm;
		struct trtcm_params trtcm;
		struct early_marking_params early_marking;
		struct copa_params copa;
		struct prague_params prague;
	} params;
	union {
		__s64 words[13];
		struct fast fast;
		struct leadlag leadlag;
		struct price price;
		struct avq avq;
		struct ccp ccp;
		struct bat bat;
		struct clcc clcc;
		struct token_bucket token_bucket;
		struct srtcm srtcm;
		struct trtcm trtcm;
		struct early_marking early_marking;
		struct copa copa;
		struct prague prague;
	} state;
	union {
		__s64 words[8];
		struct ccp_path ccp;
		struct clcc_port clcc;
		struct copa_extremes copa;
	} observation;
	__u64 event;
};

static inline void replay_fast(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		fast_round(&slot->params.fast, &slot->state.fast, slot->observation.words[0],
			   slot->observation.words[1]);
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
		leadlag_tick(&slot->params.leadlag, &slot->state.leadlag,
			     slot->observation.words[0], slot->observation.words[1]);
		break;
	case 1:
		leadlag_ack(&slot->params.leadlag, &slot->state.leadlag,
			    (__u32)slot->observation.words[2]);
		break;
	case 2:
	case 3:
		leadlag_cut(&slot->params.leadlag, &slot->state.leadlag);
		break;
	case 4:
		leadlag_tick_delay(&slot->params.leadlag, &slot->state.leadlag,
				   slot->observation.words[1], slot->observation.words[3]);
		break;
	case 5:
		leadlag_tick_linearised(&slot->params.leadlag, &slot->state.leadlag,
					slot->observation.words[0], slot->observation.words[1]);
		break;
	case 6:
		leadlag_tick_linearised_delay(&slot->params.leadlag, &slot->state.leadlag,
					      slot->observation.words[1],
					      slot->observation.words[3]);
		break;
	}
}

static inline void replay_price(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		price_tick(&slot->params.price, &slot->state.price, slot->observation.words[0],
			   slot->observation.words[1]);
		break;
	}
}

static inline void replay_avq(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		avq_arrival(&slot->params.avq, &slot->state.avq, (__u32)slot->observation.words[0],
			    slot->observation.words[1], slot->observation.words[2]);
		break;
	}
}

static inline void replay_ccpd(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		ccp_ack(&slot->params.ccp, &slot->state.ccp, (__u32)slot->observation.words[5],
			&slot->observation.ccp);
		break;
	case 1:
		ccp_cut(&slot->params.ccp, &slot->state.ccp, &slot->observation.ccp);
		break;
	case 2:
		ccp_timeout(&slot->state.ccp);
		break;
	}
}

/* Without kd, which is then zero. */
static inline void replay_ccp(struct replay_slot *slot)
{
	replay_ccpd(slot);
}

static inline void replay_bat(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		bat_tick(&slot->params.bat, &slot->state.bat, slot->observation.words[0],
			 slot->observation.words[1]);
		break;
	}
}

static inline void replay_clcc(struct replay_slot *slot)
{
	switch (slot->event) {
	case 0:
		clcc_tick(&slot->params.clcc, &slot->state.clcc, &slot->observation.clcc);
		break;
	}
}

/* Every conditioner has the same two events. */
#define REPLAY_CONDITIONER(law)                                                             \
	static inline void replay_##law(struct replay_slot *slot)                           \
	{                                                                                   \
		switch (slot->event) {                                                      \
		case 0:                                                                     \
			law##_arrival(&slot->params.law, &slot->state.law,                  \
				      (__u32)slot->observation.words[0],                    \
				      slot->observation.words[1]);                          \
			break;                                                              \
		case 1:                                                                     \
			law##_coloured(&slot->state.law, (__u32)slot->observation.words[0], \
				       (__u32)slot->observation.words[2]);                  \
			break;                                                              \
		}                                                                           \
	}

REPLAY_CONDITIONER(token_bucket)
REPLAY_CONDITIONER(srtcm)
REPLAY_CONDITIONER(trtcm)
REPLAY_CONDITIONER(early_marking)

static inline void replay_copa(struct replay_slot *slot)
{
	const __s64 *words = slot->observation.words;

	switch (slot->event) {
	case 0:
		copa_see(&slot->params.copa, &slot->state.copa, &slot->observation.copa);
		break;
	case 1:
		copa_ack(&slot->state.copa, words[4], words[5], (__u32)words[6], (__u32)words[7]);
		break;
	case 2:
		copa_round(&slot->state.copa);
		break;
	case 3:
		copa_cut(&slot->params.copa, &slot->state.copa);
		break;
	case 4:
		copa_timeout(&slot->state.copa);
		break;
	}
}

static inline void replay_prague(struct replay_slot *slot)
{
	const __s64 *words = slot->observation.words;

	switch (slot->event) {
	case 0:
		prague_ack(&slot->params.prague, &slot->state.prague, words[0], words[1],
			   (__u32)words[2], (__u32)words[3]);
		break;
	case 1:
		prague_cut(&slot->params.prague, &slot->state.prague);
		break;
	case 2:
		prague_timeout(&slot->state.prague);
		break;
	}
}

/*
 * Connections of Copa, step by step, with the memory that its round trips are from and
 * a vector has no words for. A step goes on from the state of the step before; this event
 * begins a connection in the state of its slot.
 */
#define REPLAY_OPEN 5

struct replay_connection {
	struct copa copa;
	struct copa_memory memory;
};

/* The first word of an acknowledgement is its round trip; zero: it has none. */
static inline void replay_step(struct replay_slot *slot, struct replay_connection *connection)
{
	const __s64 *words = slot->observation.words;

	if (slot->event == REPLAY_OPEN)
		copa_forget(&connection->memory);
	else
		slot->state.copa = connection->copa;
	if (slot->event == 1 && words[0])
		copa_measure(&slot->params.copa, &slot->state.copa, &connection->memory, words[4],
			     words[0], words[5]);
	replay_copa(slot);
	connection->copa = slot->state.copa;
}

#endif
