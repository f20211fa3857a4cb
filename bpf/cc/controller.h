/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * A whole controller around a law that is only arithmetic. It calls the law at the
 * events of bpf/cc/host.h, and gives it what the law's requirements in Rust name:
 * a period, an average round trip, echoes of marks as congestion events.
 *
 * Define before the include:
 *
 *   LAW_NAME     the law, as a string: at most 15 characters
 *   LAW_PARAMS   a structure: its parameters, in the order of `words` of its entry
 *   LAW_STATE    a structure: the numbers of its state as in Rust, in their order,
 *                then whatever is frozen there; 56 bytes at most
 *   LAW_OPEN(params, state, window_q32)
 *                the state of a new connection, which begins with this window
 *   LAW_EVENT(params, state, observation)
 *                what an event does, by `struct observation`
 *   LAW_WINDOW(params, state, observation)
 *                packets in flight at most, over 2^32
 *   LAW_GAP(params, state, observation)
 *                least time between two packets [s], over 2^32; zero leaves the
 *                spacing to acknowledgements
 *
 * and for a law that requires deliveries in Rust, and no other:
 *
 *   LAW_DELIVERY(params, state, delivery, observation)
 *                what an acknowledgement does, by `struct delivery`; in recovery too. It
 *                comes after EVENT_CONGESTION and before EVENT_ACK of the same
 *                acknowledgement. As in the simulator (crates/packets/src/detail.rs), such a
 *                law hears EVENT_ACK of a flow that leaves its window unused, and EVENT_ROUND
 *                in recovery. Its LAW_STATE has 48 bytes at most
 *
 * A program without that has no code for it.
 *
 * `law_replay` gives the law a trail of events without a socket: `linux replay` holds
 * every number of it against the law in Rust.
 */
#ifndef PENSTOCK_CC_CONTROLLER_H
#define PENSTOCK_CC_CONTROLLER_H

#include "cc/host.h"
#include "cc/observation.h"

/* The requirements of the law; written before the program is loaded. */
struct requirements {
	__s64 over_window_q32; /* weight of a round trip in the average: this over the window, */
	__s64 most_q32;        /* and at most this; zero: no average */
	__u64 period_us;       /* of ticks; zero: none */
	__u64 echoes;          /* 1: an echo of a mark is a congestion event (RFC 3168) */
};

const volatile struct requirements requirements SEC(".rodata.requirements") = {};
const volatile LAW_PARAMS law SEC(".rodata.law") = {};

#ifdef LAW_DELIVERY
/* By the section the loader knows that the law hears of deliveries. */
const volatile __u64 hears_deliveries SEC(".rodata.delivery") = 1;

#define MOST_STATE 48
#else
#define MOST_STATE 56
#endif

struct flow {
	struct path path;
	LAW_STATE state;
	__s64 weight_q32; /* of a round trip in the average, under this window; zero: it starts over */
	__u32 tick_us;    /* when the last period ended: the lower half of the kernel's clock */
	__u32 event_seq; /* data from here on count as sent after the last event */
#ifdef LAW_DELIVERY
	__u32 lost; /* tcp_sock's, at the acknowledgement before */
#endif
};

_Static_assert(sizeof(LAW_STATE) <= MOST_STATE,
	       "the law's state has 56 bytes at most, and with LAW_DELIVERY 48");
_Static_assert(sizeof(struct flow) <= 104, "fits into icsk_ca_priv");

/* Periods made up for at one acknowledgement; of a longer silence the rest is passed over. */
#define MOST_TICKS 1000

static inline void law_hear(const LAW_PARAMS *by, struct flow *flow, __u32 event, __u32 packets)
{
	struct observation observation = {
		.event = event,
		.packets = packets,
		.rtt_q32 = flow->path.rtt_q32,
		.base_rtt_q32 = flow->path.base_rtt_q32,
	};

	LAW_EVENT(by, &flow->state, &observation);
}

#ifdef LAW_DELIVERY
/* The acknowledgement with its rate sample. What the law does not read is not computed. */
static inline void law_deliver(const LAW_PARAMS *by, struct flow *flow, struct tcp_sock *tp,
			       int flag, const struct rate_sample *rs, __u32 marked)
{
	/* Of data that were sent again the kernel has a time in whole milliseconds, or none. */
	int timed = rs->rtt_us > 0 && !(flag & FLAG_RETRANS_DATA_ACKED);
	int rated = rs->interval_us > 0 && rs->delivered > 0;
	struct observation observation = {
		.event = EVENT_DELIVERY,
		.rtt_q32 = flow->path.rtt_q32,
		.base_rtt_q32 = flow->path.base_rtt_q32,
	};
	struct delivery delivery = {
		.now_q32 = fx_seconds(tp->tcp_mstamp * 1000),
		.delivered = tp->delivered,
		.lost = tp->lost,
		.in_flight = in_flight(tp),
		.app_limited = tp->app_limited != 0,
		.ack.packets = rs->acked_sacked,
		.ack.marked = marked,
		/* The kernel's own count leaves out what its timers find. */
		.ack.lost = tp->lost - flow->lost,
		.ack.in_flight_before = rs->prior_in_flight,
		.ack.rtt_q32 = timed ? seconds((__u64)rs->rtt_us) : 0,
	};

	flow->lost = tp->lost;
	if (rated) {
		delivery.rate.interval_q32 = seconds((__u64)rs->interval_us);
		delivery.rate.delivered = (__u32)rs->delivered;
		delivery.then.sent_q32 = fx_seconds(tp->first_tx_mstamp * 1000);
		delivery.then.delivered = rs->prior_delivered;
		delivery.then.app_limited = rs->is_app_limited;
	}
	(void)observation; /* of a law that goes by the delivery alone */
	LAW_DELIVERY(by, &flow->state, &delivery, &observation);
}
#endif

