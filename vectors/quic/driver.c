/* Puts a controller under a file of vectors: driver newreno.json, or driver newreno.json
 * whole_datagrams for a stack whose window grows by whole datagrams. Here it is NewReno of RFC 9002,
 * appendix B: replace the functions before main by calls of your stack. Each event of a file is
 * one line, with its keys in this order. -DREDUCTION=0.6 makes it another NewReno, for a test. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT                                                                              \
	" {\"at_us\": %lf, \"event\": \"%15[a-z]\", \"sent_us\": %lf, \"datagrams\": %lf, " \
	"\"marked\": %lf, \"repeat\": %lf, \"every_us\": %lf, \"sent_every_us\": %lf, "     \
	"\"cwnd_bytes\": %lf"

/* The tolerance of a file is one line too. */
#define TOLERANCE                                                         \
	"\"tolerance\": {\"real\": {\"relative\": %lf, \"bytes\": %lf}, " \
	"\"whole_datagrams\": {\"relative\": %lf, \"bytes\": %lf}}"

#ifndef REDUCTION
#define REDUCTION 0.5
#endif

static const double SIZE = 1200;
static double window, ssthresh, recovery_us;

static void begin(void)
{
	window = 10 * SIZE;
	ssthresh = INFINITY;
	recovery_us = -1;
}

static void acked(double sent_us, double bytes)
{
	if (sent_us <= recovery_us)
		return;
	window += window < ssthresh ? bytes : SIZE * bytes / window;
}

static void congestion(double at_us, double sent_us)
{
	if (sent_us <= recovery_us)
		return;
	recovery_us = at_us;
	ssthresh = window * REDUCTION;
	window = fmax(ssthresh, 2 * SIZE);
}

static void persistent(double at_us, double sent_us)
{
	congestion(at_us, sent_us);
	window = 2 * SIZE;
	recovery_us = -1;
}

/* bound[0] is a part of the output, bound[1] a number of bytes: the larger counts. */
static int differs(double got, double want, const double *bound)
{
	return fabs(got - want) > fmax(bound[0] * want, bound[1]);
}

int main(int count, char **words)
{
	FILE *file = count == 2 || count == 3 ? fopen(words[1], "r") : NULL;
	double at, sent, every, sent_every, datagrams, marked, repeat, want, threshold;
	double bounds[4] = {0}, *bound = bounds;
	char line[1024], event[16], *rest;
	int outputs = 0, wrong = 0;

	if (count == 3 && !strcmp(words[2], "whole_datagrams"))
		bound = bounds + 2;
	else if (count == 3 && strcmp(words[2], "real"))
		return fprintf(stderr, "the bounds are real and whole_datagrams\n"), 2;

	if (!file)
		return fprintf(stderr,
			       "driver FILE [real | whole_datagrams]: no file, or not readable\n"),
		       2;
	while (fgets(line, sizeof(line), file)) {
		if (strstr(line, "\"name\""))
			begin();
		sscanf(line, TOLERANCE, bounds, bounds + 1, bounds + 2, bounds + 3);
		if (sscanf(line, FORMAT, &at, event, &sent, &datagrams, &marked, &repeat, &every,
			   &sent_every, &want) != 9)
			continue;
		for (; repeat > 0; repeat--, at += every, sent += sent_every) {
			if (!strcmp(event, "acked"))
				acked(sent, datagrams * SIZE);
			else if (!strcmp(event, "lost") || !strcmp(event, "echo"))
				congestion(at, sent);
			else if (!strcmp(event, "persistent"))
				persistent(at, sent);
		}
		outputs++;
		wrong += differs(window, want, bound);
		rest = strstr(line, "\"ssthresh_bytes\": ");
		if (rest && sscanf(rest, "\"ssthresh_bytes\": %lf", &threshold) == 1) {
			outputs++;
			wrong += differs(ssthresh, threshold, bound);
		}
	}
	if (!outputs)
		return fprintf(stderr, "%s has no windows; prr.json has none\n", words[1]), 2;
	printf("%d outputs, %d wrong\n", outputs, wrong);
	return wrong > 0;
}
