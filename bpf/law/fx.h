/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Fixed point for laws, in BPF and natively.
 *
 *   scale     a signed 64-bit integer over 2^32; its name ends in _q32
 *   range     -2^31 <= x < 2^31, in steps of 2.3e-10
 *   rounding  to nearest, half away from zero, in every operation
 *   overflow  saturates at either end; nothing wraps, nothing traps.
 *             A division by zero saturates by the sign of the numerator,
 *             and 0/0 is 0.
 *
 * The law in Rust: crates/law/src/number/fix.rs, Fix<32>. Both are held equal by the
 * vectors of every law that uses them (vectors/), and by property tests.
 *
 * BPF has no 128-bit product or quotient and no signed division, so everything
 * is done on 64-bit magnitudes. Products, quotients and exponentials are global
 * functions there: the verifier checks each of them once, instead of along
 * every path of every law, which it refuses.
 *
 * PENSTOCK_PLANTED_SLIP leaves out the rounding of products. It is how the
 * tests know that a slip would be noticed; nothing else defines it.
 */
#ifndef PENSTOCK_LAW_FX_H
#define PENSTOCK_LAW_FX_H

#include <linux/types.h>

/* Binary digits behind the point: 32, or 48 as in Fix<48> for a test. */
#ifndef FX_PLACES
#define FX_PLACES 32
#endif

#define FX_ONE (1LL << FX_PLACES)
#define FX_HALF (FX_ONE / 2)
#define FX_MOST 0x7fffffffffffffffLL
#define FX_LEAST (-FX_MOST - 1)
#define FX_SIGN (1ULL << 63)

#ifdef __bpf__
#define FX_GLOBAL __attribute__((noinline))
#else
#define FX_GLOBAL __attribute__((noinline, unused)) static
#endif

static inline __s64 fx_min(__s64 a, __s64 b)
{
	return b < a ? b : a;
}

static inline __s64 fx_max(__s64 a, __s64 b)
{
	return b > a ? b : a;
}

static inline __s64 fx_clamp(__s64 x, __s64 least, __s64 most)
{
	return fx_min(fx_max(x, least), most);
}

static inline __u64 fx_magnitude(__s64 x)
{
	return x < 0 ? 0 - (__u64)x : (__u64)x;
}

/* The sign put back on a magnitude. */
static inline __s64 fx_signed(__u64 negative, __u64 magnitude)
{
	if (magnitude >= FX_SIGN)
		return negative ? FX_LEAST : FX_MOST;
	return negative ? -(__s64)magnitude : (__s64)magnitude;
}

static inline __s64 fx_neg(__s64 x)
{
	return x == FX_LEAST ? FX_MOST : -x;
}

static inline __s64 fx_add(__s64 a, __s64 b)
{
	__u64 sum = (__u64)a + (__u64)b;

	/* Both terms have the sign that the sum lacks. */
	if ((((__u64)a ^ sum) & ((__u64)b ^ sum)) & FX_SIGN)
		return a < 0 ? FX_LEAST : FX_MOST;
	return (__s64)sum;
}

static inline __s64 fx_sub(__s64 a, __s64 b)
{
	__u64 difference = (__u64)a - (__u64)b;

	if ((((__u64)a ^ (__u64)b) & ((__u64)a ^ difference)) & FX_SIGN)
		return a < 0 ? FX_LEAST : FX_MOST;
	return (__s64)difference;
}

/* A count of packets, bytes or events; saturates from 2^31 on. */
static inline __s64 fx_count(__u32 n)
{
	return n >> (63 - FX_PLACES) ? FX_MOST : (__s64)((__u64)n << FX_PLACES);
}

#if FX_PLACES == 32
/* Nanoseconds as seconds: a reading of a clock; saturates from 2^31 s on. */
static inline __s64 fx_seconds(__u64 ns)
{
	__u64 whole = ns / 1000000000, rest = ns % 1000000000;

	if (whole >> 31)
		return FX_MOST;
	/* Carries into the whole by itself where it rounds up to one. */
	return (__s64)((whole << 32) + ((rest << 32) + 500000000) / 1000000000);
}
#endif