/* The output of the law becomes the kernel's. */
static inline __s64 law_allow(struct sock *sk, const LAW_PARAMS *by, struct flow *flow)
{
	struct observation observation = {.rtt_q32 = flow->path.rtt_q32,
					  .base_rtt_q32 = flow->path.base_rtt_q32};
	__s64 window_q32 = fx_max(LAW_WINDOW(by, &flow->state, &observation), FX_ONE);
	__s64 gap_q32 = LAW_GAP(by, &flow->state, &observation);

	(void)observation; /* of a law that goes by its state alone */
	/* Zero would start the average over. */
	if (flow->weight_q32)
		flow->weight_q32 = fx_max(fx_min(fx_div(requirements.over_window_q32, window_q32),
						 requirements.most_q32),
					  1);
	host_allow(sk, window_q32, 0);
	if (habits.paced && gap_q32 > 0) {
		__u64 rate = ((__u64)tcp_sk(sk)->mss_cache << 32) / (__u64)gap_q32;

		/* Zero would be no spacing at all. */
		host_pace(sk, rate ? rate : 1);
	} else if (habits.paced) {
		host_pace(sk, ~0UL);
	}
	return window_q32;
}

SEC("struct_ops")
void BPF_PROG(law_open, struct sock *sk)
{
	const LAW_PARAMS *by = AS_LOADED(LAW_PARAMS, law);
	struct flow *flow = inet_csk_ca(sk);

	host_open(sk, &flow->path);
	LAW_OPEN(by, &flow->state, fx_count(tcp_sk(sk)->snd_cwnd));
	flow->weight_q32 = 0;
	flow->tick_us = (__u32)tcp_sk(sk)->tcp_mstamp;
	flow->event_seq = tcp_sk(sk)->snd_una;
#ifdef LAW_DELIVERY
	flow->lost = tcp_sk(sk)->lost;
#endif
	law_allow(sk, by, flow);
}

SEC("struct_ops")
void BPF_PROG(law_close, struct sock *sk)
{
	COUNT(closed, 1);
}

