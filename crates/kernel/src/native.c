// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The kernel implementations for this machine's processor, called from native.rs.
 *
 * Compiled three times, with different names: faithful; slip, with the planted
 * slip; and wide, with 48 places, for the arithmetic alone.
 */
#include "cc/train.h"
#include "replay.h"

#define JOIN(name, suffix) name##_##suffix
#define NAMED(name, suffix) JOIN(name, suffix)
#define REPLAY NAMED(penstock_replay, SUFFIX)
#define CONNECTIONS NAMED(penstock_connections, SUFFIX)
#define ARITHMETIC NAMED(penstock_arithmetic, SUFFIX)
#define DIFFERENCE NAMED(penstock_difference, SUFFIX)
#define LEFT NAMED(penstock_train_left, SUFFIX)
#define HEARD NAMED(penstock_train_heard, SUFFIX)

__s64 DIFFERENCE(__s64 a, __s64 x, __s64 b, __s64 y, __u32 places);
void REPLAY(__u32 law, struct replay_slot *slots, __u64 count);
void CONNECTIONS(struct replay_slot *slots, __u64 count);
__s64 ARITHMETIC(__u32 operation, __s64 a, __s64 b);
void LEFT(struct train *t, __u32 now_us, __u32 una, __u32 first, __u32 nxt, __u32 mss,
	  __u32 rtt_us);
__u32 HEARD(struct train *t, __u32 *heard, __u32 now_us, __u32 una, __u32 covered, __u32 mss);

void REPLAY(__u32 law, struct replay_slot *slots, __u64 count)
{
	for (__u64 i = 0; i < count; i++) {
		switch (law) {
		case 0:
			replay_fast(&slots[i]);
			break;
		case 1:
			replay_leadlag(&slots[i]);
			break;
		case 2:
			replay_price(&slots[i]);
			break;
		case 3:
			replay_avq(&slots[i]);
			break;
		case 4:
			replay_ccp(&slots[i]);
			break;
		case 5:
			replay_ccpd(&slots[i]);
			break;
		case 6:
			replay_bat(&slots[i]);
			break;
		case 7:
			replay_clcc(&slots[i]);
			break;
		case 8:
			replay_token_bucket(&slots[i]);
			break;
		case 9:
			replay_srtcm(&slots[i]);
			break;
		case 10:
			replay_trtcm(&slots[i]);
			break;
		case 11:
			replay_early_marking(&slots[i]);
			break;
		case 12:
			replay_copa(&slots[i]);
			break;
		case 13:
			replay_prague(&slots[i]);
			break;
		}
	}
}

void CONNECTIONS(struct replay_slot *slots, __u64 count)
{
	struct replay_connection connection = {};

	for (__u64 i = 0; i < count; i++)
		replay_step(&slots[i], &connection);
}

__s64 ARITHMETIC(__u32 operation, __s64 a, __s64 b)
{
	switch (operation) {
	case 0:
		return fx_add(a, b);
	case 1:
		return fx_sub(a, b);
	case 2:
		return fx_mul(a, b);
	case 3:
		return fx_div(a, b);
	case 4:
		return fx_exp(a);
	case 5:
		return fx_neg(a);
	case 6:
		return fx_count((__u32)a);
	case 8:
		return fx_ln(a);
#if FX_PLACES == 32
	case 7:
		return fx_seconds((__u64)a);
#endif
	default:
		return 0;
	}
}

__s64 DIFFERENCE(__s64 a, __s64 x, __s64 b, __s64 y, __u32 places)
{
	return fx_difference(a, x, b, y, places);
}

void LEFT(struct train *t, __u32 now_us, __u32 una, __u32 first, __u32 nxt, __u32 mss, __u32 rtt_us)
{
	train_left(t, now_us, una, first, nxt, mss, rtt_us);
}

__u32 HEARD(struct train *t, __u32 *heard, __u32 now_us, __u32 una, __u32 covered, __u32 mss)
{
	return train_heard(t, heard, now_us, una, covered, mss);
}
