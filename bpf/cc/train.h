/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Which acknowledgements are those of packets that left back to back: the rules of
 * crates/law/src/estimate/trains.rs, held equal by a test of
 * crates/kernel/src/native.rs. Sequence numbers stand for transmissions: what was
 * sent twice never gets here.
 */
#ifndef PENSTOCK_CC_TRAIN_H
#define PENSTOCK_CC_TRAIN_H

#include <linux/types.h>

/* Of a longer train the first so many packets count. */
#define TRAIN_MOST 255

/* A train waits no longer than this for the one before, so that a clock of 32 bits may run around. */
#define TRAIN_WAIT_US 60000000

enum train_state { TRAIN_NONE, TRAIN_LEFT, TRAIN_HEARD };

struct train {
	__u32 first;   /* sequence number */
	__u32 next_us; /* when the next train may leave */
	__u8 packets;
	__u8 state; /* enum train_state */
};

/* What left up to nxt, all of it new, left together; una is what is acknowledged by now. */
static inline void train_left(struct train *t, __u32 now_us, __u32 una, __u32 first, __u32 nxt,
			      __u32 mss, __u32 rtt_us)
{
	__u32 packets = (nxt - first) / mss, wait_us = t->next_us - now_us;

	if (packets < 2 || (wait_us && wait_us <= TRAIN_WAIT_US))
		return;
	/* Not given up for the next while it is being acknowledged. */
	if (t->state != TRAIN_NONE && (__s32)(una - t->first - t->packets * mss) <= 0)
		return;
	t->first = first;
	t->packets = (__u8)(packets < TRAIN_MOST ? packets : TRAIN_MOST);
	t->state = TRAIN_LEFT;
	t->next_us = now_us + (rtt_us < TRAIN_WAIT_US ? rtt_us : TRAIN_WAIT_US);
}

/*
 * An acknowledgement up to una of packets sent once. Where it makes a pair with the
 * one before, how many packets the two are apart, else zero: the second covers what
 * left since the first, and nothing else. heard is una of the first.
 */
static inline __u32 train_heard(struct train *t, __u32 *heard, __u32 now_us, __u32 una,
				__u32 covered, __u32 mss)
{
	__u32 reached = una - t->first, length = t->packets * mss;
	__u8 state = t->state;

	if (state == TRAIN_NONE || (__s32)reached <= 0)
		return 0;
	if (state == TRAIN_LEFT && reached < length) {
		t->state = TRAIN_HEARD;
		*heard = una;
		return 0;
	}
	t->state = TRAIN_NONE;
	if (state == TRAIN_HEARD && reached <= length && covered == una - *heard &&
	    !(covered % mss))
		return covered / mss;
	/* It measured nothing: the next may leave at once. */
	t->next_us = now_us;
	return 0;
}

#endif
