/* Puts a controller under a file of vectors: driver newreno.json. Here it is NewReno of RFC 9002,
 * appendix B: replace the functions before main by calls of your stack. Each event of a file is
 * one line, with its keys in this order. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#define FORMAT                                                                               \
	" {\"at_us\": %lf, \"event\": \"%15[a-z]\", \"sent_us\": %lf, \"datagrams\": %lf, "        \
	"\"marked\": %lf, \"repeat\": %lf, \"every_us\": %lf, \"sent_every_us\": %lf, "            \
	"\"cwnd_bytes\": %lf"

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
	ssthresh = fmax(window * REDUCTION, 2 * SIZE);
	window = ssthresh;
}

static void persistent(double at_us, double sent_us)
{
	congestion(at_us, sent_us);
	window = 2 * SIZE;
	recovery_us = -1;
}

int main(int count, char **words)
{
	FILE *file = count == 2 ? fopen(words[1], "r") : NULL;
	double at, sent, every, sent_every, datagrams, marked, repeat, want;
	char line[1024], event[16];
	int outputs = 0, wrong = 0;

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "\"name\""))
			begin();
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
		wrong += fabs(window - want) > fmax(1e-9 * want, 1);
	}
	printf("%d outputs, %d wrong\n", outputs, wrong);
	return !file || !outputs || wrong;
}
