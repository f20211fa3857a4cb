/* The stack that driver.c calls: one path. Times are in microseconds from the beginning of a sequence. */
#ifndef STACK_H
#define STACK_H

/* A new path, with datagrams of that size, and that window. */
void stack_begin(double datagram_bytes, double window_bytes);
/* An event of README.md, by its word there: "sent", "acked", "limited", "lost", "persistent" or "echo". It is about so many
 * bytes. The newest datagram of them was sent at sent_us, and so many datagrams were marked. */
void stack_event(const char *event, double at_us, double sent_us, double bytes, double marked);
/* The congestion window [bytes], the slow-start threshold [bytes] and the pacing rate [bit/s]. An output that the stack
 * does not have is negative. */
void stack_outputs(double outputs[3]);

#endif
