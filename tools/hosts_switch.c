/* hosts-switch: the wire between the hosts that tools/hosts makes, where it is to have a latency, which many kernels
 * cannot give.
 *
 *     hosts-switch BITS_PER_S DELAY_NS HOST...
 *
 * gives each HOST, a network namespace of `ip netns`, a TAP device `eth0`, and the namespace in which it was started
 * one that is named `switch`; then it goes on in the background, until it is killed. A frame leaves as fast as
 * BITS_PER_S allow (0: at once) behind those that its host sent before, reaches another host no faster than that
 * either, behind those that left for it before, where several send to it, and is there DELAY_NS later. Headers count,
 * of each segment that a network card would make of a large frame. Between two hosts frames keep their order, but for
 * acknowledgements without payload: they wait for one segment at most, as they do in the fair queues that hosts have
 * (fq_codel), where behind all that their host sends they would keep the other end waiting. None is lost unless a host
 * is so far ahead of the wire that the queue of its device is full. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
    PORTS_MOST = 65,          /* 64 hosts, and the namespace of the switch itself */
    FRAME_BYTES_MOST = 65600, /* with the header that the kernel puts before it */
    FRAMES_AT_ONCE = 32,      /* of one port, until the others have their turn */
    SEGMENT_BYTES = 1514      /* that a network card makes of a large frame */
};
/* A host that is further ahead of its wire than this waits: what it sends stays in the queue of its device. */
static const uint64_t AHEAD_NS = 100000000, FOREVER_NS = UINT64_MAX;

struct frame {
    struct frame *next;
    uint64_t sent_ns, length_ns; /* when it has left its host, and how long its end is busy with it */
    size_t bytes;
    unsigned char data[]; /* a struct virtio_net_hdr, and what is on the wire */
};

struct queue {
    struct frame *first, *last; /* in the order in which they leave their hosts */
};

struct port {
    int fd;                          /* -1: the device is there no more */
    unsigned char address[ETH_ALEN]; /* from which its last frame came; zero: none did */
    uint64_t sending_ns;             /* until when it does */
    uint64_t received_ns;            /* when it had received what it was given last */
    struct queue frames;             /* on their way to it, one behind the other */
    struct queue acknowledgements;   /* that wait for no others at its end */
};

