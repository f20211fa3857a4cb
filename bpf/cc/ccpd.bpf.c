// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * CCPD of Cavendish, Kuwahara, Kumazoe, Tsuru and Oie as a controller of this
 * kernel; the law is bpf/law/ccp.h, and what is common to all of them
 * bpf/cc/host.h.
 *
 *   penstock linux attach ccpd --set law.kp=4
 *   penstock linux detach ccpd
 *
 * What it estimates of the bottleneck is what crates/law/src/estimate/bottleneck.rs
 * and crates/packets/src/sender/bottleneck.rs estimate, but for this: the past is
 * kept in steps of 1/32 of a round trip, so that the moment looked back to is a
 * round trip ago to 3 %; and the latest 64 pairs count at most.
 *
 * Packets are not spaced: two that an acknowledgement lets go are a pair, and the
 * time between their acknowledgements, by the clock of this processor, tells the
 * capacity.
 */
#include "host.h"
#include "law/ccp.h"

#define MOST_PAIRS 64
#define PAST 64

enum lookback { LOOK_NOWHERE, LOOK_ROUND_TRIP, LOOK_ACKNOWLEDGEMENT };

struct law {
	struct ccp_params ccp;
	__s64 rtt_weight_q32;
	__u64 pairs;    /* how many of the latest count, up to MOST_PAIRS */
	__u64 lookback; /* enum lookback */
};

const volatile struct law law SEC(".rodata.law") = {};

struct flow {
	struct path path;
	struct ccp ccp;
};

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

struct pair {
	__s64 delays_q32;     /* both round trips added [s] */
	__s64 dispersion_q32; /* between their acknowledgements [s] */
};

struct moment {
	__u64 us;
	__s64 value_q32; /* packets */
};

struct bottleneck {
	struct pair pairs[MOST_PAIRS];
	struct moment past[PAST];
	__u32 count; /* of pairs, ever */
	__u32 first; /* of the past, and behind its last */
	__u32 end;
	__s64 most_rtt_q32;
	__s64 capacity_q32; /* packets/s; zero: no pair yet */
	__s64 buffer_q32;
	__s64 level_q32;
	__s64 in_flight_q32;
	__u64 next_pair_us;
	__u64 heard_ns; /* when the first of a pair was acknowledged; zero: not yet */
	__s64 heard_rtt_q32;
	__u32 pair_seq; /* of the first of a pair */
	__u32 paired;   /* 1: a pair is on its way */
	__u32 before_nxt;
	__u32 before_retrans;
	__u32 una;
	__u32 once; /* what is below may have been sent twice */
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct bottleneck);
} bottlenecks SEC(".maps");

