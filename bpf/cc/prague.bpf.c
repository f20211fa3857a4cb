// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * TCP Prague as a controller of this kernel; the law is bpf/law/prague.h, and what is
 * common to all of them bpf/cc/host.h.
 *
 *   penstock linux attach prague --set law.virtual_rtt='25 ms'
 *   penstock linux detach prague
 *
 * Both ends must have it: marks are echoed packet by packet (bpf/cc/echo.h), since the
 * kernel accepts no accurate ECN (RFC 9768) here. Without ECN it responds to losses alone.
 *
 * What this kernel cannot do for it:
 *
 *   ECT(1)   the kernel sends ECT(0), and lets no controller change that: a queue that goes
 *            by ECT(1) (RFC 9331) takes its packets for those of a classic flow, unless a
 *            device on the way rewrites them
 *   windows  are whole packets: below two there is none
 */
#include "host.h"
#include "echo.h"
#include "law/prague.h"

struct law {
	struct prague_params prague;
	__s64 alpha_q32; /* until the first mark */
};

const volatile struct law law SEC(".rodata.law") = {};

struct flow {
	struct path path;
	__s64 window_q32;
	__s64 ssthresh_q32;
	__s64 alpha_q32;
	__s64 smoothed_rtt_q32;
	__s64 since_q32;
	__s64 reduced_q32;
	__u32 acked;  /* packets; the law counts whole ones */
	__u32 marked; /* packets */
	__u32 rounds;
	__u32 prior_rcv_nxt; /* of the echo */
	__u8 hears : 1;      /* of the echo: the last packet that came was marked */
	__u8 met : 1;
	__u8 reduced : 1;
};

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

static inline struct prague prague_law(const struct flow *flow)
{
	return (struct prague){
		.window_q32 = flow->window_q32,
		.ssthresh_q32 = flow->ssthresh_q32,
		.alpha_q32 = flow->alpha_q32,
		.smoothed_rtt_q32 = flow->smoothed_rtt_q32,
		.acked_q32 = fx_count(flow->acked),
		.marked_q32 = fx_count(flow->marked),
		.rounds_q32 = fx_count(flow->rounds),
		.since_q32 = flow->since_q32,
		.reduced_q32 = flow->reduced_q32,
		.met = flow->met,
		.reduced = flow->reduced,
	};
}

static inline void prague_keep(struct flow *flow, const struct prague *law_now)
{
	flow->window_q32 = law_now->window_q32;
	flow->ssthresh_q32 = law_now->ssthresh_q32;
	flow->alpha_q32 = law_now->alpha_q32;
	flow->smoothed_rtt_q32 = law_now->smoothed_rtt_q32;
	flow->acked = (__u32)((__u64)law_now->acked_q32 >> 32);
	flow->marked = (__u32)((__u64)law_now->marked_q32 >> 32);
	flow->rounds = (__u32)((__u64)law_now->rounds_q32 >> 32);
	flow->since_q32 = law_now->since_q32;
	flow->reduced_q32 = law_now->reduced_q32;
	flow->met = law_now->met & 1;
	flow->reduced = law_now->reduced & 1;
}

SEC("struct_ops")
void BPF_PROG(prague_open, struct sock *sk)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	host_open(sk, &flow->path);
	flow->window_q32 = fx_max(fx_count(tp->snd_cwnd), by->prague.least_window_q32);
	flow->ssthresh_q32 = FX_MOST;
	flow->alpha_q32 = by->alpha_q32;
	flow->smoothed_rtt_q32 = 0;
	flow->since_q32 = fx_seconds(1000 * tp->tcp_mstamp);
	flow->reduced_q32 = FX_LEAST;
	flow->acked = 0;
	flow->marked = 0;
	flow->rounds = 0;
	flow->prior_rcv_nxt = tp->rcv_nxt;
	flow->hears = 0;
	flow->met = 0;
	flow->reduced = 0;
}

SEC("struct_ops")
void BPF_PROG(prague_close, struct sock *sk)
{
	COUNT(closed, 1);
}

static inline void prague_hear(struct sock *sk, struct flow *flow, __u8 marked)
{
	struct echo echo = {.prior_rcv_nxt = flow->prior_rcv_nxt, .marked = flow->hears};

	echo_hear(sk, &echo, marked);
	flow->prior_rcv_nxt = echo.prior_rcv_nxt;
	flow->hears = echo.marked & 1;
}

SEC("struct_ops")
void BPF_PROG(prague_event, struct sock *sk, int event)
{
	struct flow *flow = inet_csk_ca(sk);

	if (event == CA_EVENT_ECN_IS_CE)
		prague_hear(sk, flow, 1);
	else if (event == CA_EVENT_ECN_NO_CE)
		prague_hear(sk, flow, 0);
}

SEC("struct_ops")
void BPF_PROG(prague_state, struct sock *sk, __u8 state)
{
	struct flow *flow = inet_csk_ca(sk);
	__s64 rtt_q32 = flow->path.rtt_q32;
	struct prague law_now;

	if (!host_state(sk, &flow->path, state))
		return;
	/* The latest round trip is no average, which would start over. */
	flow->path.rtt_q32 = rtt_q32;
	law_now = prague_law(flow);
	prague_timeout(&law_now);
	prague_keep(flow, &law_now);
	host_allow(sk, law_now.window_q32, prague_spread(&law_now));
}

SEC("struct_ops")
void BPF_PROG(prague_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	struct prague law_now;
	__u32 marked;
	__s64 rtt_q32;

	if (!path->open)
		return;
	law_now = prague_law(flow);
	if (host_cut(path, tp, rs))
		prague_cut(&by->prague, &law_now);
	if (host_sample(path, rs, &rtt_q32))
		path->rtt_q32 = rtt_q32;
	marked = host_marked(path, tp, rs);
	/* The receiver would take it for "the window was reduced", and echo no more. */
	tp->ecn_flags &= (__u8)~TCP_ECN_QUEUE_CWR;
	if (rs->acked_sacked && host_settled(path, rs, law_now.window_q32))
		prague_ack(&by->prague, &law_now, fx_seconds(1000 * tp->tcp_mstamp), path->rtt_q32,
			   rs->acked_sacked, marked);
	prague_keep(flow, &law_now);
	host_allow(sk, law_now.window_q32, prague_spread(&law_now));
	host_trace(sk, path, rs, law_now.window_q32, marked, 0);
}

/* The kernel calls this when it counts a loss; the output of the law follows in prague_control. */
SEC("struct_ops")
__u32 BPF_PROG(prague_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The law knows no loss that was none. */
SEC("struct_ops")
__u32 BPF_PROG(prague_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops prague = {
	.init = (void *)prague_open,
	.release = (void *)prague_close,
	.set_state = (void *)prague_state,
	.cwnd_event = (void *)prague_event,
	.cong_control = (void *)prague_control,
	.ssthresh = (void *)prague_ssthresh,
	.undo_cwnd = (void *)prague_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "prague",
};
