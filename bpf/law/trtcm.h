/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The two rate three colour marker of RFC 2698, colour-blind; arithmetic only.
 *
 * The law in Rust: crates/law/src/conditioner/trtcm.rs. Both are held equal bit for bit by
 * vectors/trtcm.txt.
 */
#ifndef PENSTOCK_LAW_TRTCM_H
#define PENSTOCK_LAW_TRTCM_H

#include "bucket.h"

struct trtcm_params {
	struct bucket_params committed;
	struct bucket_params peak;
};

/* Starts with both buckets full. */
struct trtcm {
	__s64 tokens_q32;      /* bytes, when the last packet had passed */
	__s64 peak_tokens_q32; /* bytes */
	__s64 at_q32;          /* when that was [s] */
	__u64 colour;          /* of the packet that arrived last */
};

/* A packet arrived. */
static inline void trtcm_arrival(const struct trtcm_params *p, struct trtcm *s, __u32 bytes,
				 __s64 now_q32)
{
	__s64 span = fx_sub(now_q32, s->at_q32);

	s->tokens_q32 = bucket_filled(&p->committed, s->tokens_q32, span);
	s->peak_tokens_q32 = bucket_filled(&p->peak, s->peak_tokens_q32, span);
	s->at_q32 = now_q32;
	if (!bucket_has(s->peak_tokens_q32, bytes))
		s->colour = COLOUR_RED;
	else if (!bucket_has(s->tokens_q32, bytes))
		s->colour = COLOUR_YELLOW;
	else
		s->colour = COLOUR_GREEN;
}

/* It was given a colour. */
static inline void trtcm_coloured(struct trtcm *s, __u32 bytes, __u32 colour)
{
	if (colour >= COLOUR_RED)
		return;
	s->peak_tokens_q32 = bucket_without(s->peak_tokens_q32, bytes);
	if (colour == COLOUR_GREEN)
		s->tokens_q32 = bucket_without(s->tokens_q32, bytes);
}

#endif