SEC("struct_ops")
void BPF_PROG(ccpd_open, struct sock *sk)
{
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct bottleneck *b;

	host_open(sk, &flow->path);
	flow->ccp.window_q32 = fx_count(tp->snd_cwnd);
	flow->ccp.ssthresh_q32 = FX_MOST;
	flow->ccp.slow_start = 1;
	flow->ccp.recovers = 0;
	b = bpf_sk_storage_get(&bottlenecks, tp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
	if (!b)
		return;
	b->before_nxt = tp->snd_nxt;
	b->before_retrans = tp->total_retrans;
	b->una = tp->snd_una;
	b->once = tp->snd_una;
}

SEC("struct_ops")
void BPF_PROG(ccpd_close, struct sock *sk)
{
	COUNT(closed, 1);
}

static inline void ccpd_forget(struct bottleneck *b, const struct tcp_sock *tp)
{
	b->first = b->end;
	b->once = tp->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(ccpd_state, struct sock *sk, __u8 state)
{
	struct flow *flow = inet_csk_ca(sk);
	struct bottleneck *b;

	if (!host_state(sk, &flow->path, state))
		return;
	ccp_timeout(&flow->ccp);
	host_allow(sk, flow->ccp.window_q32, 0);
	b = bpf_sk_storage_get(&bottlenecks, tcp_sk(sk), NULL, 0);
	if (b)
		ccpd_forget(b, tcp_sk(sk));
}

/* What the acknowledgement before let go: two or more packets, all of them new, left together. */
static inline void ccpd_released(struct bottleneck *b, const struct tcp_sock *tp, __s64 rtt_q32)
{
	__u32 sent = tp->snd_nxt - b->before_nxt;

	if (sent >= 2 * tp->mss_cache && b->before_retrans == tp->total_retrans &&
	    tp->tcp_mstamp >= b->next_pair_us) {
		b->pair_seq = b->before_nxt;
		b->paired = 1;
		b->heard_ns = 0;
		/* q32 seconds to microseconds, to the nearest. */
		b->next_pair_us = tp->tcp_mstamp + (((__u64)rtt_q32 >> 12) * 1000000 >> 20);
	}
	b->before_nxt = tp->snd_nxt;
	b->before_retrans = tp->total_retrans;
}

/* Of pairs delayed alike the latest counts. */
static inline void ccpd_capacity(const struct law *by, struct bottleneck *b)
{
	__u32 count = b->count < by->pairs ? b->count : (__u32)by->pairs;
	__s64 least = FX_MOST, dispersion = 0;

	for (__u32 age = count; age > 0 && age <= MOST_PAIRS; age--) {
		const struct pair *pair = &b->pairs[(b->count - age) & (MOST_PAIRS - 1)];

		if (pair->delays_q32 <= least) {
			least = pair->delays_q32;
			dispersion = pair->dispersion_q32;
		}
	}
	b->capacity_q32 = fx_div(FX_ONE, dispersion);
}

/* An acknowledgement of one packet of the pair. Both must be acknowledged alone. */
static inline void ccpd_paired(const struct law *by, struct bottleneck *b,
			       const struct tcp_sock *tp, __u32 covered, __s64 rtt_q32)
{
	__u32 mss = tp->mss_cache, reached = tp->snd_una - b->pair_seq;
	int single = covered == mss;
	__u64 now_ns = bpf_ktime_get_ns(), apart_ns = now_ns - b->heard_ns;

	if (!b->paired || (__s32)reached <= 0)
		return;
	if (reached == mss && single) {
		b->heard_ns = now_ns;
		b->heard_rtt_q32 = rtt_q32;
		return;
	}
	b->paired = 0;
	if (reached != 2 * mss || !single || !b->heard_ns || !apart_ns || apart_ns >> 32)
		return;
	b->pairs[b->count & (MOST_PAIRS - 1)].delays_q32 = fx_add(b->heard_rtt_q32, rtt_q32);
	b->pairs[b->count & (MOST_PAIRS - 1)].dispersion_q32 =
		(__s64)(((apart_ns << 32) + 500000000) / 1000000000);
	b->count++;
	ccpd_capacity(by, b);
}

/* How long ago, and what was committed, about a round trip ago or at the acknowledgement before. */
static inline void ccpd_look_back(const struct law *by, struct bottleneck *b, __u64 now_us,
				  __s64 rtt_q32, struct ccp_path *seen)
{
	__s64 age;

	if (b->first == b->end)
		return;
	if (by->lookback == LOOK_ACKNOWLEDGEMENT)
		b->first = b->end - 1;
	for (int i = 0; i < PAST && b->end - b->first >= 2; i++) {
		age = seconds(now_us - b->past[(b->first + 1) & (PAST - 1)].us);
		if (age < rtt_q32)
			break;
		b->first++;
	}
	age = seconds(now_us - b->past[b->first & (PAST - 1)].us);
	if (age <= 0 || (by->lookback == LOOK_ROUND_TRIP && 2 * age < rtt_q32))
		return;
	seen->earlier_s_q32 = age;
	seen->earlier_q32 = b->past[b->first & (PAST - 1)].value_q32;
}

static inline void ccpd_commit(const struct law *by, struct bottleneck *b, __u64 now_us,
			       __s64 rtt_q32, __s64 window_q32)
{
	__s64 since = seconds(now_us - b->past[(b->end - 1) & (PAST - 1)].us);

	if (by->lookback == LOOK_ROUND_TRIP && b->first != b->end && 32 * since < rtt_q32)
		return;
	b->past[b->end & (PAST - 1)].us = now_us;
	b->past[b->end & (PAST - 1)].value_q32 =
		fx_add(b->level_q32, fx_max(b->in_flight_q32, window_q32));
	b->end++;
	if (b->end - b->first > PAST)
		b->first++;
}

SEC("struct_ops")
void BPF_PROG(ccpd_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	struct ccp law_now = flow->ccp;
	struct ccp_path seen = {};
	struct bottleneck *b;
	__u32 covered;
	__s64 rtt_q32;
	int sure;

	if (!path->open)
		return;
	b = bpf_sk_storage_get(&bottlenecks, tp, NULL, 0);
	if (!b)
		return;
	covered = tp->snd_una - b->una;
	sure = covered && (__s32)(b->una - b->once) >= 0;
	b->una = tp->snd_una;
	seen.buffer_q32 = b->buffer_q32;
	seen.level_q32 = b->level_q32;
	seen.in_flight_q32 = b->in_flight_q32;
	if (host_cut(path, tp, rs)) {
		ccp_cut(&by->ccp, &law_now, &seen);
		ccpd_forget(b, tp);
	}
	if (sure && host_sample(path, rs, &rtt_q32)) {
		path->rtt_q32 =
			path->rtt_q32
				? fx_add(path->rtt_q32,
					 fx_mul(by->rtt_weight_q32, fx_sub(rtt_q32, path->rtt_q32)))
				: rtt_q32;
		ccpd_released(b, tp, path->rtt_q32);
		b->most_rtt_q32 = fx_max(b->most_rtt_q32, rtt_q32);
		ccpd_paired(by, b, tp, covered, rtt_q32);
		if (b->capacity_q32) {
			/* (5) and (6) */
			__s64 waits = fx_sub(path->rtt_q32, path->base_rtt_q32);

			b->buffer_q32 = fx_mul(b->capacity_q32,
					       fx_sub(b->most_rtt_q32, path->base_rtt_q32));
			b->level_q32 = fx_max(fx_mul(b->capacity_q32, waits), 0);
		}
	} else {
		ccpd_released(b, tp, path->rtt_q32);
	}
	b->in_flight_q32 = fx_count(in_flight(tp));
	if (covered && path->state != TCP_CA_RECOVERY) {
		seen.buffer_q32 = b->buffer_q32;
		seen.level_q32 = b->level_q32;
		seen.in_flight_q32 = b->in_flight_q32;
		if (by->lookback != LOOK_NOWHERE)
			ccpd_look_back(by, b, tp->tcp_mstamp, path->rtt_q32, &seen);
		ccp_ack(&by->ccp, &law_now, (covered + tp->mss_cache - 1) / tp->mss_cache, &seen);
		if (by->lookback != LOOK_NOWHERE)
			ccpd_commit(by, b, tp->tcp_mstamp, path->rtt_q32, law_now.window_q32);
	}
	flow->ccp = law_now;
	host_allow(sk, law_now.window_q32, 0);
	host_trace(sk, path, rs, law_now.window_q32, 0, b->capacity_q32);
}

/* The kernel asks when it counts a loss; the law answers in ccpd_control. */
SEC("struct_ops")
__u32 BPF_PROG(ccpd_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The law knows no loss that was none. */
SEC("struct_ops")
__u32 BPF_PROG(ccpd_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ccpd = {
	.init = (void *)ccpd_open,
	.release = (void *)ccpd_close,
	.set_state = (void *)ccpd_state,
	.cong_control = (void *)ccpd_control,
	.ssthresh = (void *)ccpd_ssthresh,
	.undo_cwnd = (void *)ccpd_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "ccpd",
};
