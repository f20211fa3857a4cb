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
 * and crates/packets/src/sender/bottleneck.rs estimate, but for this: time goes in
 * steps of 1/32 of a round trip. Out of slow start the law is called once a step, and
 * the past has a moment a step, so that the one looked back to is a round trip ago to
 * 3 %. The latest 64 pairs count at most. And the packets of a train must have left in
 * the same microsecond, which the kernel alone can miss.
 *
 * Packets are not spaced: two that an acknowledgement lets go are a pair, and the
 * time between their acknowledgements, by the clock that the kernel's TCP read when
 * each came, tells the capacity.
 */
#include "host.h"
#include "train.h"
#include "law/ccp.h"

/* Kept out of the way of what every acknowledgement runs through, which then fits few lines of a cache. */
#define SELDOM __attribute__((noinline))

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

/* What every acknowledgement reads and writes. Moments are the lower half of the kernel's microseconds. */
struct flow {
	struct path path;
	__s64 window_q32;
	__s64 ssthresh_q32;
	__s64 capacity_q32; /* packets/s; zero: no pair yet */
	__s64 then_q32;     /* what was committed at the moment that is looked back to [packets] */
	__u32 then_us;
	__u32 stepped_us; /* when the past was added to */
	__u32 most_rtt_us;
	struct train train;
	__u32 una; /* tcp_sock's at the acknowledgement before, and so on */
	__u32 nxt;
	__u32 once; /* what is below may have been sent twice */
	__u16 retrans;
	__u8 slow_start : 1;
	__u8 recovers : 1;
	__u8 afresh : 1;   /* the average starts with the next round trip */
	__u8 recovery : 1; /* as section V has it, which is not the kernel's */
	__u8 past : 2; /* 1: there is a moment to look back to; 2: and what the last one sent is to be added */
};

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

struct pair {
	__u32 delays_us;     /* both round trips added */
	__u32 dispersion_ns; /* of a packet, between their acknowledgements */
};

struct moment {
	__u32 us;
	__s64 value_q32; /* packets */
};

/* What a few acknowledgements a round trip come to: looking it up costs more than the law. */
struct memory {
	__u32 count; /* of pairs, ever */
	__u32 first; /* of the past, and behind its last */
	__u32 end;
	__u32 heard_rtt_us; /* of the first of a pair */
	__u32 heard_una;    /* what its acknowledgement was up to */
	__u32 recover;      /* where a recovery ends: what was sent before its loss */
	__u64 heard_ns;     /* when that came */
	struct moment past[PAST];
	struct pair pairs[MOST_PAIRS];
};

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct memory);
} memories SEC(".maps");

/* What packet pairs say, of whatever connection had the last one. */
struct estimate {
	__s64 capacity_q32; /* packets/s */
	__u64 pairs;        /* ever, of all connections */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct estimate);
} estimates SEC(".maps");

static inline void ccpd_tell(__s64 capacity_q32)
{
	__u32 first = 0;
	struct estimate *estimate = bpf_map_lookup_elem(&estimates, &first);

	if (!estimate)
		return;
	estimate->capacity_q32 = capacity_q32;
	__sync_fetch_and_add(&estimate->pairs, 1);
}

static inline struct memory *ccpd_memory(struct sock *sk)
{
	return bpf_sk_storage_get(&memories, tcp_sk(sk), NULL, 0);
}

static inline struct ccp ccpd_law(const struct flow *flow)
{
	return (struct ccp){flow->window_q32, flow->ssthresh_q32, flow->slow_start, flow->recovers};
}

static inline void ccpd_keep(struct flow *flow, const struct ccp *law_now)
{
	flow->window_q32 = law_now->window_q32;
	flow->ssthresh_q32 = law_now->ssthresh_q32;
	flow->slow_start = law_now->slow_start & 1;
	flow->recovers = law_now->recovers & 1;
}

SEC("struct_ops")
void BPF_PROG(ccpd_open, struct sock *sk)
{
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	host_open(sk, &flow->path);
	flow->window_q32 = fx_count(tp->snd_cwnd);
	flow->ssthresh_q32 = FX_MOST;
	flow->capacity_q32 = 0;
	flow->most_rtt_us = 0;
	flow->train.state = TRAIN_NONE;
	flow->train.next_us = (__u32)tp->tcp_mstamp;
	flow->una = tp->snd_una;
	flow->nxt = tp->snd_nxt;
	flow->once = tp->snd_una;
	flow->retrans = (__u16)tp->total_retrans;
	flow->slow_start = 1;
	flow->recovers = 0;
	flow->recovery = 0;
	flow->past = 0;
	flow->afresh = 1;
	bpf_sk_storage_get(&memories, tp, NULL, BPF_SK_STORAGE_GET_F_CREATE);
}

