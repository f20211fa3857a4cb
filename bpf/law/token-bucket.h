/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The token bucket of two colours; arithmetic only.
 *
 * The law in Rust: crates/law/src/conditioner/token_bucket.rs, which has the source and the
 * deviations. Both are held equal bit for bit by vectors/token-bucket.txt.
 */
#ifndef PENSTOCK_LAW_TOKEN_BUCKET_H
#define PENSTOCK_LAW_TOKEN_BUCKET_H

#include "bucket.h"

struct token_bucket_params {
	struct bucket_params bucket;
};

/* Starts full. */
struct token_bucket {
	__s64 tokens_q32; /* bytes, when the last packet had passed */
	__s64 at_q32;     /* when that was [s] */
	__u64 colour;     /* of the packet that arrived last */
};

/* A packet arrived. */
static inline void token_bucket_arrival(const struct token_bucket_params *p, struct token_bucket *s,
					__u32 bytes, __s64 now_q32)
{
	s->tokens_q32 = bucket_filled(&p->bucket, s->tokens_q32, fx_sub(now_q32, s->at_q32));
	s->at_q32 = now_q32;
	s->colour = bucket_has(s->tokens_q32, bytes) ? COLOUR_GREEN : COLOUR_RED;
}

/* It was given a colour. */
static inline void token_bucket_coloured(struct token_bucket *s, __u32 bytes, __u32 colour)
{
	if (colour == COLOUR_GREEN)
		s->tokens_q32 = bucket_without(s->tokens_q32, bytes);
}

#endif
