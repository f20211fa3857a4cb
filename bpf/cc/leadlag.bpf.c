// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The lead-lag ECN protocol of Paganini, Wang, Low and Doyle as a controller of
 * this kernel; the law is bpf/law/leadlag.h, and what is common to all of them
 * bpf/cc/host.h.
 *
 *   penstock linux attach leadlag --set law.taubar='200 ms'
 *   penstock linux attach leadlag --set law.signal=delay --set law.form=linearised
 *   penstock linux detach leadlag
 *
 * By marks it goes by a queue that tells a price (bpf/tc/price.bpf.c, or `price`
 * on an emulated link), and both ends must have it: bpf/cc/echo.h. A connection
 * whose other end does not speak ECN gets CUBIC instead: without marks nothing but
 * losses would hold this law back. With the signal delay it needs no marks: it leaves ECN to the
 * kernel, whose echo is the classic one then.
 *
 * The period goes by between acknowledgements: those that have gone by are made
 * up for when the next one comes, with what was known before it. Nothing else
 * reads what they change, so that this is as good as a timer.
 */
#include "host.h"
#include "echo.h"
#include "law/leadlag.h"

/* Length of the longest register of marks, and one more price than that. */
#define MOST_MARKS 64
/* Periods made up for at most; a connection that was silent longer starts from there. */
#define MOST_TICKS 100

struct law {
	struct leadlag_params leadlag;
	__u64 delay;      /* 1: by delay, 0: by marks */
	__u64 linearised; /* 1: without exponentials */
	__u64 period_us;
	__u64 marks;                     /* packets in the register */
	__s64 price_q32[MOST_MARKS + 1]; /* s, by how many of them were marked */
};

const volatile struct law law SEC(".rodata.law") = {};

struct flow {
	struct path path;
	struct leadlag leadlag;
	struct echo echo;
	__u64 marks;   /* the latest packets, the newest in bit zero */
	__u64 tick_us; /* when the last period ended */
};

/* From linux/in.h and linux/tcp.h. */
#define IPPROTO_TCP 6
#define TCP_CONGESTION 13

static const char otherwise[] = "cubic";

_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

SEC("struct_ops")
void BPF_PROG(leadlag_open, struct sock *sk)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);

	/* A new controller is not opened here: the kernel has opened it already. */
	if (!by->delay && !(tcp_sk(sk)->ecn_flags & TCP_ECN_OK) &&
	    !bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, (void *)otherwise, sizeof(otherwise)))
		return;
	host_open(sk, &flow->path);
	echo_open(sk, &flow->echo);
	flow->leadlag.window_q32 = FX_ONE;
	flow->leadlag.target_q32 = FX_ONE;
	flow->leadlag.xi_q32 = 0;
	flow->marks = 0;
	flow->tick_us = tcp_sk(sk)->tcp_mstamp;
}

SEC("struct_ops")
void BPF_PROG(leadlag_close, struct sock *sk)
{
	COUNT(closed, 1);
}

SEC("struct_ops")
void BPF_PROG(leadlag_event, struct sock *sk, int event)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);

	if (by->delay)
		return;
	if (event == CA_EVENT_ECN_IS_CE)
		echo_hear(sk, &flow->echo, 1);
	else if (event == CA_EVENT_ECN_NO_CE)
		echo_hear(sk, &flow->echo, 0);
}

/* Over what a window is spread: by delay the latest round trip, by marks the smallest. */
static inline __s64 leadlag_spread(const struct law *by, const struct path *path)
{
	return by->delay ? path->rtt_q32 : path->base_rtt_q32;
}

SEC("struct_ops")
void BPF_PROG(leadlag_state, struct sock *sk, __u8 state)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	__s64 rtt_q32 = flow->path.rtt_q32;

	if (host_state(sk, &flow->path, state)) {
		/* The latest round trip is no average, which would start over. */
		flow->path.rtt_q32 = rtt_q32;
		leadlag_cut(&by->leadlag, &flow->leadlag);
		host_allow(sk, flow->leadlag.window_q32, leadlag_spread(by, &flow->path));
	}
}

