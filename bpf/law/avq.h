/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * The adaptive virtual queue of Kunniyur and Srikant; arithmetic only.
 *
 * The law in Rust: crates/law/src/aqm/avq.rs, which has the source and the deviations.
 * Both are held equal bit for bit by vectors/avq.txt.
 *
 * An idle time in which the line could have carried 2^31 packets or more counts
 * as 2^31 packets.
 */
#ifndef PENSTOCK_LAW_AVQ_H
#define PENSTOCK_LAW_AVQ_H

#include "fx.h"

struct avq_params {
	__s64 gamma_q32;       /* wanted utilization */
	__s64 alpha_q32;       /* rate of adaptation [1/s] */
	__s64 buffer_q32;      /* size of the virtual queue [packets] */
	__s64 mean_packet_q32; /* bytes */
	__u64 by_size;         /* 0: every packet counts one, else by its size */
};

struct avq {
	__s64 virtual_capacity_q32; /* packets/s */
	__s64 virtual_queue_q32;    /* packets, after the last arrival */
	__s64 last_q32;             /* when that was [s] */
	__u64 overflowed;           /* 1: that packet is to be marked, or dropped */
};

/* A packet arrived, whatever becomes of it; capacity of the real line in packets/s. */
static inline void avq_arrival(const struct avq_params *p, struct avq *s, __u32 bytes,
			       __s64 capacity_q32, __s64 now_q32)
{
	__s64 size = p->by_size ? fx_div(fx_count(bytes), p->mean_packet_q32) : FX_ONE;
	__s64 gap = fx_sub(now_q32, s->last_q32);
	__s64 served = fx_mul(s->virtual_capacity_q32, gap);
	__s64 wanted = fx_mul(p->gamma_q32, fx_mul(capacity_q32, gap));
	__s64 grown = fx_add(s->virtual_capacity_q32, fx_mul(p->alpha_q32, wanted));
	__s64 filled;

	s->last_q32 = now_q32;
	s->virtual_queue_q32 = fx_max(fx_sub(s->virtual_queue_q32, served), 0);
	filled = fx_add(s->virtual_queue_q32, size);
	s->overflowed = filled > p->buffer_q32 ? 1 : 0;
	if (!s->overflowed)
		s->virtual_queue_q32 = filled;
	/* dC~/dt = alpha (gamma C - lambda), each packet taking its part of lambda. */
	s->virtual_capacity_q32 =
		fx_max(fx_sub(fx_min(grown, capacity_q32), fx_mul(p->alpha_q32, size)), 0);
}

#endif
