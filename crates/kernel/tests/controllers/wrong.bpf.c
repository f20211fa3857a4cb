// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Controllers that are wrong each in their own way, for crates/kernel/tests/controllers.rs;
 * without any of these names, one that is right and does nothing.
 */
#include "cc/tcp.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct tcp_sock___wrong {
	__u32 snd_cwnd_clamp;
};
#pragma clang attribute pop

#ifndef INCOMPLETE
SEC("struct_ops")
void BPF_PROG(wrong_control, struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs)
{
#ifdef CLAMP
	((struct tcp_sock___wrong *)sk)->snd_cwnd_clamp = 1;
#endif
#ifdef PACING
	sk->sk_pacing_rate = 1000000;
	sk->sk_pacing_status = SK_PACING_NEEDED;
#endif
	tcp_sk(sk)->snd_cwnd = 10;
}
#endif

SEC("struct_ops")
__u32 BPF_PROG(wrong_ssthresh, struct sock *sk)
{
	return 10;
}

SEC("struct_ops")
__u32 BPF_PROG(wrong_undo, struct sock *sk)
{
	return 10;
}

#ifdef RELEASE
static const char other[] = "reno";

SEC("struct_ops")
void BPF_PROG(wrong_release, struct sock *sk)
{
	bpf_setsockopt(sk, 6, 13, (void *)other, sizeof(other));
}
#endif

#ifdef UNSUPPORTED
SEC("struct_ops")
__u64 BPF_PROG(wrong_info, struct sock *sk, __u32 ext, int *attr, void *info)
{
	return 0;
}

struct tcp_congestion_ops___wrong {
	__u64 (*get_info)(struct sock *sk, __u32 ext, int *attr, void *info);
	__u32 (*ssthresh)(struct sock *sk);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
};
#define OPS struct tcp_congestion_ops___wrong
#else
#define OPS struct tcp_congestion_ops
#endif

#ifdef PLAIN
SEC(".struct_ops")
#else
SEC(".struct_ops.link")
#endif
OPS wrong = {
#ifdef UNSUPPORTED
	.get_info = (void *)wrong_info,
#endif
#ifdef RELEASE
	.release = (void *)wrong_release,
#endif
#ifndef INCOMPLETE
	.cong_control = (void *)wrong_control,
#endif
	.ssthresh = (void *)wrong_ssthresh,
	.undo_cwnd = (void *)wrong_undo,
#if defined(FAST)
	.name = "fast",
#elif defined(OTHER)
	.name = "other",
#else
	.name = "wrong",
#endif
};

#ifdef LICENCE
char _license[] SEC("license") = "none of the kernel's";
#else
char _license[] SEC("license") = "Dual BSD/GPL";
#endif