SEC("struct_ops")
void BPF_PROG(ccpd_close, struct sock *sk)
{
	COUNT(closed, 1);
}

static inline void ccpd_forget(struct flow *flow, const struct tcp_sock *tp)
{
	flow->past = 0;
	flow->once = tp->snd_nxt;
}

SEC("struct_ops")
void BPF_PROG(ccpd_state, struct sock *sk, __u8 state)
{
	struct flow *flow = inet_csk_ca(sk);
	__s64 rtt_q32 = flow->path.rtt_q32;
	struct ccp law_now;

	if (!host_state(sk, &flow->path, state))
		return;
	/* The level is that of before until there is another. */
	flow->path.rtt_q32 = rtt_q32;
	flow->afresh = 1;
	flow->recovery = 0;
	law_now = ccpd_law(flow);
	ccp_timeout(&law_now);
	ccpd_keep(flow, &law_now);
	host_allow(sk, law_now.window_q32, 0);
	ccpd_forget(flow, tcp_sk(sk));
}

/* What the acknowledgement before let go, if all of it is new, left together. */
static inline void ccpd_released(struct sock *sk, struct flow *flow, __u32 now_us, __u32 span_us)
{
	struct tcp_sock *tp = tcp_sk(sk);
	__u32 first = flow->nxt, nxt = tp->snd_nxt;
	__u16 retrans = (__u16)tp->total_retrans;
	int anew = retrans == flow->retrans;

	flow->nxt = nxt;
	flow->retrans = retrans;
	if (anew)
		train_left(&flow->train, now_us, tp->snd_una, first, nxt, tp->mss_cache, span_us);
}

/* Of pairs delayed alike the latest counts. */
static inline __s64 ccpd_capacity(const struct law *by, const struct memory *m)
{
	__u32 count = m->count < by->pairs ? m->count : (__u32)by->pairs;
	__u32 least = ~0U, dispersion_ns = 0;

	for (__u32 age = count; age > 0 && age <= MOST_PAIRS; age--) {
		const struct pair *pair = &m->pairs[(m->count - age) & (MOST_PAIRS - 1)];

		if (pair->delays_us <= least) {
			least = pair->delays_us;
			dispersion_ns = pair->dispersion_ns;
		}
	}
	return fx_div(FX_ONE, fx_seconds(dispersion_ns));
}

/*
 * An acknowledgement of packets of the train. Both of a pair must have left in the
 * same microsecond: packets that the sender itself spread, because its program or a
 * processor was late, tell of that and not of the bottleneck.
 */
static SELDOM void ccpd_paired(struct sock *sk, __u32 now_us, __u32 covered, __u32 rtt_us)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct memory *m = ccpd_memory(sk);
	__u64 now_ns = tp->tcp_clock_cache;
	struct pair *pair;
	__s64 spread_ns;
	__u64 apart_ns;
	__u32 packets;

	if (!m)
		return;
	packets = train_heard(&flow->train, &m->heard_una, now_us, tp->snd_una, covered,
			      tp->mss_cache);
	if (!packets) {
		m->heard_ns = now_ns;
		m->heard_rtt_us = rtt_us;
		return;
	}
	apart_ns = now_ns - m->heard_ns;
	if (!apart_ns || apart_ns >> 32)
		return;
	spread_ns = (__s64)apart_ns - 1000 * ((__s64)rtt_us - (__s64)m->heard_rtt_us);
	if (spread_ns < -2000 || spread_ns > 2000)
		return;
	pair = &m->pairs[m->count & (MOST_PAIRS - 1)];
	pair->delays_us = m->heard_rtt_us + rtt_us;
	pair->dispersion_ns = (__u32)apart_ns / packets;
	m->count++;
	flow->capacity_q32 = ccpd_capacity(by, m);
	ccpd_tell(flow->capacity_q32);
}

