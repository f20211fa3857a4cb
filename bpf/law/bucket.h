/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Buckets of tokens, one token a byte; arithmetic only.
 *
 * The law in Rust: crates/law/src/conditioner/bucket.rs. Held equal bit for bit by the vectors of
 * every law that has one: token-bucket, srtcm, trtcm, early-marking.
 *
 * Exact to the rounding for rates below 2^31 B/s (17 Gbit/s) and depths below
 * 2^31 B; saturated beyond.
 */
#ifndef PENSTOCK_LAW_BUCKET_H
#define PENSTOCK_LAW_BUCKET_H

#include "fx.h"

/* The drop precedences of assured forwarding; what is larger is red. */
#define COLOUR_GREEN 0
#define COLOUR_YELLOW 1
#define COLOUR_RED 2

/* Less of a token than that, a thousandth, is rounding and not debt. */
#define BUCKET_ROUNDING 4294967

struct bucket_params {
	__s64 rate_q32;  /* what fills it [B/s] */
	__s64 depth_q32; /* what it holds [B] */
};

/* What it would hold after a time, were it without a brim. */
static inline __s64 bucket_poured(const struct bucket_params *p, __s64 level_q32, __s64 span_q32)
{
	return fx_add(level_q32, fx_mul(p->rate_q32, span_q32));
}

/* What it holds after a time. */
static inline __s64 bucket_filled(const struct bucket_params *p, __s64 level_q32, __s64 span_q32)
{
	return fx_min(bucket_poured(p, level_q32, span_q32), p->depth_q32);
}

/* Whether there are tokens for a packet. */
static inline int bucket_has(__s64 level_q32, __u32 bytes)
{
	return fx_add(level_q32, BUCKET_ROUNDING) >= fx_count(bytes);
}

/* What it holds once a packet that it has tokens for has taken them. */
static inline __s64 bucket_without(__s64 level_q32, __u32 bytes)
{
	return fx_max(fx_sub(level_q32, fx_count(bytes)), 0);
}

#endif
