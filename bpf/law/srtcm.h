/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The single rate three colour marker of RFC 2697, colour-blind; arithmetic only.
 *
 * The law in Rust: crates/law/src/conditioner/srtcm.rs. Both are held equal bit for bit by
 * vectors/srtcm.txt. Both depths together must be below 2^31 B.
 */
#ifndef PENSTOCK_LAW_SRTCM_H
#define PENSTOCK_LAW_SRTCM_H

#include "bucket.h"

struct srtcm_params {
	struct bucket_params committed;
	__s64 excess_depth_q32; /* bytes */
};

/* Starts with both buckets full. */
struct srtcm {
	__s64 tokens_q32;        /* bytes, when the last packet had passed */
	__s64 excess_tokens_q32; /* bytes */
	__s64 at_q32;            /* when that was [s] */
	__u64 colour;            /* of the packet that arrived last */
};

/* A packet arrived. */
static inline void srtcm_arrival(const struct srtcm_params *p, struct srtcm *s, __u32 bytes,
				 __s64 now_q32)
{
	__s64 poured = bucket_poured(&p->committed, s->tokens_q32, fx_sub(now_q32, s->at_q32));
	__s64 over;

	s->tokens_q32 = fx_min(poured, p->committed.depth_q32);
	over = fx_sub(poured, s->tokens_q32);
	s->excess_tokens_q32 = fx_min(fx_add(s->excess_tokens_q32, over), p->excess_depth_q32);
	s->at_q32 = now_q32;
	if (bucket_has(s->tokens_q32, bytes))
		s->colour = COLOUR_GREEN;
	else if (bucket_has(s->excess_tokens_q32, bytes))
		s->colour = COLOUR_YELLOW;
	else
		s->colour = COLOUR_RED;
}

/* It was given a colour. */
static inline void srtcm_coloured(struct srtcm *s, __u32 bytes, __u32 colour)
{
	if (colour == COLOUR_GREEN)
		s->tokens_q32 = bucket_without(s->tokens_q32, bytes);
	else if (colour == COLOUR_YELLOW)
		s->excess_tokens_q32 = bucket_without(s->excess_tokens_q32, bytes);
}

#endif
