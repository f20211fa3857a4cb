// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Replays vectors of the laws inside the kernel, without a socket: one
 * SEC("syscall") program a law, run by BPF_PROG_TEST_RUN.
 *
 * Load: penstock_kernel::replay::in_kernel, which puts a batch into `slots`, runs
 * a program over it and reads the states back. Nothing is attached, and the
 * programs go away with the file descriptors. Needs kernel 5.17 (bpf_loop).
 */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>

#include "replay.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct replay_slot);
} slots SEC(".maps");

/* The context of every program: read, and written back. */
struct replay_job {
	__u64 count;      /* slots to replay, from the first */
	__u64 elapsed_ns; /* what the loop over them took */
};

#define REPLAY(law)                                                           \
	static long each_##law(__u32 at, void *context)                       \
	{                                                                     \
		struct replay_slot *slot = bpf_map_lookup_elem(&slots, &at);  \
                                                                              \
		if (!slot)                                                    \
			return 1;                                             \
		replay_##law(slot);                                           \
		return 0;                                                     \
	}                                                                     \
                                                                              \
	SEC("syscall")                                                        \
	int run_##law(struct replay_job *job)                                 \
	{                                                                     \
		__u64 start = bpf_ktime_get_ns();                             \
		long done = bpf_loop((__u32)job->count, each_##law, NULL, 0); \
                                                                              \
		job->elapsed_ns = bpf_ktime_get_ns() - start;                 \
		return done == (long)job->count ? 0 : 1;                      \
	}

/* What the loop and the look-up cost by themselves. */
static inline void replay_nothing(struct replay_slot *slot)
{
	slot->observation.words[2] = 0;
}

REPLAY(nothing)
REPLAY(fast)
REPLAY(leadlag)
REPLAY(price)
REPLAY(avq)
REPLAY(ccp)
REPLAY(ccpd)
REPLAY(bat)
REPLAY(clcc)
REPLAY(token_bucket)
REPLAY(srtcm)
REPLAY(trtcm)
REPLAY(early_marking)
REPLAY(copa)
REPLAY(prague)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct replay_connection);
} connections SEC(".maps");

static inline void replay_connection(struct replay_slot *slot)
{
	__u32 first = 0;
	struct replay_connection *connection = bpf_map_lookup_elem(&connections, &first);

	if (connection)
		replay_step(slot, connection);
}

REPLAY(connection)

char _license[] SEC("license") = "Dual BSD/GPL";