struct wire {
    double rate_bps; /* 0: no limit */
    uint64_t delay_ns;
    int count;
    struct port ports[PORTS_MOST];
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static _Noreturn void fail(const char *what, const char *name)
{
    fprintf(stderr, "hosts-switch: %s%s%s: %s\n", what, *name ? " " : "", name, strerror(errno));
    exit(1);
}

/** What it is on the wire, from the Ethernet header on. */
static size_t wire_bytes(const unsigned char *data, size_t bytes)
{
    enum { TCP_LENGTH_AT = 12 }; /* in its upper half how many words the header has */
    struct virtio_net_hdr about;
    memcpy(&about, data, sizeof about);
    data += sizeof about;
    bytes -= sizeof about;
    if (about.gso_type == VIRTIO_NET_HDR_GSO_NONE || about.gso_size == 0 ||
        about.csum_start + (size_t)TCP_LENGTH_AT >= bytes)
        return bytes;
    const size_t headers = about.csum_start + 4U * (data[about.csum_start + TCP_LENGTH_AT] >> 4);
    const size_t payload = bytes > headers ? bytes - headers : 0;
    return payload + headers * ((payload + about.gso_size - 1) / about.gso_size);
}

/** Whether it is TCP's, has no payload and says nothing but up to where data have come. */
static bool acknowledges(const unsigned char *data, size_t bytes)
{
    enum { LEAST = 20, IP_LENGTH_AT = 2, IP_PROTOCOL_AT = 9, PROTOCOL_TCP = 6, TCP_LENGTH_AT = 12, TCP_FLAGS_AT = 13 };
    enum { FLAG_ACK = 16 };
    const unsigned char *ip = data + sizeof(struct virtio_net_hdr) + ETH_HLEN;
    if (bytes < sizeof(struct virtio_net_hdr) + ETH_HLEN + 2 * LEAST || ip[-2] != 8 || ip[-1] != 0)
        return false;
    const size_t header = 4U * (ip[0] & 15U), whole = 256U * ip[IP_LENGTH_AT] + ip[IP_LENGTH_AT + 1];
    const unsigned char *tcp = ip + header;
    if (header < LEAST || ip[IP_PROTOCOL_AT] != PROTOCOL_TCP ||
        bytes < sizeof(struct virtio_net_hdr) + ETH_HLEN + header + LEAST)
        return false;
    return tcp[TCP_FLAGS_AT] == FLAG_ACK && whole == header + 4U * (tcp[TCP_LENGTH_AT] >> 4);
}

static bool is_ahead(const struct port *port, uint64_t at_ns)
{
    return port->sending_ns > at_ns + AHEAD_NS;
}

/** Behind those that leave before it. What is put in later leaves later than all that have left by then, so of those
 * the order is settled. */
static void insert(struct queue *queue, struct frame *frame)
{
    struct frame **at = queue->first && queue->last->sent_ns <= frame->sent_ns ? &queue->last->next : &queue->first;
    while (*at && (*at)->sent_ns <= frame->sent_ns)
        at = &(*at)->next;
    frame->next = *at;
    *at = frame;
    if (!frame->next)
        queue->last = frame;
}

/* A frame on its way. */
struct passing {
    uint64_t sent_ns, length_ns; /* that it leaves by, and takes */
    bool is_first;               /* it waits for no other at its end either */
};

static void put(struct port *to, const unsigned char *data, size_t bytes, struct passing passing)
{
    struct frame *frame = to->fd >= 0 ? malloc(sizeof *frame + bytes) : NULL;
    if (!frame)
        return; /* as a wire that leads nowhere; a switch without memory drops frames */
    frame->sent_ns = passing.sent_ns;
    frame->length_ns = passing.length_ns;
    frame->bytes = bytes;
    memcpy(frame->data, data, bytes);
    insert(passing.is_first ? &to->acknowledgements : &to->frames, frame);
}

/** When a port that is given this frame next has received it, but for the delay. */
static uint64_t receives_at_ns(const struct port *to, const struct frame *frame)
{
    const uint64_t behind_ns = to->received_ns + frame->length_ns;
    return frame->sent_ns > behind_ns ? frame->sent_ns : behind_ns;
}

static uint64_t frame_due_ns(const struct wire *w, const struct port *to)
{
    return to->frames.first ? receives_at_ns(to, to->frames.first) + w->delay_ns : FOREVER_NS;
}

static uint64_t acknowledgement_due_ns(const struct wire *w, const struct port *to)
{
    return to->acknowledgements.first ? to->acknowledgements.first->sent_ns + w->delay_ns : FOREVER_NS;
}

/** The port of that address; NULL: it is that of many, or of nobody who has sent anything. */
static struct port *find(struct wire *w, const unsigned char *address)
{
    const bool is_many = address[0] & 1;
    for (int i = 0; !is_many && i < w->count; i++)
        if (memcmp(w->ports[i].address, address, ETH_ALEN) == 0)
            return &w->ports[i];
    return NULL;
}

/** How long a wire is busy with so much. */
static uint64_t length_of(const struct wire *w, size_t bytes)
{
    return w->rate_bps > 0 ? (uint64_t)(8e9 * (double)bytes / w->rate_bps) : 0;
}

static void pass_on(struct wire *w, struct port *from, const unsigned char *data, size_t bytes, uint64_t at_ns)
{
    const unsigned char *addresses = data + sizeof(struct virtio_net_hdr);
    const uint64_t length_ns = length_of(w, wire_bytes(data, bytes));
    from->sending_ns = (from->sending_ns > at_ns ? from->sending_ns : at_ns) + length_ns;
    const uint64_t soon_ns = at_ns + length_of(w, SEGMENT_BYTES) + length_ns;
    const bool is_first = acknowledges(data, bytes);
    const struct passing passing = {is_first && soon_ns < from->sending_ns ? soon_ns : from->sending_ns, length_ns,
                                    is_first};
    memcpy(from->address, addresses + ETH_ALEN, ETH_ALEN);
    struct port *to = find(w, addresses);
    if (to && to != from)
        put(to, data, bytes, passing);
    for (int i = 0; !to && i < w->count; i++)
        if (&w->ports[i] != from)
            put(&w->ports[i], data, bytes, passing);
}

static void take_frames(struct wire *w, struct port *from)
{
    static unsigned char data[FRAME_BYTES_MOST];
    for (int i = 0; i < FRAMES_AT_ONCE; i++) {
        const uint64_t at_ns = now_ns();
        if (is_ahead(from, at_ns))
            return;
        const ssize_t got = read(from->fd, data, sizeof data);
        if (got < (ssize_t)(sizeof(struct virtio_net_hdr) + ETH_HLEN))
            return;
        pass_on(w, from, data, (size_t)got, at_ns);
    }
}

static void deliver_first(struct port *to, struct queue *queue)
{
    struct frame *frame = queue->first;
    queue->first = frame->next;
    if (to->fd >= 0)
        (void)!write(to->fd, frame->data, frame->bytes); /* a device that is down takes none */
    free(frame);
}

static void deliver(const struct wire *w, struct port *to, uint64_t at_ns)
{
    while (acknowledgement_due_ns(w, to) <= at_ns) {
        to->received_ns += to->acknowledgements.first->length_ns; /* between two segments of what it receives */
        deliver_first(to, &to->acknowledgements);
    }
    while (frame_due_ns(w, to) <= at_ns) {
        to->received_ns = receives_at_ns(to, to->frames.first);
        deliver_first(to, &to->frames);
    }
}

/** When something is to be done, whatever comes. */
static uint64_t next_ns(const struct wire *w, uint64_t at_ns)
{
    uint64_t next = FOREVER_NS;
    for (int i = 0; i < w->count; i++) {
        const struct port *port = &w->ports[i];
        const uint64_t reads_ns = is_ahead(port, at_ns) ? port->sending_ns - AHEAD_NS : FOREVER_NS;
        const uint64_t due_ns[] = {reads_ns, frame_due_ns(w, port), acknowledgement_due_ns(w, port)};
        for (size_t k = 0; k < sizeof due_ns / sizeof *due_ns; k++)
            next = due_ns[k] < next ? due_ns[k] : next;
    }
    return next;
}

static void wait_for_frames(const struct wire *w, struct pollfd *sources)
{
    const uint64_t at_ns = now_ns(), next = next_ns(w, at_ns), left_ns = next > at_ns ? next - at_ns : 0;
    const struct timespec left = {(time_t)(left_ns / 1000000000U), (long)(left_ns % 1000000000U)};
    for (int i = 0; i < w->count; i++)
        sources[i] = (struct pollfd){.fd = is_ahead(&w->ports[i], at_ns) ? -1 : w->ports[i].fd, .events = POLLIN};
    if (ppoll(sources, (nfds_t)w->count, next == FOREVER_NS ? NULL : &left, NULL) < 0)
        for (int i = 0; i < w->count; i++)
            sources[i].revents = 0;
}

static _Noreturn void go_on(struct wire *w)
{
    for (;;) {
        struct pollfd sources[PORTS_MOST];
        wait_for_frames(w, sources);
        for (int i = 0; i < w->count; i++) {
            deliver(w, &w->ports[i], now_ns());
            if (sources[i].revents & (POLLERR | POLLNVAL)) { /* its namespace has gone, and the device with it */
                close(w->ports[i].fd);
                w->ports[i].fd = -1;
            } else if (sources[i].revents) {
                take_frames(w, &w->ports[i]);
            }
        }
    }
}

/** In the network namespace that the process is in. Large frames are not cut and their sums not computed: the kernel
 * on the other side takes them as they are, so that a fast wire costs little. */
static int open_device(const char *name, const char *host)
{
    const int fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    struct ifreq asked = {.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR};
    if (fd < 0)
        fail("/dev/net/tun", "cannot be opened");
    memcpy(asked.ifr_name, name, strlen(name));
    if (ioctl(fd, TUNSETIFF, &asked) != 0 ||
        ioctl(fd, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN) != 0)
        fail("no TAP device for", host);
    return fd;
}

static int open_namespace(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail("cannot open network namespace", path);
    return fd;
}

static void enter(int fd, const char *name)
{
    if (setns(fd, CLONE_NEWNET) != 0)
        fail("cannot enter network namespace", name);
}

static int open_host(const char *host)
{
    char path[300];
    snprintf(path, sizeof path, "/run/netns/%.200s", host);
    const int fd = open_namespace(path);
    enter(fd, host);
    close(fd);
    return open_device("eth0", host);
}

/** What it emulates needs no processor, so others must not make it wait for one, ranks that sleep a timetable and go
 * before all else among them; without the right to it is as any. */
static void be_punctual(void)
{
    const struct sched_param first = {.sched_priority = 2};
    if (sched_setscheduler(0, SCHED_RR, &first) != 0)
        (void)setpriority(PRIO_PROCESS, 0, -20);
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0, 0, 0);
}

int main(int count, char **words)
{
    static struct wire wire;
    char *rest[2] = {NULL, NULL};
    if (count < 4 || count > 2 + PORTS_MOST) {
        fprintf(stderr, "usage: hosts-switch BITS_PER_S DELAY_NS HOST...   (1 to %d of them)\n", PORTS_MOST - 1);
        return 2;
    }
    wire.rate_bps = strtod(words[1], &rest[0]);
    wire.delay_ns = strtoull(words[2], &rest[1], 10);
    if (*rest[0] || *rest[1] || !(wire.rate_bps >= 0)) {
        fprintf(stderr, "hosts-switch: \"%s\" bits a second and \"%s\" ns of delay must be numbers\n", words[1],
                words[2]);
        return 2;
    }
    const int home_fd = open_namespace("/proc/self/ns/net");
    for (int i = 3; i < count; i++)
        wire.ports[wire.count++].fd = open_host(words[i]);
    enter(home_fd, "that it was started in");
    wire.ports[wire.count++].fd = open_device("switch", "the switch");
    close(home_fd);
    if (daemon(0, 0) != 0)
        fail("cannot go on in the background", "");
    be_punctual();
    go_on(&wire);
}
