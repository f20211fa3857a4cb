/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The early marker of Tartarelli and Banchs; arithmetic only.
 *
 * The law in Rust: crates/law/src/conditioner/early_marking.rs, which has the source and the
 * deviations. Both are held equal bit for bit by vectors/early-marking.txt.
 *
 * The gains are tiny, and their difference a millionth of them: they are kept
 * times a power of two, and the probability times 2^62, so that its integral
 * moves by what one packet brings.
 */
#ifndef PENSTOCK_LAW_EARLY_MARKING_H
#define PENSTOCK_LAW_EARLY_MARKING_H

#include "bucket.h"

struct early_marking_params {
	struct bucket_params bucket;
	__s64 reference_q32; /* level to hold [B] */
	__s64 k1_q32;        /* gain now, times 2^(30 + places) [1/B] */
	__s64 k2_q32;        /* gain one packet before, times the same [1/B] */
	__u64 places;        /* 0 to 95 */
};

/* Starts full, level_before too, and with probability 0. */
struct early_marking {
	__s64 tokens_q32;       /* bytes, when the last packet had passed */
	__s64 probability_q62;  /* that a packet with tokens for it is red all the same */
	__s64 level_before_q32; /* bytes, found by the last packet */
	__s64 at_q32;           /* when the last packet passed [s] */
	__u64 conforms;         /* 1: there were tokens for it; 0: it is red */
};

/*
 * A packet arrived. It is red if it does not conform, and by a coin of
 * probability_q62 otherwise.
 */
static inline void early_marking_arrival(const struct early_marking_params *p,
					 struct early_marking *s, __u32 bytes, __s64 now_q32)
{
	__s64 now, before, change;

	s->tokens_q32 = bucket_filled(&p->bucket, s->tokens_q32, fx_sub(now_q32, s->at_q32));
	/* Algorithm 1. */
	now = fx_sub(p->reference_q32, s->tokens_q32);
	before = fx_sub(p->reference_q32, s->level_before_q32);
	change = fx_difference(p->k1_q32, now, p->k2_q32, before, (__u32)p->places);
	s->probability_q62 = fx_clamp(fx_add(s->probability_q62, change), 0, 1LL << 62);
	s->level_before_q32 = s->tokens_q32;
	s->at_q32 = now_q32;
	s->conforms = bucket_has(s->tokens_q32, bytes) ? 1 : 0;
}

/* It was given a colour. */
static inline void early_marking_coloured(struct early_marking *s, __u32 bytes, __u32 colour)
{
	if (colour == COLOUR_GREEN)
		s->tokens_q32 = bucket_without(s->tokens_q32, bytes);
}

#endif
