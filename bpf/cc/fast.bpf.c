// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * FAST TCP as a controller of this kernel; the law is bpf/law/fast.h, and what is
 * common to all of them bpf/cc/host.h.
 *
 *   penstock linux attach fast --set law.alpha='50 packets'
 *   sysctl net.ipv4.tcp_congestion_control=fast      in a namespace, or
 *   setsockopt(s, IPPROTO_TCP, TCP_CONGESTION, "fast", 4)
 *   penstock linux detach fast
 *
 * Once a round trip the law is called; between, the average round trip follows
 * every acknowledgement, and with it the spacing of packets.
 */
#include "host.h"
#include "law/fast.h"

struct law {
	struct fast_params fast;
	__s64 over_window_q32; /* of the average: over the window, */
	__s64 most_q32;        /* and at most this */
};

const volatile struct law law SEC(".rodata.law") = {};

struct flow {
	struct path path;
	struct fast fast;
	__s64 weight_q32; /* of a round trip in the average, under this window */
};

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

/*
 * See RttAverage of crates/law/src/cc.rs: min(over_window / window, most). The window
 * changes once a round trip, so that no acknowledgement needs to divide.
 */
static inline void fast_weigh(const struct law *by, struct flow *flow)
{
	flow->weight_q32 = fx_min(fx_div(by->over_window_q32, flow->fast.window_q32), by->most_q32);
}

SEC("struct_ops")
void BPF_PROG(fast_open, struct sock *sk)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);

	host_open(sk, &flow->path);
	flow->fast = (struct fast){};
	flow->fast.window_q32 = fx_max(fx_count(tcp_sk(sk)->snd_cwnd), 2 * FX_ONE);
	fast_weigh(by, flow);
}

SEC("struct_ops")
void BPF_PROG(fast_close, struct sock *sk)
{
	COUNT(closed, 1);
}

SEC("struct_ops")
void BPF_PROG(fast_state, struct sock *sk, __u8 state)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);

	if (host_state(sk, &flow->path, state)) {
		fast_timeout(&flow->fast);
		fast_weigh(by, flow);
		host_allow(sk, flow->fast.window_q32, 0);
	}
}

SEC("struct_ops")
void BPF_PROG(fast_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	__s64 rtt_q32;

	if (!path->open)
		return;
	/* The sample was taken under the window of before. */
	if (host_sample(path, rs, &rtt_q32)) {
		__s64 step = fx_mul(flow->weight_q32, fx_sub(rtt_q32, path->rtt_q32));

		path->rtt_q32 = path->rtt_q32 ? fx_add(path->rtt_q32, step) : rtt_q32;
	}
	if (host_cut(path, tp, rs)) {
		fast_cut(&flow->fast);
		fast_weigh(by, flow);
	}
	if (host_round(path, tp, rs) && path->rtt_q32 &&
	    host_settled(path, rs, flow->fast.window_q32)) {
		fast_round(&by->fast, &flow->fast, path->base_rtt_q32, path->rtt_q32);
		fast_weigh(by, flow);
	}
	host_allow(sk, flow->fast.window_q32, path->rtt_q32);
	host_trace(sk, path, rs, flow->fast.window_q32, 0, 0);
}

/* The kernel calls this when it counts a loss; the output of the law follows in fast_control. */
SEC("struct_ops")
__u32 BPF_PROG(fast_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The law knows no loss that was none. */
SEC("struct_ops")
__u32 BPF_PROG(fast_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops fast = {
	.init = (void *)fast_open,
	.release = (void *)fast_close,
	.set_state = (void *)fast_state,
	.cong_control = (void *)fast_control,
	.ssthresh = (void *)fast_ssthresh,
	.undo_cwnd = (void *)fast_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "fast",
};