/* The upper half of a 128-bit product. No partial sum can overflow. */
static inline __u64 fx_high(__u64 a, __u64 b)
{
	__u64 a_low = a & 0xffffffff, a_high = a >> 32;
	__u64 b_low = b & 0xffffffff, b_high = b >> 32;
	__u64 middle = a_high * b_low + (a_low * b_low >> 32);
	__u64 other = a_low * b_high + (middle & 0xffffffff);

	return a_high * b_high + (middle >> 32) + (other >> 32);
}

FX_GLOBAL __s64 fx_mul(__s64 a, __s64 b)
{
	__u64 x = fx_magnitude(a), y = fx_magnitude(b);
	__u64 negative = ((__u64)a ^ (__u64)b) & FX_SIGN;
	__u64 high = fx_high(x, y), low = x * y;

	if (high >> (FX_PLACES - 1))
		return negative ? FX_LEAST : FX_MOST;
	x = (high << (64 - FX_PLACES)) | (low >> FX_PLACES);
#ifndef PENSTOCK_PLANTED_SLIP
	x += low >> (FX_PLACES - 1) & 1;
#endif
	return fx_signed(negative, x);
}

/* A product in full, in two's complement. */
static inline __u64 fx_wide(__s64 a, __s64 b, __u64 *low)
{
	__u64 x = fx_magnitude(a), y = fx_magnitude(b);
	__u64 high = fx_high(x, y);

	*low = x * y;
	if (!(((__u64)a ^ (__u64)b) & FX_SIGN))
		return high;
	*low = 0 - *low;
	return ~high + !*low;
}

/*
 * (a x - b y) / 2^places, rounded once: what is left of two products that nearly
 * cancel. places from 0 to 95, less where FX_PLACES is more than 32.
 */
FX_GLOBAL __s64 fx_difference(__s64 a, __s64 x, __s64 b, __s64 y, __u32 places)
{
	__u64 other_low, low, high = fx_wide(a, x, &low), other = fx_wide(b, y, &other_low);
	__u32 shift = FX_PLACES + places;
	__u64 negative, sum, round;

	high = high - other - (low < other_low);
	low -= other_low;
	negative = high & FX_SIGN;
	if (negative) {
		low = 0 - low;
		high = ~high + !low;
	}
	if (shift > 64) {
		/* From here on `& 63` is for the verifier, and for what no caller asks. */
		round = high >> ((shift - 65) & 63) & 1;
		sum = high >> ((shift - 64) & 63);
	} else if (shift == 64) {
		round = low >> 63;
		sum = high;
	} else {
		if (high >> ((shift - 1) & 63))
			return negative ? FX_LEAST : FX_MOST;
		round = low >> ((shift - 1) & 63) & 1;
		sum = high << ((64 - shift) & 63) | low >> (shift & 63);
	}
	return fx_signed(negative, sum + round);
}

FX_GLOBAL __s64 fx_div(__s64 a, __s64 b)
{
	__u64 rest = fx_magnitude(a), divisor = fx_magnitude(b);
	__u64 negative = ((__u64)a ^ (__u64)b) & FX_SIGN;
	__u64 quotient;
	__u32 digit, left;

	if (!rest)
		return 0;
	if (!divisor)
		return a < 0 ? FX_LEAST : FX_MOST;
	if (!(rest >> (64 - FX_PLACES))) {
		rest <<= FX_PLACES;
		quotient = rest / divisor;
		rest %= divisor;
	} else {
		quotient = rest / divisor;
		rest %= divisor;
		if (quotient >> (63 - FX_PLACES))
			return negative ? FX_LEAST : FX_MOST;
		/* By digits of 16 bits where the divisor is small enough. */
		digit = divisor >> 48 ? 1 : 16;
		for (left = FX_PLACES; left; left -= digit) {
			rest <<= digit;
			quotient = (quotient << digit) | rest / divisor;
			rest %= divisor;
		}
	}
	if (quotient >= FX_SIGN)
		return negative ? FX_LEAST : FX_MOST;
	return fx_signed(negative, quotient + (rest >= divisor - rest));
}

