/* Puts a stack (stack.h) under a file of vectors: driver FILE, or driver FILE whole_datagrams for a stack whose window
 * grows by whole datagrams. Each event of a file is one line, with its keys in this order; so is the tolerance. Each
 * output that is wrong is a line of standard error. */
#include "stack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EVENT                                                                               \
	" {\"at_us\": %lf, \"event\": \"%15[a-z]\", \"sent_us\": %lf, \"datagrams\": %lf, " \
	"\"marked\": %lf, \"repeat\": %lf, \"every_us\": %lf, \"sent_every_us\": %lf"
#define NAME " {\"name\": \"%79[^\"]\""
#define TOLERANCE                                                         \
	"\"tolerance\": {\"real\": {\"relative\": %lf, \"bytes\": %lf}, " \
	"\"whole_datagrams\": {\"relative\": %lf, \"bytes\": %lf}}"

static int outputs, wrong;
static char name[80], event[16];

/* Compares an output of the stack, negative if it has none, with that of the line: the larger of the bounds counts. */
static void compare(const char *line, const char *key, double got, double part, double bytes)
{
	const char *at = strstr(line, key);
	double at_us = 0, want;

	if (got < 0 || !at || sscanf(at + strlen(key), "\": %lf", &want) != 1)
		return;
	outputs++;
	/* What is not a number is not within. */
	if (fabs(got - want) <= fmax(part * want, bytes))
		return;
	wrong++;
	sscanf(line, " {\"at_us\": %lf", &at_us);
	fprintf(stderr, "\"%s\", \"%s\" at %.0f us: %s %.1f for %.1f\n", name, event, at_us, key,
		got, want);
}

int main(int count, char **words)
{
	FILE *file = count == 2 || count == 3 ? fopen(words[1], "r") : NULL;
	double at, sent, every, sent_every, datagrams, marked, repeat;
	double size = 0, window = 0, bounds[4] = {0};
	const double *bound =
		count == 3 && !strcmp(words[2], "whole_datagrams") ? bounds + 2 : bounds;
	char line[1024];

	if (!file || (count == 3 && bound == bounds && strcmp(words[2], "real")))
		return fprintf(stderr, "driver FILE [real | whole_datagrams]: no such bound, or "
				       "FILE is not readable\n"),
		       2;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, NAME, name) == 1)
			stack_begin(size, window);
		sscanf(line, " \"datagram_bytes\": %lf", &size);
		sscanf(line, " \"initial_window_bytes\": %lf", &window);
		sscanf(line, TOLERANCE, bounds, bounds + 1, bounds + 2, bounds + 3);
		if (sscanf(line, EVENT, &at, event, &sent, &datagrams, &marked, &repeat, &every,
			   &sent_every) != 8)
			continue;
		for (; repeat > 0; repeat--, at += every, sent += sent_every) {
			if (!strcmp(event, "sent"))
				for (int i = 0; i < datagrams; i++)
					stack_sent(at, size);
			else if (!strcmp(event, "echo"))
				stack_echo(at, sent);
			else if (!strcmp(event, "acked") || !strcmp(event, "limited"))
				stack_acked(at, sent, datagrams * size, marked, *event == 'l');
			else
				stack_lost(at, sent, datagrams * size,
					   !strcmp(event, "persistent"));
		}
		compare(line, "cwnd_bytes", stack_window(), bound[0], bound[1]);
		compare(line, "ssthresh_bytes", stack_ssthresh(), bound[0], bound[1]);
		compare(line, "pacing_bit_per_s", stack_pacing(), bound[0], 0);
	}
	if (!outputs)
		return fprintf(stderr, "%s has no windows; prr.json has none\n", words[1]), 2;
	printf("%d outputs, %d wrong\n", outputs, wrong);
	return wrong > 0;
}
