/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the controllers touch of the kernel's TCP. Only names matter: offsets are
 * found when a program is loaded (CO-RE), so that no generated header is needed.
 *
 * Source: linux/tcp.h, net/tcp.h, net/inet_connection_sock.h, net/sock.h.
 */
#ifndef PENSTOCK_CC_TCP_H
#define PENSTOCK_CC_TCP_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock_common {
	__u16 skc_num;
	__u16 skc_dport; /* network order */
};

struct sock {
	struct sock_common __sk_common;
	unsigned long sk_pacing_rate;     /* B/s; all ones: not paced */
	unsigned long sk_max_pacing_rate; /* of SO_MAX_PACING_RATE */
	__u32 sk_pacing_status;
};

struct inet_connection_sock {
	struct {
		__u8 pending;
	} icsk_ack;
	__u64 icsk_ca_priv[13];
};

struct tcp_sock {
	__u32 snd_cwnd; /* packets */
	__u32 snd_ssthresh;
	__u32 mss_cache;    /* B of payload */
	__u32 delivered;    /* packets */
	__u32 delivered_ce; /* those of them whose acknowledgement had an echo */
	__u32 lost;         /* packets: each transmission that was ever taken for lost */
	__u32 app_limited;  /* not zero: data were short when packets left that are in flight */
	__u32 packets_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 retrans_out;
	__u32 rcv_nxt;
	__u32 snd_nxt;
	__u32 snd_una;
	__u32 total_retrans;   /* segments sent again */
	__u64 tcp_clock_cache; /* when this acknowledgement came [ns] */
	__u64 tcp_mstamp;      /* the same [us] */
	__u64 first_tx_mstamp; /* when the newest packet that was delivered was sent [us] */
	__u8 ecn_flags;
};

struct rate_sample {
	__u64 prior_mstamp;    /* zero: nothing was delivered */
	__u32 prior_delivered; /* tcp_sock.delivered when the newest packet was sent */
	__s32 delivered;       /* packets, within the interval; negative: unknown */
	long interval_us;      /* not above zero: the sample is not valid */
	__s32 losses;
	__u32 acked_sacked;
	__u32 prior_in_flight;
	long rtt_us;         /* negative: none */
	__u8 is_app_limited; /* tcp_sock.app_limited when the newest packet was sent */
};

#pragma clang attribute pop

/* Of this only libbpf reads, by name; the kernel's has more. */
struct tcp_congestion_ops {
	__u32 (*ssthresh)(struct sock *sk);
	void (*set_state)(struct sock *sk, __u8 state);
	void (*cwnd_event)(struct sock *sk, int event);
	void (*cong_control)(struct sock *sk, __u32 ack, int flag, const struct rate_sample *rs);
	__u32 (*undo_cwnd)(struct sock *sk);
	char name[16];
	__u32 flags;
	void (*init)(struct sock *sk);
	void (*release)(struct sock *sk);
};

/*
 * Without NON_RESTRICTED the kernel refuses a controller as the default of a
 * namespace other than the first, and keeps a reference to it when it does.
 */
#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2

/* enum tcp_ca_state */
#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4

/* Of the flag of cong_control: data that were sent again are acknowledged (net/ipv4/tcp_input.c). */
#define FLAG_RETRANS_DATA_ACKED 8

/* enum tcp_ca_event */
#define CA_EVENT_ECN_NO_CE 4
#define CA_EVENT_ECN_IS_CE 5

/* tcp_sock.ecn_flags */
#define TCP_ECN_OK 1
#define TCP_ECN_QUEUE_CWR 2
#define TCP_ECN_DEMAND_CWR 4

/* inet_connection_sock.icsk_ack.pending */
#define ICSK_ACK_TIMER 2
#define ICSK_ACK_NOW 16

/* sock.sk_pacing_status */
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

static inline struct tcp_sock *tcp_sk(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

static inline struct inet_connection_sock *inet_csk(struct sock *sk)
{
	return (struct inet_connection_sock *)sk;
}

/* What a controller may remember of a socket: 104 bytes. */
static inline void *inet_csk_ca(struct sock *sk)
{
	return inet_csk(sk)->icsk_ca_priv;
}

#endif
