/* Puts a stack (stack.h) under a file of vectors: driver FILE [real | whole_datagrams]. An event is a line of the file, and
 * so are the tolerances. A wrong output is a line of standard error. */
#include "stack.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EVENT                                                                               \
	" {\"at_us\": %lf, \"event\": \"%15[a-z]\", \"sent_us\": %lf, \"datagrams\": %lf, " \
	"\"marked\": %lf, \"repeat\": %lf, \"every_us\": %lf, \"sent_every_us\": %lf"

int main(int count, char **words)
{
	const char *keys[] = {"cwnd_bytes", "ssthresh_bytes", "pacing_bit_per_s"};
	const char *tolerance = count == 3 ? words[2] : "real", *found;
	FILE *file = count == 2 || count == 3 ? fopen(words[1], "r") : NULL;
	double first, at, sent, every, sent_every, datagrams, marked, repeat, want, bound;
	double outputs[3], size = 0, window = 0, part = 0, bytes = -1;
	char line[1024], name[80], event[16];
	int compared = 0, wrong = 0;

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, " \"datagram_bytes\": %lf", &size);
		sscanf(line, " \"initial_window_bytes\": %lf", &window);
		if (strstr(line, "\"tolerance\": ") && (found = strstr(line, tolerance)))
			sscanf(found + strlen(tolerance), "\": {\"relative\": %lf, \"bytes\": %lf",
			       &part, &bytes);
		if (sscanf(line, " {\"name\": \"%79[^\"]\"", name) == 1)
			stack_begin(size, window);
		if (sscanf(line, EVENT, &first, event, &sent, &datagrams, &marked, &repeat, &every,
			   &sent_every) != 8)
			continue;
		for (at = first; repeat > 0; repeat--, at += every, sent += sent_every)
			stack_event(event, at, sent, datagrams * size, marked);
		stack_outputs(outputs);
		for (int i = 0; i < 3; i++) {
			found = strstr(line, keys[i]);
			if (!found || outputs[i] < 0 || bytes < 0 ||
			    sscanf(found + strlen(keys[i]), "\": %lf", &want) != 1)
				continue;
			compared++;
			bound = fmax(part * want, i < 2 ? bytes : 0);
			/* NaN is not within. */
			if (fabs(outputs[i] - want) <= bound)
				continue;
			wrong++;
			fprintf(stderr, "\"%s\", \"%s\" at %.0f us: %s %.1f for %.1f\n", name,
				event, first, keys[i], outputs[i], want);
		}
	}
	if (!compared)
		fprintf(stderr, "driver FILE [real | whole_datagrams]: FILE is not readable, or "
				"has nothing to compare by that bound\n");
	printf("%d outputs, %d wrong\n", compared, wrong);
	return compared ? wrong > 0 : 2;
}
