// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Price marking on a device: the law of bpf/law/price.h over the bytes that pass
 * here. It needs no queue, since its capacity is virtual.
 *
 * Attach: penstock linux attach price --device DEV --set link.rate=RATE
 *
 * Periods end lazily, at the first packet behind them: between packets nobody
 * asks for the probability, and a timer would need a map that somebody holds.
 * Idle periods are gone through one by one, until they change nothing any more.
 */
#include "law/price.h"
#include "tc/line.h"

#define LAW_PARAMS struct price_params
#define LAW_STATE struct price
#define LAW_PLACE struct line
#include "tc/law.h"

/* Periods ended for one packet at most, 20 s of silence at 5 ms; the next packet goes on. */
#define MOST_PERIODS 4096

static long end_period(__u32 at, void *nothing)
{
	struct state *s = state_of();
	struct price before;

	if (!s)
		return 1;
	before = s->law;
	price_tick(&s->params, &s->law, mean_packets_q32(&s->place, waiting(s)),
		   s->place.capacity_q32);
	/* What one idle period leaves as it is, the others do too. */
	return at && before.price_q32 == s->law.price_q32 &&
	       before.probability_q32 == s->law.probability_q32;
}

/* `time_ns` is the end of this period. */
static __always_inline void end_periods(struct state *s, __u64 now)
{
	__u64 period_ns = s->place.period_ns;
	__u64 periods;

	if (read_settings(s) && s->place.period_ns != period_ns)
		s->time_ns = now + s->place.period_ns;
	if (now < s->time_ns || !s->place.period_ns)
		return;
	periods = 1 + (now - s->time_ns) / s->place.period_ns;
	if (periods > MOST_PERIODS)
		periods = MOST_PERIODS;
	bpf_loop((__u32)periods, end_period, NULL, 0);
	s->time_ns += periods * s->place.period_ns;
}

SEC("tcx/egress")
int price(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);
	struct state *s = state_of();
	__u64 now = now_ns(skb);

	book_arrival(&packet);
	if (!s)
		return end(&packet, FATE_CONTENDED);
	/* Who comes while another ends periods goes by the probability in force. */
	if (now >= s->time_ns && take(s)) {
		end_periods(s, now);
		give_back(s);
	}
	__sync_fetch_and_add(&s->waiting_bytes, packet.bytes);
	return judged(skb, &packet, &s->place, lands(coin_of(skb), s->law.probability_q32));
}

char _license[] SEC("license") = "Dual BSD/GPL";