/*
 * exp(x) = 2^(n/16) exp(r), with n = floor(16 x / ln 2), 0 <= r < ln 2 / 16.
 */

/* ln 2 / 16 as a fraction of 2^64, and its next 32 bits. */
#define FX_STEP 0x0b17217f7d1cf79aULL
#define FX_STEP_BELOW 0xbc9e3b39ULL
/* 16 / ln 2 in 32.32 bits. */
#define FX_STEPS_PER_ONE 0x171547652bULL

/* 2^(j/16) in 1.63 bits, rounded to nearest. */
static const __u64 fx_powers[16] = {
	0x8000000000000000, 0x85aac367cc487b15, 0x8b95c1e3ea8bd6e7, 0x91c3d373ab11c336,
	0x9837f0518db8a96f, 0x9ef5326091a111ae, 0xa5fed6a9b15138ea, 0xad583eea42a14ac6,
	0xb504f333f9de6484, 0xbd08a39f580c36bf, 0xc5672a115506dadd, 0xce248c151f8480e4,
	0xd744fccad69d6af4, 0xe0ccdeec2a94e111, 0xeac0c6e7dd24392f, 0xf5257d152486cc2c,
};

/* n steps, modulo 1, as a fraction of 2^64. */
static inline __u64 fx_steps(__u64 n)
{
	return n * FX_STEP + (n * FX_STEP_BELOW >> 32);
}

/*
 * Monotone; within 0.51 units of the last place, and within 2 where the result
 * exceeds 1/256 of the range.
 */
FX_GLOBAL __s64 fx_exp(__s64 x)
{
	__u64 size = fx_magnitude(x);
	__u64 n, r, places, sum, power, doubled;

	if (size >> FX_PLACES >= 64)
		return x < 0 ? 0 : FX_MOST;
	/* At most one step too few. The remainder is below one, so what wraps
	 * around in its making does not matter.
	 */
	n = (size >> (FX_PLACES - 16)) * FX_STEPS_PER_ONE >> 48;
	if (x < 0) {
		n++;
		r = fx_steps(n) - (size << (64 - FX_PLACES));
		if (r & FX_SIGN) {
			n++;
			r += FX_STEP;
		}
		places = 63 - FX_PLACES + ((n + 15) >> 4);
		n = 0 - n;
	} else {
		r = (size << (64 - FX_PLACES)) - fx_steps(n);
		if (r >= FX_STEP) {
			n++;
			r -= FX_STEP;
		}
		if (n >> 4 >= 63 - FX_PLACES)
			return FX_MOST;
		places = 63 - FX_PLACES - (n >> 4);
	}
	if (places > 64)
		return 0;
	/* exp(r) = 1 + (r + r^2 sum), the sum to 1/9!; the next is below 2^-67. */
	sum = 0x00002e3bc74aad8e;
	sum = 0x0001a01a01a01a01 + fx_high(r, sum);
	sum = 0x000d00d00d00d00d + fx_high(r, sum);
	sum = 0x005b05b05b05b05b + fx_high(r, sum);
	sum = 0x0222222222222222 + fx_high(r, sum);
	sum = 0x0aaaaaaaaaaaaaaa + fx_high(r, sum);
	sum = 0x2aaaaaaaaaaaaaaa + fx_high(r, sum);
	sum = 0x8000000000000000 + fx_high(r, sum);
	power = fx_powers[n & 15];
	/* One bit is kept for rounding. */
	doubled = power + fx_high(power, r + fx_high(r, fx_high(r, sum)));
	doubled >>= places - 1;
	return fx_signed(0, (doubled >> 1) + (doubled & 1));
}

/*
 * ln(2^e m) = e ln 2 + ln c + ln(1 + r), with c = 1 + j/16 below m and
 * 0 <= r < 1/16.
 */