SEC("struct_ops")
void BPF_PROG(law_state, struct sock *sk, __u8 state)
{
	const LAW_PARAMS *by = AS_LOADED(LAW_PARAMS, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	__s64 rtt_q32 = flow->path.rtt_q32;
	__u8 before = flow->path.state;

	if (host_state(sk, &flow->path, state)) {
		/* The law observes the last one; what comes next starts the average over. */
		flow->path.rtt_q32 = rtt_q32;
		flow->event_seq = tp->snd_nxt;
		law_hear(by, flow, EVENT_TIMEOUT, 0);
		law_allow(sk, by, flow);
		flow->weight_q32 = 0;
	}
	/*
	 * Recovery begins, and what is missing was sent before the last event, as where the
	 * same window had a mark. The kernel does not reduce twice either: it goes on from
	 * CWR without asking for another threshold (tcp_enter_recovery).
	 */
	if (state == TCP_CA_RECOVERY && before < TCP_CA_RECOVERY &&
	    (__s32)(tp->snd_una - flow->event_seq) < 0)
		flow->path.cut = 0;
}

/*
 * An echo is an event if everything up to the last one and something since is acknowledged
 * (RFC 3168, section 6.1.2). By then the receiver knows of the reduction: the echo is of
 * another mark. The kernel's own state does not tell that: it enters CWR for a full queue of
 * this machine too, and for a loss that a probe has mended.
 */
static inline void law_echo(struct flow *flow, struct tcp_sock *tp)
{
	if ((__s32)(tp->snd_una - flow->event_seq) <= 0)
		return;
	flow->path.cut = 1;
	if (tp->ecn_flags & TCP_ECN_OK)
		tp->ecn_flags |= TCP_ECN_QUEUE_CWR;
}

static long law_tick(__u32 at, void *context)
{
	struct flow **flow = context;

	law_hear(AS_LOADED(LAW_PARAMS, law), *flow, EVENT_TICK, 0);
	return 0;
}

/* The periods that have gone by since the acknowledgement before. */
static inline void law_catch_up(struct flow *flow, __u32 now_us)
{
	__u32 period_us = (__u32)requirements.period_us;
	__u32 ticks = (now_us - flow->tick_us) / period_us;

	flow->tick_us += ticks * period_us;
	bpf_loop(ticks < MOST_TICKS ? ticks : MOST_TICKS, law_tick, &flow, 0);
}

SEC("struct_ops")
void BPF_PROG(law_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const LAW_PARAMS *by = AS_LOADED(LAW_PARAMS, law);
	struct flow *flow = inet_csk_ca(sk);
	struct tcp_sock *tp = tcp_sk(sk);
	struct path *path = &flow->path;
	__s64 rtt_q32, window_q32 = fx_count(tp->snd_cwnd);
	__u32 now_us = (__u32)tp->tcp_mstamp, marked;

	if (!path->open)
		return;
	if (!path->known)
		flow->tick_us = now_us;
	if (requirements.period_us && now_us - flow->tick_us >= requirements.period_us)
		law_catch_up(flow, now_us);
	marked = host_marked(path, tp, rs);
	if (requirements.echoes && marked)
		law_echo(flow, tp);
	if (host_cut(path, tp, rs)) {
		flow->event_seq = tp->snd_nxt;
		law_hear(by, flow, EVENT_CONGESTION, 0);
	} else if ((__s32)(tp->snd_una - flow->event_seq) > 0) {
		/* It follows, so that it is never half of all numbers behind. */
		flow->event_seq = tp->snd_una - 1;
	}
	if (host_sample(path, rs, &rtt_q32)) {
		/* Taken under the window of before. */
		__s64 step = fx_mul(flow->weight_q32, fx_sub(rtt_q32, path->rtt_q32));

		path->rtt_q32 = flow->weight_q32 ? fx_add(path->rtt_q32, step) : rtt_q32;
		flow->weight_q32 = requirements.most_q32;
	}
#ifdef LAW_DELIVERY
	law_deliver(by, flow, tp, flag, rs, marked);
	if (rs->acked_sacked && path->state != TCP_CA_RECOVERY)
		law_hear(by, flow, EVENT_ACK, rs->acked_sacked);
	if (host_round(path, tp, rs) && path->known)
		law_hear(by, flow, EVENT_ROUND, 0);
#else
	if (rs->acked_sacked && host_settled(path, rs, window_q32))
		law_hear(by, flow, EVENT_ACK, rs->acked_sacked);
	if (host_round(path, tp, rs) && path->known && host_settled(path, rs, window_q32))
		law_hear(by, flow, EVENT_ROUND, 0);
#endif
	window_q32 = law_allow(sk, by, flow);
	host_trace(sk, path, rs, window_q32, marked, 0);
}

/* The kernel calls this when it counts a loss; the output of the law follows in law_control. */
SEC("struct_ops")
__u32 BPF_PROG(law_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

/* The law knows no loss that was none. */
SEC("struct_ops")
__u32 BPF_PROG(law_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops law_ops = {
	.init = (void *)law_open,
	.release = (void *)law_close,
	.set_state = (void *)law_state,
	.cong_control = (void *)law_control,
	.ssthresh = (void *)law_ssthresh,
	.undo_cwnd = (void *)law_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = LAW_NAME,
};

/* A step of a trail: an event, and the state after it. */
struct step {
	struct observation observation;
#ifdef LAW_DELIVERY
	struct delivery delivery; /* of EVENT_DELIVERY */
#endif
	__s64 window_q32;
	__s64 gap_q32;
	LAW_STATE state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* as many as there are steps, where a trail is given */
	__type(key, __u32);
	__type(value, struct step);
} trail SEC(".maps");

/* The context of law_replay: read, and written back. */
struct replay {
	__u64 steps;
	__s64 window_q32; /* of a new connection */
	__u64 elapsed_ns; /* what all steps took */
};

static long law_step(__u32 at, void *context)
{
	const LAW_PARAMS *by = AS_LOADED(LAW_PARAMS, law);
	struct step *step = bpf_map_lookup_elem(&trail, &at);
	__u32 last = at - 1;
	struct step *before = bpf_map_lookup_elem(&trail, &last);
	__s64 window_q32 = *(__s64 *)context;

	if (!step)
		return 1;
	if (before)
		step->state = before->state;
	else
		LAW_OPEN(by, &step->state, window_q32);
#ifdef LAW_DELIVERY
	if (step->observation.event == EVENT_DELIVERY)
		LAW_DELIVERY(by, &step->state, &step->delivery, &step->observation);
	else
#endif
		LAW_EVENT(by, &step->state, &step->observation);
	step->window_q32 = LAW_WINDOW(by, &step->state, &step->observation);
	step->gap_q32 = LAW_GAP(by, &step->state, &step->observation);
	return 0;
}

SEC("syscall")
int law_replay(struct replay *replay)
{
	__s64 window_q32 = replay->window_q32;
	__u64 start = bpf_ktime_get_ns();
	long done = bpf_loop((__u32)replay->steps, law_step, &window_q32, 0);

	replay->elapsed_ns = bpf_ktime_get_ns() - start;
	return done == (long)replay->steps ? 0 : 1;
}

#endif
