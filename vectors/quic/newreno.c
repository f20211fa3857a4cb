/* NewReno of RFC 9002, appendix B, as a stack for driver.c. -DREDUCTION=0.6 makes it another NewReno, for a test. */
#include "stack.h"

#include <math.h>
#include <string.h>

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

void stack_event(const char *event, double at_us, double sent_us, double bytes, double marked)
{
	(void)marked;
	if (!strcmp(event, "sent") || !strcmp(event, "limited"))
		return;
	if (sent_us > recovery_us) {
		if (!strcmp(event, "acked")) {
			window += window < ssthresh ? bytes : size * bytes / window;
			return;
		}
		/* A loss or an echo. */
		recovery_us = at_us;
		ssthresh = window * REDUCTION;
		window = fmax(ssthresh, 2 * size);
	}
	if (!strcmp(event, "persistent")) {
		window = 2 * size;
		recovery_us = -1;
	}
}

void stack_outputs(double outputs[3])
{
	outputs[0] = window;
	outputs[1] = isinf(ssthresh) ? -1 : ssthresh;
	outputs[2] = -1;
}