/* ln 2 as a fraction of 2^64. */
#define FX_LN_2 0xb17217f7d1cf79acULL

/* 1 / (1 + j/16) in 1.63 bits, rounded up. */
static const __u64 fx_reciprocals[16] = {
	0x8000000000000000, 0x7878787878787879, 0x71c71c71c71c71c8, 0x6bca1af286bca1b0,
	0x6666666666666667, 0x6186186186186187, 0x5d1745d1745d1746, 0x590b21642c8590b3,
	0x5555555555555556, 0x51eb851eb851eb86, 0x4ec4ec4ec4ec4ec5, 0x4bda12f684bda130,
	0x4924924924924925, 0x469ee58469ee5847, 0x4444444444444445, 0x4210842108421085,
};

/* Their logarithms with the other sign, as fractions of 2^64. */
static const __u64 fx_logarithms[16] = {
	0x0000000000000000, 0x0f85186008b15330, 0x1e27076e2af2e5e8, 0x2bfe60e14f27a78f,
	0x391fef8f35344357, 0x459d72aeae98380c, 0x51862f08717b09f4, 0x5ce75fdaef401a71,
	0x67cc8fb2fe612fc9, 0x723fdf1e6a6886ae, 0x7c4a3d7ebc1bb2cd, 0x85f39721295415b3,
	0x8f42faf3820681ee, 0x983eb99a7885f0fc, 0xa0ec7f4233957320, 0xa9516932de2d5770,
};

/* ln(1 + r) = r - r^2 (1/2 - r (1/3 - ... 1/15)), as fractions of 2^64. */
static inline __u64 fx_log1p(__u64 r)
{
	__u64 sum = 0x1111111111111111;

	sum = 0x1249249249249249 - fx_high(r, sum);
	sum = 0x13b13b13b13b13b1 - fx_high(r, sum);
	sum = 0x1555555555555555 - fx_high(r, sum);
	sum = 0x1745d1745d1745d1 - fx_high(r, sum);
	sum = 0x1999999999999999 - fx_high(r, sum);
	sum = 0x1c71c71c71c71c71 - fx_high(r, sum);
	sum = 0x2000000000000000 - fx_high(r, sum);
	sum = 0x2492492492492492 - fx_high(r, sum);
	sum = 0x2aaaaaaaaaaaaaaa - fx_high(r, sum);
	sum = 0x3333333333333333 - fx_high(r, sum);
	sum = 0x4000000000000000 - fx_high(r, sum);
	sum = 0x5555555555555555 - fx_high(r, sum);
	sum = 0x8000000000000000 - fx_high(r, sum);
	return r - fx_high(r, fx_high(r, sum));
}

/* Within 0.51 units of the last place; of zero and below it the least number. */
FX_GLOBAL __s64 fx_ln(__s64 x)
{
	__u64 m = (__u64)x, places = 63 - FX_PLACES, negative = 0;
	__u64 at, part, high, low, r;
	__u32 half;

	if (x <= 0)
		return FX_LEAST;
	/* The first digit to the top; places is then e, or how far below zero it is. */
	for (half = 32; half; half >>= 1) {
		if (!(m >> (64 - half))) {
			m <<= half;
			places -= half;
		}
	}
	at = m >> 59 & 15;
	/* Of two digits before the point, which are 01, the shift leaves none. */
	r = fx_high(m, fx_reciprocals[at]) << 2;
	part = fx_logarithms[at] + fx_log1p(r);
	if (places & FX_SIGN) {
		places = 0 - places;
		high = fx_high(places, FX_LN_2);
		low = places * FX_LN_2;
		if (high || low >= part) {
			negative = 1;
			high -= low < part;
			low -= part;
		} else {
			low = part - low;
		}
	} else {
		low = places * FX_LN_2 + part;
		high = fx_high(places, FX_LN_2) + (low < part);
	}
	low = (high << FX_PLACES | low >> (64 - FX_PLACES)) + (low >> (63 - FX_PLACES) & 1);
	return fx_signed(negative, low);
}

#endif