/* How long ago, and what was committed, about a round trip ago or at the acknowledgement before. */
static inline void ccpd_look_back(const struct law *by, struct flow *flow, struct memory *m,
				  __u32 now_us, __u32 span_us, struct ccp_path *observation)
{
	__u32 age_us;

	if (!flow->past)
		return;
	for (int i = 0; m && i < PAST && m->end - m->first >= 2; i++) {
		const struct moment *next = &m->past[(m->first + 1) & (PAST - 1)];

		if (now_us - next->us < span_us)
			break;
		m->first++;
		flow->then_us = next->us;
		flow->then_q32 = next->value_q32;
	}
	age_us = now_us - flow->then_us;
	if (!age_us || (by->lookback == LOOK_ROUND_TRIP && 2ULL * age_us < span_us))
		return;
	observation->earlier_s_q32 = seconds(age_us);
	observation->earlier_q32 = flow->then_q32;
}

/*
 * (3) as printed allows much that is not sent, so what counts of the last moment is
 * what was in flight when all had been sent in response: as this acknowledgement came.
 */
static SELDOM void ccpd_sent(struct sock *sk, __u32 in_flight)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct memory *m = by->lookback == LOOK_ROUND_TRIP ? ccpd_memory(sk) : NULL;
	__s64 sent_q32 = fx_count(in_flight);

	if (m) {
		__s64 *value_q32 = &m->past[(m->end - 1) & (PAST - 1)].value_q32;

		*value_q32 = fx_add(*value_q32, sent_q32);
	}
	if (flow->then_us == flow->stepped_us)
		flow->then_q32 = fx_add(flow->then_q32, sent_q32);
	flow->past = 1;
}

static inline void ccpd_commit(struct flow *flow, struct memory *m, __u32 now_us, __s64 value_q32,
			       __u8 past)
{
	if (m) {
		if (!flow->past)
			m->first = m->end;
		m->past[m->end & (PAST - 1)].us = now_us;
		m->past[m->end & (PAST - 1)].value_q32 = value_q32;
		m->end++;
		if (m->end - m->first > PAST)
			m->first++;
	}
	flow->stepped_us = now_us;
	if (m && flow->past) {
		flow->past = past;
		return;
	}
	flow->past = past;
	flow->then_us = now_us;
	flow->then_q32 = value_q32;
}

/* (5) and (6) */
static inline void ccpd_see(const struct flow *flow, __u32 in_flight, struct ccp_path *observation)
{
	const struct path *path = &flow->path;

	observation->in_flight_q32 = fx_count(in_flight);
	if (!flow->capacity_q32)
		return;
	observation->buffer_q32 =
		fx_mul(flow->capacity_q32, fx_sub(seconds(flow->most_rtt_us), path->base_rtt_q32));
	observation->level_q32 =
		fx_max(fx_mul(flow->capacity_q32, fx_sub(path->rtt_q32, path->base_rtt_q32)), 0);
}

/* The law is called for a window; a step of the past has gone by, or has not. */
static SELDOM void ccpd_ask(struct sock *sk, __u32 packets, __u32 span_us, __u32 step)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	__u32 now_us = (__u32)tcp_sk(sk)->tcp_mstamp;
	struct memory *m = step && by->lookback == LOOK_ROUND_TRIP ? ccpd_memory(sk) : NULL;
	struct ccp law_now = ccpd_law(flow);
	struct ccp_path observation = {};

	ccpd_see(flow, in_flight(tcp_sk(sk)), &observation);
	if (by->lookback != LOOK_NOWHERE)
		ccpd_look_back(by, flow, m, now_us, span_us, &observation);
	ccp_ack(&by->ccp, &law_now, packets, &observation);
	ccpd_keep(flow, &law_now);
	if (step && by->ccp.implicit)
		ccpd_commit(flow, m, now_us,
			    fx_add(observation.level_q32,
				   fx_max(observation.in_flight_q32, law_now.window_q32)),
			    1);
	else if (step)
		ccpd_commit(flow, m, now_us, observation.level_q32, 2);
}

static SELDOM void ccpd_cut(struct sock *sk, __u32 in_flight)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct memory *m = ccpd_memory(sk);
	struct ccp law_now = ccpd_law(flow);
	struct ccp_path observation = {};

	if (m) {
		m->recover = tcp_sk(sk)->snd_nxt;
		flow->recovery = 1;
	}
	ccpd_see(flow, in_flight, &observation);
	ccp_cut(&by->ccp, &law_now, &observation);
	ccpd_keep(flow, &law_now);
	ccpd_forget(flow, tcp_sk(sk));
}

