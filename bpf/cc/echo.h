/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Marks echoed packet by packet, at the receiver, and counted at the sender.
 *
 * Source: RFC 8257 (DCTCP), section 3.2: an acknowledgement at once when the mark
 * changes, so that every acknowledgement says how its packets were marked. Both
 * ends must have the controller, as there: the classic echo (RFC 3168) lasts
 * until a reduction is announced, and this one announces none.
 */
#ifndef PENSTOCK_CC_ECHO_H
#define PENSTOCK_CC_ECHO_H

#include "tcp.h"

struct echo {
	__u32 prior_rcv_nxt; /* what the last packet of the other kind reached */
	__u32 delivered_ce;  /* tcp_sock's, when it was last looked at */
	__u8 marked;         /* the last packet that came was */
};

static inline void echo_open(struct sock *sk, struct echo *echo)
{
	echo->prior_rcv_nxt = tcp_sk(sk)->rcv_nxt;
	echo->delivered_ce = tcp_sk(sk)->delivered_ce;
	echo->marked = 0;
}

static inline void echo_say(struct tcp_sock *tp, __u8 marked)
{
	if (marked)
		tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
	else
		tp->ecn_flags &= (__u8)~TCP_ECN_DEMAND_CWR;
}

/* A packet came, with a mark or without. */
static inline void echo_hear(struct sock *sk, struct echo *echo, __u8 marked)
{
	struct inet_connection_sock *icsk = inet_csk(sk);
	struct tcp_sock *tp = tcp_sk(sk);

	if (echo->marked != marked) {
		/* What waits is for packets of the other kind. */
		if (icsk->icsk_ack.pending & ICSK_ACK_TIMER) {
			echo_say(tp, echo->marked);
			bpf_tcp_send_ack(tp, echo->prior_rcv_nxt);
		}
		icsk->icsk_ack.pending |= ICSK_ACK_NOW;
	}
	echo->prior_rcv_nxt = tp->rcv_nxt;
	echo->marked = marked;
	echo_say(tp, marked);
}

/* Packets that were marked, of those that are acknowledged. */
static inline __u32 echo_count(struct tcp_sock *tp, struct echo *echo, __u32 packets)
{
	__u32 marked = tp->delivered_ce - echo->delivered_ce;

	echo->delivered_ce = tp->delivered_ce;
	/* The receiver would take it for "the window was reduced", and echo no more. */
	tp->ecn_flags &= (__u8)~TCP_ECN_QUEUE_CWR;
	return marked < packets ? marked : packets;
}

#endif
