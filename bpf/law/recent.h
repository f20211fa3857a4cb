/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The smallest sample of a time that goes along.
 *
 * The same in Rust: crates/law/src/estimate/recent.rs, RecentMin, which has the rule.
 * Held equal bit for bit by whole connections of Copa (crates/kernel/src/generators/copa.rs).
 * Rust moves what is kept to the front of an array; here it is a ring.
 */
#ifndef PENSTOCK_LAW_RECENT_H
#define PENSTOCK_LAW_RECENT_H

#include "fx.h"

/* Samples kept; a power of two. */
#define RECENT_MOST 16

struct recent_min {
	__s64 at_q32[RECENT_MOST]; /* s */
	__s64 sample_q32[RECENT_MOST];
	__u32 first; /* of the ring: the smallest and oldest */
	__u32 kept;
};

static inline __u32 recent_place(__u32 at)
{
	return at & (RECENT_MOST - 1);
}

/*
 * Takes in a sample at now_q32, and returns the smallest of the last window_q32. Global, as
 * products are: the verifier checks it once, and not for each path of a law that calls it often.
 */
FX_GLOBAL __s64 recent_take(struct recent_min *r, __s64 now_q32, __s64 sample_q32, __s64 window_q32)
{
	__u32 first, kept, last, i;

	if (!r)
		return sample_q32;
	first = r->first;
	kept = r->kept <= RECENT_MOST ? r->kept : RECENT_MOST;
	for (i = 0; i < RECENT_MOST && kept; i++) {
		if (fx_sub(now_q32, r->at_q32[recent_place(first)]) <= window_q32)
			break;
		first++;
		kept--;
	}
	for (i = 0; i < RECENT_MOST && kept; i++) {
		if (r->sample_q32[recent_place(first + kept - 1)] < sample_q32)
			break;
		kept--;
	}
	last = recent_place(first + kept - 1);
	if (!kept ||
	    (kept < RECENT_MOST &&
	     fx_sub(now_q32, r->at_q32[last]) >= fx_div(window_q32, (RECENT_MOST - 1) * FX_ONE))) {
		r->at_q32[recent_place(first + kept)] = now_q32;
		r->sample_q32[recent_place(first + kept)] = sample_q32;
		kept++;
	}
	r->first = first;
	r->kept = kept;
	return r->sample_q32[recent_place(first)];
}

#endif