/*
 * Section V: the window stays "until all segments transmitted during that window are
 * acknowledged". The kernel begins another recovery at once where something of this
 * one is still missing, and ends it early where it was spurious.
 */
static SELDOM void ccpd_recovery(struct sock *sk)
{
	struct flow *flow = inet_csk_ca(sk);
	struct memory *m = ccpd_memory(sk);

	flow->recovery = m && flow->path.state == TCP_CA_RECOVERY &&
			 (__s32)(tcp_sk(sk)->snd_una - m->recover) < 0;
}

/*
 * Whether this acknowledgement begins a recovery. In one of section V no loss does: it
 * is sent again, and the recovery ends where it would have ended.
 */
static inline int ccpd_begins(struct sock *sk, const struct rate_sample *rs)
{
	struct flow *flow = inet_csk_ca(sk);
	struct path *path = &flow->path;
	int was = flow->recovery;

	if (was)
		ccpd_recovery(sk);
	if (flow->recovery) {
		path->cut = 0;
		path->left = 0;
		if (host_lost_again(path, rs))
			flow->once = tcp_sk(sk)->snd_nxt;
		return 0;
	}
	if (!host_cut(path, tcp_sk(sk), rs))
		return 0;
	/* The recovery before is over: the law is called for its end before it is for the next. */
	if (was)
		ccpd_ask(sk, 1, 0, 0);
	return 1;
}

/*
 * Section V: a duplicate acknowledgement allows a retransmission, whatever the
 * window, and so does a partial one (RFC 6582). The kernel looks at its window right
 * after this, and sends what is lost before what is new; an acknowledgement that tells
 * of several packets allows as many.
 */
static inline void ccpd_mend(struct tcp_sock *tp, const struct rate_sample *rs)
{
	__u32 allowed, missing = tp->lost_out - tp->retrans_out;

	if ((__s32)missing <= 0)
		return;
	allowed = in_flight(tp) + (missing < rs->acked_sacked ? missing : rs->acked_sacked);
	if (tp->snd_cwnd < allowed)
		tp->snd_cwnd = allowed;
}

SEC("struct_ops")
void BPF_PROG(ccpd_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	__u32 now_us = (__u32)tp->tcp_mstamp, mss = tp->mss_cache;
	__u32 una = tp->snd_una, covered = una - flow->una, span_us;
	int sure = covered && (__s32)(flow->una - flow->once) >= 0;
	__u32 step, packets;
	int sampled = 0;
	__s64 rtt_q32;

	if (!path->open)
		return;
	flow->una = una;
	if (flow->past == 2)
		ccpd_sent(sk, rs->prior_in_flight);
	if (ccpd_begins(sk, rs))
		ccpd_cut(sk, rs->prior_in_flight);
	if (sure && host_sample(path, rs, &rtt_q32)) {
		__u32 rtt_us = (__u32)rs->rtt_us;
		__s64 change = fx_mul(by->rtt_weight_q32, fx_sub(rtt_q32, path->rtt_q32));

		path->rtt_q32 = flow->afresh ? rtt_q32 : fx_add(path->rtt_q32, change);
		flow->afresh = 0;
		if (rtt_us > flow->most_rtt_us)
			flow->most_rtt_us = rtt_us;
		sampled = 1;
	}
	span_us = (__u32)microseconds(path->rtt_q32);
	ccpd_released(sk, flow, now_us, span_us);
	if (sampled && flow->train.state != TRAIN_NONE && (__s32)(una - flow->train.first) > 0)
		ccpd_paired(sk, now_us, covered, (__u32)rs->rtt_us);
	step = !flow->past || by->lookback == LOOK_ACKNOWLEDGEMENT ||
	       32ULL * (now_us - flow->stepped_us) >= span_us;
	/* After a timeout an acknowledgement tells of one packet, whatever it covers (RFC 3465, section 2.3). */
	packets = !sure || covered <= mss ? 1 : (covered + mss - 1) / mss;
	if (covered && !flow->recovery && (step || flow->slow_start || flow->recovers))
		ccpd_ask(sk, packets, span_us, step);
	host_allow(sk, flow->window_q32, 0);
	if (flow->recovery)
		ccpd_mend(tp, rs);
	host_trace(sk, path, rs, flow->window_q32, 0, flow->capacity_q32);
}

/* The kernel calls this when it counts a loss; the output of the law follows in ccpd_control. */
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