/* See MarkRegister of crates/law/src/estimate/marks.rs: the marked ones last. */
static inline void leadlag_register(const struct law *by, struct flow *flow, __u32 packets,
				    __u32 marked)
{
	__u64 kept = ~0ULL >> (64 - by->marks);
	__u64 ones = marked >= 64 ? ~0ULL : (1ULL << marked) - 1;
	__u64 before = packets >= 64 ? 0 : flow->marks << packets;

	flow->marks = (before | ones) & kept;
}

static inline __s64 leadlag_price(const struct law *by, const struct flow *flow)
{
	__u32 marks = (__u32)__builtin_popcountll(flow->marks);

	/* The compiler knows how many bits there are at most; the verifier wants to see it. */
	asm volatile("" : "+r"(marks));
	return by->price_q32[marks <= MOST_MARKS ? marks : MOST_MARKS];
}

/* The period went by, under what was known then. */
static inline void leadlag_period(const struct law *by, struct leadlag *s, const struct path *path,
				  __s64 price_q32)
{
	const struct leadlag_params *p = &by->leadlag;
	__s64 base_q32 = path->base_rtt_q32;

	if (by->delay && by->linearised)
		leadlag_tick_linearised_delay(p, s, base_q32, path->rtt_q32);
	else if (by->delay)
		leadlag_tick_delay(p, s, base_q32, path->rtt_q32);
	else if (by->linearised)
		leadlag_tick_linearised(p, s, price_q32, base_q32);
	else
		leadlag_tick(p, s, price_q32, base_q32);
}

/* The periods that have gone by since the acknowledgement before. */
static inline void leadlag_catch_up(const struct law *by, struct flow *flow, __u64 now_us)
{
	struct leadlag law_now = flow->leadlag;
	__s64 price_q32 = by->delay ? 0 : leadlag_price(by, flow);

	for (int i = 0; i < MOST_TICKS && now_us - flow->tick_us >= by->period_us; i++) {
		flow->tick_us += by->period_us;
		leadlag_period(by, &law_now, &flow->path, price_q32);
	}
	if (now_us - flow->tick_us >= by->period_us)
		flow->tick_us = now_us;
	flow->leadlag = law_now;
}

SEC("struct_ops")
void BPF_PROG(leadlag_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct law *by = AS_LOADED(struct law, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	__u32 packets = rs->acked_sacked, marked = 0;
	__u64 now_us = tp->tcp_mstamp;
	__s64 rtt_q32, price_q32 = 0;

	if (!path->open)
		return;
	if (!path->known)
		flow->tick_us = now_us;
	if (now_us - flow->tick_us >= by->period_us)
		leadlag_catch_up(by, flow, now_us);
	if (host_cut(path, tp, rs))
		leadlag_cut(&by->leadlag, &flow->leadlag);
	if (host_sample(path, rs, &rtt_q32))
		path->rtt_q32 = rtt_q32;
	if (!by->delay) {
		marked = echo_count(tp, &flow->echo, packets);
		leadlag_register(by, flow, packets, marked);
		if (marked)
			COUNT(marked, marked);
		if (habits.traced)
			price_q32 = leadlag_price(by, flow);
	}
	if (packets && host_settled(path, rs, flow->leadlag.window_q32))
		leadlag_ack(&by->leadlag, &flow->leadlag, packets);
	host_allow(sk, flow->leadlag.window_q32, leadlag_spread(by, path));
	host_trace(sk, path, rs, flow->leadlag.window_q32, marked, price_q32);
}

/* The kernel calls this when it counts a loss; the output of the law follows in leadlag_control. */
SEC("struct_ops")
__u32 BPF_PROG(leadlag_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The law knows no loss that was none. */
SEC("struct_ops")
__u32 BPF_PROG(leadlag_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops leadlag = {
	.init = (void *)leadlag_open,
	.release = (void *)leadlag_close,
	.set_state = (void *)leadlag_state,
	.cwnd_event = (void *)leadlag_event,
	.cong_control = (void *)leadlag_control,
	.ssthresh = (void *)leadlag_ssthresh,
	.undo_cwnd = (void *)leadlag_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = "leadlag",
};
