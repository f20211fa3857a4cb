// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Copa as a controller of this kernel; the law is bpf/law/copa.h, and what is common
 * to all of them bpf/cc/host.h.
 *
 *   penstock linux attach copa --set law.delta=0.1
 *   penstock linux attach copa --set law.competitive=false
 *   penstock linux detach copa
 *
 * It is called at each acknowledgement, in recovery too, as in the simulator
 * (crates/packets/src/detail.rs), and knows losses in the competitive mode only. The
 * round trip of an acknowledgement is the kernel's in microseconds, as it is. One of data
 * that were sent again counts none: the kernel's is then by TCP's timestamps, in whole
 * milliseconds, and one that is too short would hold the rate down for as long as the
 * smallest round trip is remembered.
 *
 * The window does not grow while the application is short of data (tcp_sock.app_limited),
 * and while less than half of it is in flight: the receiver's window limits then, which the
 * kernel does not tell.
 *
 * Packets are spaced at twice the rate of the window over the standing round trip
 * (section 2.1).
 */
#include "host.h"
#include "law/copa.h"

struct law {
	struct copa_params copa;
	__s64 weight_q32; /* of a round trip in the average */
};

const volatile struct law law SEC(".rodata.law") = {};

struct flow {
	struct path path;
	__s64 window_q32;
	__s64 velocity_q32;
	__s64 delta_q32;
	__s64 min_rtt_q32;
	__s64 standing_q32;
	__s64 since_q32;
	__s64 before_q32;
	__u8 slow_start : 1;
	__u8 competes : 1;
	__u8 up : 1;
	__u8 lost : 1;
	__u8 steady : 2;
	__u8 afresh : 1; /* the average starts with the next round trip */
};

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");
_Static_assert(COPA_STEADY <= 3, "steady has two bits");

struct {
	__uint(type, BPF_MAP_TYPE_SK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct copa_memory);
} memories SEC(".maps");

static inline struct copa copa_law(const struct flow *flow)
{
	return (struct copa){
		.window_q32 = flow->window_q32,
		.velocity_q32 = flow->velocity_q32,
		.delta_q32 = flow->delta_q32,
		.min_rtt_q32 = flow->min_rtt_q32,
		.standing_q32 = flow->standing_q32,
		.since_q32 = flow->since_q32,
		.before_q32 = flow->before_q32,
		.slow_start = flow->slow_start,
		.competes = flow->competes,
		.up = flow->up,
		.steady = flow->steady,
		.lost = flow->lost,
	};
}

static inline void copa_keep(struct flow *flow, const struct copa *law_now)
{
	flow->window_q32 = law_now->window_q32;
	flow->velocity_q32 = law_now->velocity_q32;
	flow->delta_q32 = law_now->delta_q32;
	flow->min_rtt_q32 = law_now->min_rtt_q32;
	flow->standing_q32 = law_now->standing_q32;
	flow->since_q32 = law_now->since_q32;
	flow->before_q32 = law_now->before_q32;
	flow->slow_start = law_now->slow_start & 1;
	flow->competes = law_now->competes & 1;
	flow->up = law_now->up & 1;
	flow->steady = law_now->steady & 3;
	flow->lost = law_now->lost & 1;
}

/* Twice the rate of the window over the standing round trip. */
static inline void copa_allow(struct sock *sk, const struct flow *flow)
{
	host_allow(sk, flow->window_q32, flow->standing_q32 >> 1);
}

SEC("struct_ops")
void BPF_PROG(copa_open, struct sock *sk)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct copa_memory *memory;

	host_open(sk, &flow->path);
	flow->window_q32 = fx_max(fx_count(tcp_sk(sk)->snd_cwnd), COPA_LEAST);
	flow->velocity_q32 = FX_ONE;
	flow->delta_q32 = by->copa.delta_q32;
	flow->min_rtt_q32 = 0;
	flow->standing_q32 = 0;
	flow->since_q32 = 0;
	flow->before_q32 = 0;
	flow->slow_start = 1;
	flow->competes = 0;
	flow->up = 1;
	flow->steady = 0;
	flow->lost = 0;
	flow->afresh = 1;
	memory = bpf_sk_storage_get(&memories, tcp_sk(sk), NULL, BPF_SK_STORAGE_GET_F_CREATE);
	/* A socket may have had this controller before. */
	if (memory)
		copa_forget(memory);
}

SEC("struct_ops")
void BPF_PROG(copa_close, struct sock *sk)
{
	COUNT(closed, 1);
}

SEC("struct_ops")
void BPF_PROG(copa_state, struct sock *sk, __u8 state)
{
	struct flow *flow = inet_csk_ca(sk);
	__s64 rtt_q32 = flow->path.rtt_q32;
	struct copa law_now;

	if (!host_state(sk, &flow->path, state))
		return;
	/* The law goes by the average of before until there is another. */
	flow->path.rtt_q32 = rtt_q32;
	flow->afresh = 1;
	law_now = copa_law(flow);
	copa_timeout(&law_now);
	copa_keep(flow, &law_now);
	copa_allow(sk, flow);
}

/* A round trip: into the average, and into what the law remembers. */
static inline void copa_sample(struct sock *sk, const struct law *by, struct flow *flow,
			       struct copa *law_now, __s64 now_q32, __s64 rtt_q32)
{
	struct copa_memory *memory = bpf_sk_storage_get(&memories, tcp_sk(sk), NULL, 0);
	struct path *path = &flow->path;
	__s64 step_q32 = fx_mul(by->weight_q32, fx_sub(rtt_q32, path->rtt_q32));

	path->rtt_q32 = flow->afresh ? rtt_q32 : fx_add(path->rtt_q32, step_q32);
	flow->afresh = 0;
	if (memory)
		copa_measure(&by->copa, law_now, memory, now_q32, rtt_q32, path->rtt_q32);
}

SEC("struct_ops")
void BPF_PROG(copa_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	__s64 now_q32 = fx_seconds(1000 * tp->tcp_mstamp), rtt_q32 = 0;
	struct copa law_now;
	__u32 limited;

	if (!path->open)
		return;
	law_now = copa_law(flow);
	limited =
		tp->app_limited || 2 * (__u64)rs->prior_in_flight < (__u64)law_now.window_q32 >> 32;
	if (host_cut(path, tp, rs))
		copa_cut(&by->copa, &law_now);
	if (!(flag & FLAG_RETRANS_DATA_ACKED) && host_sample(path, rs, &rtt_q32))
		copa_sample(sk, by, flow, &law_now, now_q32, rtt_q32);
	copa_ack(&law_now, now_q32, path->rtt_q32, rs->acked_sacked, limited);
	if (host_round(path, tp, rs) && path->known)
		copa_round(&law_now);
	copa_keep(flow, &law_now);
	copa_allow(sk, flow);
	host_trace(sk, path, rs, flow->window_q32, 0, rtt_q32);
}

/* Losses reach the law by copa_control. */
SEC("struct_ops")
__u32 BPF_PROG(copa_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* A loss moves no window, so that none has to be undone. */
SEC("struct_ops")
__u32 BPF_PROG(copa_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops copa = {
	.init = (void *)copa_open,
	.release = (void *)copa_close,
	.set_state = (void *)copa_state,
	.cong_control = (void *)copa_control,
	.ssthresh = (void *)copa_ssthresh,
	.undo_cwnd = (void *)copa_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "copa",
};
