// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The adaptive virtual queue on a device: the law of bpf/law/avq.h over what
 * passes here. Its queue is virtual, and so needs none.
 *
 * Attach: penstock linux attach avq --device DEV --set link.rate=RATE
 *
 * Every packet changes the law's state, so that one goes through it at a time. A
 * super-packet is one arrival of all its bytes: it finds room or does not.
 */
#include "law/avq.h"
#include "tc/line.h"

#define LAW_PARAMS struct avq_params
#define LAW_STATE struct avq
#define LAW_PLACE struct line
#include "tc/law.h"

SEC("tcx/egress")
int avq(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	struct state *s = state_of();
	bool overflowed;
	__u64 now, bytes;

	book_arrival(&packet);
	if (!s)
		return end(&packet, FATE_CONTENDED);
	if (!take_in_time(s)) {
		/* The next one brings it before the law. */
		__sync_fetch_and_add(&s->waiting_bytes, packet.bytes);
		return end(&packet, FATE_CONTENDED);
	}
	read_settings(s);
	/* Looked at behind the lock, so that time does not go back. */
	now = now_ns(skb);
	if (!s->time_ns)
		s->time_ns = now;
	bytes = packet.bytes + waiting(s);
	avq_arrival(&s->params, &s->law, bytes >> 32 ? 0xffffffff : (__u32)bytes,
		    s->place.capacity_q32, seconds_q32(now - s->time_ns));
	overflowed = s->law.overflowed;
	give_back(s);
	return judged(skb, &packet, &s->place, overflowed);
}

char _license[] SEC("license") = "Dual BSD/GPL";
