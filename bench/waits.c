// Writes down when a program sleeps, reads and writes datagrams: a library that stands before the system's (LD_PRELOAD). Each thread
// that reads has a file in the folder WAITS, written when the program ends, of the records below: bench/waits.py reads them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { WRITE = 1, READ = 2, SLEEP = 3 };
// A flow at 100 Mbit/s has 25,000 records a second at an end.
enum { KEPT = 1 << 21, THREADS = 4, BATCH = 32, CONTROL = 512 };
// Of <linux/udp.h>, which does not go with <netinet/udp.h> everywhere.
enum { OF_UDP = 17, SEGMENT_OF_UDP = 103, SEGMENTS_READ_OF_UDP = 104 };

struct event {
	// When the call returned.
	uint64_t at_ns;
	// When it began; of a read, when the kernel had the datagram from its device, zero if it does not say.
	uint64_t before_ns;
	// Of one message. Of a sleep, the milliseconds that it may last at most, all bits set if it may last for ever.
	uint32_t bytes;
	// Of the kernel's own splitting and joining of datagrams in a message.
	uint16_t segment;
	uint8_t kind;
	// The number of the message among those of one call. Of a sleep, 1 if something ended it before its time.
	uint8_t number;
};

static struct record {
	struct event *events;
	size_t used;
	long thread;
	pid_t process;
} records[THREADS];
static unsigned threads;
static __thread struct record *own;
// The socket whose datagrams have the time of their arrival.
static __thread int stamped = -1;

static uint64_t clock_ns(clockid_t which)
{
	struct timespec now;

	clock_gettime(which, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

// Memory that is there before anything is measured: the first touch of a page takes time, and so does a file.
__attribute__((constructor)) static void make_room(void)
{
	if (!getenv("WAITS"))
		return;
	// Programs that this one starts are not measured.
	unsetenv("LD_PRELOAD");
	for (unsigned i = 0; i < THREADS; i++) {
		void *room = mmap(NULL, KEPT * sizeof(struct event), PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

		records[i].events = room == MAP_FAILED ? NULL : room;
		records[i].process = getpid();
	}
}

// The first read of a thread begins its record.
static void begin(void)
{
	unsigned number = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);

	if (number >= THREADS || !records[number].events)
		return;
	records[number].thread = syscall(SYS_gettid);
	own = &records[number];
}

static void note(struct event event)
{
	if (own && own->used < KEPT)
		own->events[own->used++] = event;
}

__attribute__((destructor)) static void write_all(void)
{
	const char *folder = getenv("WAITS");

	for (unsigned i = 0; folder && i < threads && i < THREADS; i++) {
		struct record *record = &records[i];
		char path[4096];
		FILE *file;

		// A process that was forked has a copy of what is not its own.
		if (!record->used || record->process != getpid())
			continue;
		snprintf(path, sizeof(path), "%s/%ld", folder, record->thread);
		file = fopen(path, "wb");
		if (!file)
			continue;
		fwrite(record->events, sizeof(*record->events), record->used, file);
		fclose(file);
	}
}

int epoll_wait(int fd, struct epoll_event *happened, int most, int timeout_ms)
{
	static int (*system)(int, struct epoll_event *, int, int);
	uint64_t before;
	int found;

	if (!system)
		system = dlsym(RTLD_NEXT, "epoll_wait");
	before = clock_ns(CLOCK_MONOTONIC);
	found = system(fd, happened, most, timeout_ms);
	// One that only looks does not sleep.
	if (timeout_ms != 0)
		note((struct event){ .at_ns = clock_ns(CLOCK_MONOTONIC),
				     .before_ns = before,
				     .bytes = timeout_ms,
				     .kind = SLEEP,
				     .number = found != 0 });
	return found;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	static ssize_t (*system)(int, const struct msghdr *, int);
	struct event event = { .kind = WRITE };
	ssize_t sent;

	if (!system)
		system = dlsym(RTLD_NEXT, "sendmsg");
	for (struct cmsghdr *each = CMSG_FIRSTHDR(message); each;
	     each = CMSG_NXTHDR((struct msghdr *)message, each))
		if (each->cmsg_level == OF_UDP && each->cmsg_type == SEGMENT_OF_UDP)
			memcpy(&event.segment, CMSG_DATA(each), sizeof(event.segment));
	event.before_ns = clock_ns(CLOCK_MONOTONIC);
	sent = system(fd, message, flags);
	event.at_ns = clock_ns(CLOCK_MONOTONIC);
	event.bytes = sent;
	if (sent > 0)
		note(event);
	return sent;
}

// Gives a caller its control messages without the time of arrival, which it did not ask for.
static void give(struct msghdr *to, struct msghdr *from, size_t room, struct event *event, uint64_t behind_ns)
{
	size_t used = 0;

	for (struct cmsghdr *each = CMSG_FIRSTHDR(from); each; each = CMSG_NXTHDR(from, each)) {
		size_t space = CMSG_SPACE(each->cmsg_len - CMSG_LEN(0));

		if (each->cmsg_level == SOL_SOCKET && each->cmsg_type == SCM_TIMESTAMPNS) {
			struct timespec at;

			memcpy(&at, CMSG_DATA(each), sizeof(at));
			event->before_ns = at.tv_sec * 1000000000ull + at.tv_nsec - behind_ns;
			continue;
		}
		if (each->cmsg_level == OF_UDP && each->cmsg_type == SEGMENTS_READ_OF_UDP) {
			int size;

			memcpy(&size, CMSG_DATA(each), sizeof(size));
			event->segment = size;
		}
		if (used + space > room) {
			to->msg_flags |= MSG_CTRUNC;
			break;
		}
		memset((char *)to->msg_control + used, 0, space);
		memcpy((char *)to->msg_control + used, each, each->cmsg_len);
		used += space;
	}
	to->msg_controllen = used;
}

int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
	static int (*system)(int, struct mmsghdr *, unsigned, int, struct timespec *);
	static __thread char control[BATCH][CONTROL] __attribute__((aligned(16)));
	struct msghdr theirs[BATCH];
	uint64_t at, behind;
	int read;

	if (!system)
		system = dlsym(RTLD_NEXT, "recvmmsg");
	if (!own)
		begin();
	if (fd != stamped) {
		setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &(int){ 1 }, sizeof(int));
		stamped = fd;
	}
	if (count > BATCH)
		count = BATCH;
	// The caller has no room for one control message more.
	for (unsigned i = 0; i < count; i++) {
		theirs[i] = messages[i].msg_hdr;
		messages[i].msg_hdr.msg_control = control[i];
		messages[i].msg_hdr.msg_controllen = CONTROL;
	}
	read = system(fd, messages, count, flags, timeout);
	at = clock_ns(CLOCK_MONOTONIC);
	// The kernel's times are of the clock that people set.
	behind = clock_ns(CLOCK_REALTIME) - at;
	for (unsigned i = 0; i < count; i++) {
		struct msghdr found = messages[i].msg_hdr;
		struct event event = { .at_ns = at, .bytes = messages[i].msg_len, .kind = READ, .number = i };

		messages[i].msg_hdr.msg_control = theirs[i].msg_control;
		messages[i].msg_hdr.msg_controllen = theirs[i].msg_controllen;
		if ((int)i >= read)
			continue;
		give(&messages[i].msg_hdr, &found, theirs[i].msg_controllen, &event, behind);
		note(event);
	}
	return read;
}
