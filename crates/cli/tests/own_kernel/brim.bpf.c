// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The law of crates/cli/tests/own_kernel/brim.rs in C, right or wrong in one way: by a name that the test defines.
 */
#include "tc/observation.h"

struct brim_params {
	__s64 limit_q32;
	__s64 gain_q32;
	__s64 period_q32;
	__s64 mean_packet_q32;
	__u64 spacing;
#ifdef WIDE
	__u64 more;
#endif
};

struct brim {
	__s64 virtual_queue_q32;
#ifndef SHORT
	__s64 service_q32;
	__s64 last_q32;
	__u32 since;
	__u32 unused;
#endif
};

#ifdef SHORT
#define SINCE(s) 7
#else
#define SINCE(s) ((s)->since)

static inline __attribute__((unused)) void brim_arrival(const struct brim_params *p, struct brim *s,
							const struct observation *observation)
{
	__s64 gap = fx_sub(observation->now_q32, s->last_q32);
	__s64 left = fx_max(fx_sub(s->virtual_queue_q32, fx_mul(s->service_q32, gap)), 0);

	s->last_q32 = observation->now_q32;
	s->virtual_queue_q32 =
		fx_add(left, fx_div(fx_count(observation->bytes), p->mean_packet_q32));
#ifdef SLIP
	s->since = s->since < 2 ? s->since + 1 : 2;
#else
	s->since++;
#endif
}

static inline __attribute__((unused)) void brim_tick(const struct brim_params *p, struct brim *s,
						     const struct observation *observation)
{
	__s64 load = fx_div(observation->arrived_q32, p->period_q32);
	__s64 spare = fx_sub(observation->capacity_q32, load);

	s->service_q32 = fx_clamp(fx_add(s->service_q32, fx_mul(p->gain_q32, spare)), 0,
				  observation->capacity_q32);
}
#endif

#ifdef BY_HAND
#include "tc/host.h"

SEC("tcx/egress")
int brim(struct __sk_buff *skb)
{
	struct packet packet = packet_of(skb);

	return end(&packet, FATE_PASSED);
}

char _license[] SEC("license") = "Dual BSD/GPL";
#else
#define AQM_PARAMS struct brim_params
#define AQM_STATE struct brim
#ifdef SHORT
#define AQM_ARRIVAL(params, state, observation) ((void)(params))
#define AQM_TICK(params, state, observation) ((void)(params))
#else
#ifndef NO_ARRIVAL
#define AQM_ARRIVAL brim_arrival
#endif
#ifndef NO_TICK
#define AQM_TICK brim_tick
#endif
#if !defined(NO_HIT) && !defined(NO_ARRIVAL)
#define AQM_HIT(params, state, observation) ((state)->since = 0)
#endif
#endif
#define AQM_PROBABILITY(params, state)                                                     \
	(SINCE(state) >= (params)->spacing                                                 \
		 ? fx_min(fx_div((state)->virtual_queue_q32, (params)->limit_q32), FX_ONE) \
		 : 0)
#include "tc/aqm.h"
#ifdef MAPS
/* A map that no header of Penstock knows. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u64);
} more SEC(".maps");
#endif
#endif
