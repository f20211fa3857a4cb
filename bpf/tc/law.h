/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Where a program has its law: its settings, and its state.
 *
 * Who includes this has named LAW_PARAMS and LAW_STATE, the structures of its
 * kernel implementation in bpf/law, and LAW_PLACE, what it knows of the device.
 */
#ifndef PENSTOCK_TC_LAW_H
#define PENSTOCK_TC_LAW_H

#include "tc/host.h"

/*
 * Written by user space, at any time and all at once: with BPF_F_LOCK, and with
 * another version.
 */
struct settings {
	struct bpf_spin_lock lock;
	__u32 version;
	char text[1024]; /* the same as a scenario writes it; nobody reads it here */
	LAW_PLACE place;
	LAW_PARAMS law;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct settings);
} settings SEC(".maps");

/* User space writes the state that the law starts in, before there are packets. */
struct state {
	LAW_STATE law;
	__u64 waiting_bytes; /* for which the law has not been called; many add to it at once */
	__u64 time_ns; /* the start, or the end of this period; zero before the first packet */
	__u32 busy;    /* somebody is about what is here */
	__u32 version; /* of what follows */
	LAW_PLACE place;
	LAW_PARAMS params;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} state SEC(".maps");

static __always_inline struct state *state_of(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&state, &only);
}

static __always_inline bool take(struct state *s)
{
#ifdef PENSTOCK_WITHOUT_LOCK
	/* So that a test sees what the lock is for. */
	(void)s;
	return true;
#else
	return !__sync_val_compare_and_swap(&s->busy, 0, 1);
#endif
}

static __always_inline void give_back(struct state *s)
{
	__sync_lock_test_and_set(&s->busy, 0);
}

/* Some 10 us: a law is done in a fraction of one, unless its processor was taken away. */
#define MOST_TRIES 512

static __always_inline bool take_in_time(struct state *s)
{
	for (__u32 i = 0; i < MOST_TRIES; i++)
		if (take(s))
			return true;
	return false;
}

/* Under `take`: whether the settings have changed. */
static __always_inline bool read_settings(struct state *s)
{
	__u32 only = 0;
	struct settings *given = bpf_map_lookup_elem(&settings, &only);

	if (!given || given->version == s->version)
		return false;
	bpf_spin_lock(&given->lock);
	s->version = given->version;
	s->place = given->place;
	s->params = given->law;
	bpf_spin_unlock(&given->lock);
	return true;
}

/* What waited for a call of the law. */
static __always_inline __u64 waiting(struct state *s)
{
	return s->waiting_bytes ? __sync_lock_test_and_set(&s->waiting_bytes, 0) : 0;
}

#endif
