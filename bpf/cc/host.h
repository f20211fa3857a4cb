/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Common code of the controllers: when the host calls the law, how the host measures
 * a path, and how a window and a gap become the kernel's.
 *
 * The same as in the simulated sender (crates/packets/src/ends.rs and
 * crates/packets/src/sender/), by what this kernel measures:
 *
 *   round    ends when something sent after the last one ended was delivered
 *   cut      a loss begins recovery; in recovery again when something that was
 *            sent after the last cut is lost. bpf/cc/controller.h calls
 *            the law for marks, if its requirements have them
 *   timeout  the kernel's retransmission timer
 *   growth   the host calls the law for acknowledgements and rounds outside of recovery,
 *            and while half of the window at least is in use (RFC 7661)
 *   data     which segment is sent again is the kernel's: SACK, RACK, TLP
 *   window   in recovery too it is the law's; the kernel does not reduce it in
 *            proportion (PRR), since a controller with cong_control decides
 *
 * Laws are arithmetic (bpf/law/); nothing here is one.
 */
#ifndef PENSTOCK_CC_HOST_H
#define PENSTOCK_CC_HOST_H

#include "tcp.h"
#include "law/fx.h"

char _license[] SEC("license") = "Dual BSD/GPL";

/*
 * Counted up where sections, maps or calls of the law change their meaning. The loader
 * refuses a program with another number than its own: HEADERS of
 * crates/kernel/src/attach/controller.rs.
 */
#define HEADERS 1

/* How the law is run; written before the program is loaded. */
struct habits {
	__u64 paced;  /* 1: by the gap of the law's output; 0: by acknowledgements */
	__u64 traced; /* 1: a record an acknowledgement */
	__u64 headers;
};

const volatile struct habits habits SEC(".rodata.habits") = {.headers = HEADERS};

/* Where this comes from, for who looks at it later: read by no program. */
struct origin {
	char text[4096];
};

const volatile struct origin origin SEC(".rodata.origin") = {};

/* Counts of rare events; the kernel counts acknowledgements itself. */
struct counters {
	__u64 opened; /* connections that have this controller, and had it */
	__u64 closed;
	__u64 congestion_events;
	__u64 timeouts;
	__u64 marked; /* packets whose acknowledgement had an echo */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counters);
} counters SEC(".maps");

#define COUNT(what, by)                                                        \
	do {                                                                   \
		__u32 first = 0;                                               \
		struct counters *own = bpf_map_lookup_elem(&counters, &first); \
                                                                               \
		if (own)                                                       \
			own->what += (by);                                     \
	} while (0)

/* One acknowledgement, with the output of the law. */
struct record {
	__u64 time_us;
	__u32 local_port;
	__u32 remote_port;
	__u32 delivered; /* packets, since the connection began */
	__u32 in_flight; /* packets */
	__u32 acked;     /* packets that this one acknowledged */
	__u32 marked;
	__s64 window_q32; /* packets */
	__s64 rtt_q32;    /* s, of the observation */
	__s64 base_rtt_q32;
	/* Of the observation: price [s], capacity [packets/s], or Copa's round trip [s]; zero: none. */
	__s64 price_or_capacity_q32;
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096); /* made larger where somebody listens */
} records SEC(".maps");

/* Measurements of a path, and events on it. */
struct path {
	__s64 base_rtt_q32; /* s; zero: nothing is known */
	__s64 rtt_q32;      /* s; zero: no average, or none since a timeout */
	__u32 round;        /* tcp_sock.delivered when the round began */
	__u32 event;        /* the same of the last cut */
	__u8 state;         /* of the kernel: TCP_CA_* */
	__u8 cut;           /* recovery has begun, and the law was not called yet */
	__u8 known;         /* there was a sample at all */
	__u8 open;          /* the connection is: the kernel tells of the handshake before that */
	__u8 since;         /* 1: something was delivered that was sent after the last cut */
	__u8 left;          /* 1: this acknowledgement ended a recovery, losses of it are left */
	__u16 marked;       /* tcp_sock.delivered_ce, its lower half, when it was last looked at */
};

/*
 * Parameters are constants to the compiler, which would take them for zero; the
 * verifier knows them as what the loader wrote.
 */
#define AS_LOADED(type, object)                               \
	({                                                    \
		const type *loaded = (const type *)&(object); \
		asm volatile("" : "+r"(loaded));              \
		loaded;                                       \
	})

/*
 * Microseconds to seconds, as Clocked of Fix<32> has it: (us 2^32 + 500000) / 10^6,
 * without the division. 2^32 / 10^6 is 4294 and a fraction; by the fraction's product
 * the sum is the quotient or one less. A span of 2^32 us counts as one below it: the
 * reading of a clock is fx_seconds.
 */
static inline __s64 seconds(__u64 us)
{
	__u64 span = us >> 32 ? 0xffffffff : us;
	/* The fraction in units of 2^-32, rounded down; the product to the nearest. */
	__u64 rest = (span * 4154504685ULL + (1ULL << 31)) >> 32;

	rest += span * 967296 + 500000 - rest * 1000000 >= 1000000;
	return (__s64)(span * 4294 + rest);
}

/* Seconds to whole microseconds, for spans below an hour. */
static inline __u64 microseconds(__s64 q32)
{
	return ((__u64)q32 >> 12) * 1000000 >> 20;
}

