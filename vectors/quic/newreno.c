/* NewReno of RFC 9002, appendix B, as a stack for driver.c. -DREDUCTION=0.6 makes it another NewReno, for a test. */
#include "stack.h"

#include <math.h>

#ifndef REDUCTION
#define REDUCTION 0.5
#endif

static double size, window, ssthresh, recovery_us;

void stack_begin(double datagram_bytes, double window_bytes)
{
	size = datagram_bytes;
	window = window_bytes;
	ssthresh = INFINITY;
	recovery_us = -1;
}

void stack_sent(double at_us, double bytes)
{
	(void)at_us, (void)bytes;
}

void stack_acked(double at_us, double sent_us, double bytes, double marked, int limited)
{
	(void)at_us, (void)marked;
	if (limited || sent_us <= recovery_us)
		return;
	window += window < ssthresh ? bytes : size * bytes / window;
}

void stack_echo(double at_us, double sent_us)
{
	if (sent_us <= recovery_us)
		return;
	recovery_us = at_us;
	ssthresh = window * REDUCTION;
	window = fmax(ssthresh, 2 * size);
}

void stack_lost(double at_us, double sent_us, double bytes, int persistent)
{
	(void)bytes;
	stack_echo(at_us, sent_us);
	if (persistent) {
		window = 2 * size;
		recovery_us = -1;
	}
}

double stack_window(void)
{
	return window;
}

double stack_ssthresh(void)
{
	return isinf(ssthresh) ? -1 : ssthresh;
}

double stack_pacing(void)
{
	return -1;
}
