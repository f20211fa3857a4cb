/* The stack that driver.c calls: one path. Times are in microseconds from the beginning of a sequence. */
#ifndef STACK_H
#define STACK_H

/* A new path, with datagrams of that size, and that window. */
void stack_begin(double datagram_bytes, double window_bytes);
/* A datagram leaves. */
void stack_sent(double at_us, double bytes);
/* An ACK frame acknowledges datagrams, the newest of which was sent then; so many of them were marked. limited: the path
 * is short of data. */
void stack_acked(double at_us, double sent_us, double bytes, double marked, int limited);
/* Datagrams are lost, the newest of which was sent then. */
void stack_lost(double at_us, double sent_us, double bytes, int persistent);
/* The count of marks has risen, by a frame whose newest datagram was sent then. */
void stack_echo(double at_us, double sent_us);

/* The congestion window [bytes]. */
double stack_window(void);
/* The slow-start threshold [bytes] and the pacing rate [bit/s]; negative if there is none. */
double stack_ssthresh(void);
double stack_pacing(void);

#endif