static inline __u32 in_flight(const struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

static inline void host_open(struct sock *sk, struct path *path)
{
	path->base_rtt_q32 = 0;
	path->rtt_q32 = 0;
	path->round = tcp_sk(sk)->delivered;
	path->event = tcp_sk(sk)->delivered;
	path->state = 0;
	path->cut = 0;
	path->known = 0;
	path->open = 1;
	path->since = 0;
	path->left = 0;
	path->marked = (__u16)tcp_sk(sk)->delivered_ce;
	if (habits.paced && sk->sk_pacing_status == SK_PACING_NONE)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	COUNT(opened, 1);
}

/*
 * The kernel changes its state; true if its retransmission timer has expired. What
 * was sent during a recovery and lost has it begin another as soon as that ends: the
 * law was called for those losses already.
 */
static inline int host_state(struct sock *sk, struct path *path, __u8 state)
{
	if (path->state >= TCP_CA_RECOVERY && state < TCP_CA_RECOVERY)
		path->left = tcp_sk(sk)->lost_out > 0;
	if (state == TCP_CA_RECOVERY && path->state != TCP_CA_RECOVERY)
		path->cut = !path->left;
	path->state = state;
	if (state != TCP_CA_LOSS || !path->open)
		return 0;
	path->cut = 0;
	path->since = 0;
	path->event = tcp_sk(sk)->delivered;
	/* After a timeout the average starts over; the base stays. */
	path->rtt_q32 = 0;
	COUNT(timeouts, 1);
	return 1;
}

/*
 * Whether this acknowledgement tells of the loss of something that was sent after the
 * last congestion event. The kernel does not say. But the first delivery of such a
 * thing has it give up all that was sent before it and is still missing (RACK,
 * RFC 8985, section 6.2): what is lost from the next one on was sent since.
 */
static inline int host_lost_again(struct path *path, const struct rate_sample *rs)
{
	int since = path->state >= TCP_CA_RECOVERY && rs->prior_mstamp &&
		    (__s32)(rs->prior_delivered - path->event) >= 0;
	int again = since && path->since && rs->losses > 0;

	path->since |= (__u8)since;
	return again;
}

/* Whether this acknowledgement tells of a congestion event. */
static inline int host_cut(struct path *path, const struct tcp_sock *tp,
			   const struct rate_sample *rs)
{
	int again = host_lost_again(path, rs);

	path->left = 0;
	if (!path->cut && !again)
		return 0;
	path->cut = 0;
	path->since = 0;
	path->event = tp->delivered;
	COUNT(congestion_events, 1);
	return 1;
}

/* Packets whose echo of a mark came with this acknowledgement. */
static inline __u32 host_marked(struct path *path, const struct tcp_sock *tp,
				const struct rate_sample *rs)
{
	__u32 marked = (__u16)(tp->delivered_ce - path->marked);

	if (!marked)
		return 0;
	path->marked = (__u16)tp->delivered_ce;
	if (marked > rs->acked_sacked)
		marked = rs->acked_sacked;
	COUNT(marked, marked);
	return marked;
}

/* Whether a round trip has ended. */
static inline int host_round(struct path *path, const struct tcp_sock *tp,
			     const struct rate_sample *rs)
{
	if (!rs->prior_mstamp || (__s32)(rs->prior_delivered - path->round) < 0)
		return 0;
	path->round = tp->delivered;
	return 1;
}

/* Whether the law is called for this acknowledgement, and for the round it ends. */
static inline int host_settled(const struct path *path, const struct rate_sample *rs,
			       __s64 window_q32)
{
	__u64 used = 2 * (__u64)rs->prior_in_flight;

	return path->state != TCP_CA_RECOVERY && used >= (__u64)window_q32 >> 32;
}

/* The smallest round trip; true if this acknowledgement has one. */
static inline int host_sample(struct path *path, const struct rate_sample *rs, __s64 *rtt_q32)
{
	if (rs->rtt_us <= 0)
		return 0;
	*rtt_q32 = seconds((__u32)rs->rtt_us);
	if (!path->known || *rtt_q32 < path->base_rtt_q32)
		path->base_rtt_q32 = *rtt_q32;
	path->known = 1;
	return 1;
}

/* At so many bytes a second; the socket's own limit holds too. */
static inline void host_pace(struct sock *sk, __u64 rate)
{
	__u64 most = sk->sk_max_pacing_rate;

	sk->sk_pacing_rate = rate < most ? rate : most;
}

/* The output of the law: window_q32 packets, spread over spread_q32 seconds. */
static inline void host_allow(struct sock *sk, __s64 window_q32, __s64 spread_q32)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 window = (__u32)(window_q32 >> 32);

	tp->snd_cwnd = window ? window : 1;
	/*
	 * In units of 2^-20 packets and seconds, which hold a microsecond, a window
	 * of 2^30 packets and a segment of 16 kB: one division, not the law's three.
	 */
	if (habits.paced && spread_q32 >> 12 > 0)
		host_pace(sk,
			  ((__u64)window_q32 >> 12) * tp->mss_cache / ((__u64)spread_q32 >> 12));
}

static inline void host_trace(struct sock *sk, const struct path *path,
			      const struct rate_sample *rs, __s64 window_q32, __u32 marked,
			      __s64 price_or_capacity_q32)
{
	struct tcp_sock *tp = tcp_sk(sk);
	struct record *record;

	if (!habits.traced)
		return;
	record = bpf_ringbuf_reserve(&records, sizeof(*record), 0);
	if (!record)
		return;
	record->time_us = tp->tcp_mstamp;
	record->local_port = sk->__sk_common.skc_num;
	record->remote_port = __builtin_bswap16(sk->__sk_common.skc_dport);
	record->delivered = tp->delivered;
	record->in_flight = in_flight(tp);
	record->acked = rs->acked_sacked;
	record->marked = marked;
	record->window_q32 = window_q32;
	record->rtt_q32 = path->rtt_q32;
	record->base_rtt_q32 = path->base_rtt_q32;
	record->price_or_capacity_q32 = price_or_capacity_q32;
	/* Who reads looks by the clock: a wake-up each costs more than all the rest. */
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

#endif
