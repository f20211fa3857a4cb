// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The law of crates/cli/tests/own_kernel.rs in C, right or wrong in one way: by a name that the test defines.
 */
#include "cc/observation.h"

struct brisk_params {
	__s64 alpha_q32;
	__s64 gain_q32;
	__s64 rise_q32;
#ifdef WIDE
	__s64 more_q32;
#endif
};

struct brisk {
	__s64 window_q32;
	__u32 ticks;
};

static inline void brisk_event(const struct brisk_params *p, struct brisk *s,
			       const struct observation *observation)
{
	__s64 queued, step;

	switch (observation->event) {
	case EVENT_ACK:
		if (observation->rtt_q32 <= 0)
			break;
		queued = fx_mul(s->window_q32, fx_sub(FX_ONE, fx_div(observation->base_rtt_q32,
								     observation->rtt_q32)));
		step = fx_div(fx_mul(p->gain_q32, fx_sub(p->alpha_q32, queued)), s->window_q32);
		s->window_q32 = fx_add(s->window_q32, fx_mul(fx_count(observation->packets), step));
		break;
	case EVENT_TICK:
		s->ticks++;
#ifdef SLIP
		if (s->ticks % 4 == 1)
#else
		if (s->ticks % 4 == 0)
#endif
			s->window_q32 = fx_add(s->window_q32, p->rise_q32);
		break;
	case EVENT_ROUND:
		s->window_q32 = fx_sub(s->window_q32, p->rise_q32);
		break;
	case EVENT_CONGESTION:
	case EVENT_TIMEOUT:
		s->window_q32 = fx_mul(s->window_q32, FX_HALF);
		break;
	}
	s->window_q32 = fx_max(s->window_q32, 2 * FX_ONE);
}

#ifdef NO_OPS
#include "cc/host.h"

const volatile struct brisk_params law SEC(".rodata.law") = {};

SEC("syscall")
int brisk_runs(void *nothing)
{
	const struct brisk_params *by = AS_LOADED(struct brisk_params, law);
	struct observation observation = {};
	struct brisk state = {};

	brisk_event(by, &state, &observation);
	return habits.paced && origin.text[0] && state.ticks;
}
#elif defined(HOST)
/* A host of its own: with operations of no link, or with maps whose names cc/host.h and ccpd have. */
#ifdef MAPS
#define counters own_counters
#endif
#include "cc/host.h"
#ifdef UNLINKED
#define OPERATIONS ".struct_ops"
#else
#define OPERATIONS ".struct_ops.link"
#endif

const volatile struct brisk_params law SEC(".rodata.law") = {};

#ifdef MAPS
#undef counters
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} counters SEC(".maps"), estimates SEC(".maps");
#endif

SEC("struct_ops")
void BPF_PROG(brisk_open, struct sock *sk)
{
	host_open(sk, inet_csk_ca(sk));
}

SEC("struct_ops")
void BPF_PROG(brisk_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
	const struct brisk_params *by = AS_LOADED(struct brisk_params, law);
	struct brisk state = {.window_q32 = by->alpha_q32};
	struct observation observation = {.event = EVENT_TICK};

#ifdef MAPS
	__u64 key = 0, *counted = bpf_map_lookup_elem(&counters, &key);

	if (!counted || !bpf_map_lookup_elem(&estimates, &key))
		state.ticks++;
#endif
	brisk_event(by, &state, &observation);
	host_allow(sk, state.window_q32, 0);
	host_trace(sk, inet_csk_ca(sk), rs, state.window_q32, origin.text[0] ? 1 : 0, 0);
}

SEC("struct_ops")
__u32 BPF_PROG(brisk_ssthresh, struct sock *sk)
{
	return tcp_sk(sk)->snd_ssthresh;
}

SEC("struct_ops")
__u32 BPF_PROG(brisk_undo, struct sock *sk)
{
	return tcp_sk(sk)->snd_cwnd;
}

SEC(OPERATIONS)
struct tcp_congestion_ops brisk_ops = {
	.init = (void *)brisk_open,
	.cong_control = (void *)brisk_control,
	.ssthresh = (void *)brisk_ssthresh,
	.undo_cwnd = (void *)brisk_undo,
	.flags = TCP_CONG_NON_RESTRICTED,
	.name = LAW_NAME,
};
#else
#ifndef LAW_NAME
#define LAW_NAME "brisk"
#endif
#define LAW_PARAMS struct brisk_params
#define LAW_STATE struct brisk
#define LAW_OPEN(params, state, window) ((state)->window_q32 = (window), (state)->ticks = 0)
#define LAW_EVENT brisk_event
#define LAW_WINDOW(params, state, observation) ((state)->window_q32)
#define LAW_GAP(params, state, observation) fx_div((observation)->rtt_q32, (state)->window_q32)
#include "cc/controller.h"
#endif
