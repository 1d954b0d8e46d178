/* Ranks as processes: what they hold after a mean, and how they fail together. */
#include "base/clock.h"
#include "base/mem.h"
#include "dist/dist.h"
#include "dist/meeting_place.h"
#include "dist/mpi.h"
#include "tap.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 5, NUMBERS = 4099, MEANS = 3 };

/* What a rank leaves for the test to look at, in memory that all share. */
struct shared {
    double values[MOST][NUMBERS];
    float floats[MOST][NUMBERS];
    int status[MOST];
    char error[MOST][200];
    int ranks;
    bool is_as_said[MOST]; /* what was sent */
    int wrong[MOST];       /* numbers of a rank that are not the mean */
};

struct world {
    int ranks;
    struct ys_dist_place place;
    double patience_s;
    enum ys_dist_transport transport;
    const char *wire;
    bool are_apart; /* each rank has an address of its own, as on hosts of their own */
    struct shared *shared;
    void (*act)(struct ys_dist *dist, int rank, struct shared *shared);
};

/* Another number for each rank and place, whose sums round. */
static double number_of(int rank, size_t i)
{
    return 1.0 / (double)(3 + (i * 7 + (size_t)rank * 13) % 101) * (i % 3 ? 1 : -1);
}

static void be_rank(const struct world *world, int rank)
{
    struct ys_dist *dist = NULL;
    char address[32];
    const struct ys_dist_config config = {.rank = rank,
                                          .world = world->ranks,
                                          .rendezvous = world->place.text,
                                          .address = world->are_apart ? address : NULL,
                                          .patience_s = world->patience_s,
                                          .transport = world->transport,
                                          .wire = world->wire};
    snprintf(address, sizeof address, "127.0.1.%d", rank + 1); /* all of 127/8 is this host */
    world->shared->status[rank] = ys_dist_open(&config, &dist);
    if (world->shared->status[rank] == YS_OK)
        world->act(dist, rank, world->shared);
    snprintf(world->shared->error[rank], sizeof world->shared->error[rank], "%s", ys_error());
    ys_dist_close(dist);
    _exit(0);
}

/* One process for each rank from `from` on; all of them end. */
static void run_world(struct world *world, int from)
{
    pid_t pids[MOST];
    if (world->shared)
        munmap(world->shared, sizeof *world->shared);
    world->shared = mmap(NULL, sizeof *world->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(world->shared != MAP_FAILED);
    world->shared->ranks = world->ranks;
    REQUIRE(ys_dist_place_take(world->are_apart ? "127.0.1.1" : YS_DIST_LOOPBACK, &world->place) == YS_OK);
    fflush(stdout);
    for (int r = from; r < world->ranks; r++) {
        pids[r] = fork();
        if (pids[r] == 0)
            be_rank(world, r);
    }
    for (int r = from; r < world->ranks; r++)
        waitpid(pids[r], NULL, 0);
    ys_dist_place_give_back(&world->place);
}

static void take_means(struct ys_dist *dist, int rank, struct shared *shared)
{
    double *values = shared->values[rank];
    float *floats = shared->floats[rank];
    for (size_t i = 0; i < NUMBERS; i++) {
        values[i] = number_of(rank, i);
        floats[i] = (float)values[i];
    }
    /* Uneven parts, an empty one and single numbers: pieces lie across them. */
    const struct ys_dist_part parts[] = {{values, 1}, {values + 1, 0}, {values + 1, 2000}, {values + 2001, 2098}};
    const struct ys_dist_part narrow[] = {{floats, NUMBERS}};
    for (int i = 0; i < MEANS && shared->status[rank] == YS_OK; i++)
        shared->status[rank] = ys_dist_mean(dist, parts, sizeof parts / sizeof parts[0], true);
    if (shared->status[rank] == YS_OK)
        shared->status[rank] = ys_dist_mean(dist, narrow, 1, false);
}

/* The mean of place `i` of `count`, in the order of the ring: from the rank that has the number of its piece on. */
static double mean_of(int world, size_t count, size_t i, bool is_double)
{
    const size_t w = (size_t)world, longer = count % w, size = count / w;
    const size_t begin = longer * (size + 1);
    const size_t piece = i < begin ? i / (size + 1) : longer + (i - begin) / size;
    double sum = number_of((int)piece, i);
    float narrow = (float)sum;
    for (size_t k = 1; k < w; k++) {
        const double more = number_of((int)((piece + k) % w), i);
        sum += more;
        narrow += (float)more;
    }
    return is_double ? sum / (double)world : (double)(narrow / (float)world);
}

static double mean_by_hand(int world, size_t i, bool is_double)
{
    return mean_of(world, NUMBERS, i, is_double);
}

static void check_named_order(enum ys_dist_transport transport)
{
    for (int ranks = 1; ranks <= MOST; ranks++) {
        struct world world = {.ranks = ranks, .act = take_means, .transport = transport};
        run_world(&world, 0);
        int wrong = 0, unequal = 0;
        for (int r = 0; r < ranks; r++) {
            CHECK_INT(world.shared->status[r], YS_OK);
            for (size_t i = 0; i < NUMBERS; i++)
                unequal += world.shared->values[r][i] != world.shared->values[0][i] ||
                           world.shared->floats[r][i] != world.shared->floats[0][i];
        }
        for (size_t i = 0; i < NUMBERS; i++)
            wrong += (double)world.shared->floats[0][i] != mean_by_hand(ranks, i, false);
        CHECK_INT(unequal, 0);
        CHECK_INT(wrong, 0);
    }
}

static void means_are_those_of_the_named_order_to_the_bit(void)
{
    check_named_order(YS_DIST_TCP);
}

static void means_through_shared_memory_are_too(void)
{
    check_named_order(YS_DIST_SHARED);
}

/* Buckets of unequal length, all begun before the first is waited for, the largest not first; twice, so that memory is
 * used again. What was sent is what the algorithm says. */
static void take_buckets(struct ys_dist *dist, int rank, struct shared *shared)
{
    static const size_t ends[] = {5, 1200, 1201, 4000, NUMBERS};
    enum { BUCKETS = sizeof ends / sizeof ends[0] };
    struct ys_dist_part parts[BUCKETS];
    uint64_t due = 0;
    for (size_t i = 0; i < NUMBERS; i++)
        shared->values[rank][i] = number_of(rank, i);
    for (int turn = 0; turn < 2; turn++) {
        size_t begin = 0;
        for (size_t b = 0; b < BUCKETS; b++) {
            parts[b] = (struct ys_dist_part){shared->values[rank] + begin, ends[b] - begin};
            due += ys_dist_mean_bytes(parts[b].count, sizeof(double), rank, shared->ranks);
            begin = ends[b];
            if (shared->status[rank] == YS_OK)
                shared->status[rank] = ys_dist_begin(dist, &parts[b], 1, true);
        }
        if (shared->status[rank] == YS_OK)
            shared->status[rank] = ys_dist_wait(dist);
    }
    shared->is_as_said[rank] = ys_dist_counters(dist).sent_bytes == due;
}

static void buckets_have_the_same_bits_whichever_the_transport(void)
{
    for (int ranks = 1; ranks <= MOST; ranks++) {
        struct world through[] = {{.ranks = ranks, .act = take_buckets, .transport = YS_DIST_TCP},
                                  {.ranks = ranks, .act = take_buckets, .transport = YS_DIST_SHARED}};
        for (int t = 0; t < 2; t++) {
            run_world(&through[t], 0);
            for (int r = 0; r < ranks; r++) {
                CHECK_INT(through[t].shared->status[r], YS_OK);
                CHECK(through[t].shared->is_as_said[r]);
                CHECK(memcmp(through[t].shared->values[r], through[0].shared->values[0],
                             sizeof through[0].shared->values[0]) == 0);
            }
        }
        CHECK(ranks == 1 || fabs(through[0].shared->values[0][7] - number_of(0, 7)) > 0);
    }
}

/* Leaves while its neighbour takes no part: the thread that waits for it must not keep it. */
static void leave_at_once(struct ys_dist *dist, int rank, struct shared *shared)
{
    const struct ys_dist_part part = {shared->values[rank], NUMBERS};
    if (rank == 0)
        shared->status[rank] = ys_dist_begin(dist, &part, 1, true);
    else
        usleep(200000);
}

static void whoever_leaves_breaks_its_means_off(void)
{
    for (int t = YS_DIST_TCP; t <= (int)YS_DIST_SHARED; t++) {
        struct world world = {.ranks = 2, .act = leave_at_once, .transport = (enum ys_dist_transport)t};
        run_world(&world, 0);
        CHECK_INT(world.shared->status[0], YS_OK);
        CHECK_INT(world.shared->status[1], YS_OK);
    }
}

static void take_one_mean(struct ys_dist *dist, int rank, struct shared *shared)
{
    for (size_t i = 0; i < NUMBERS; i++)
        shared->values[rank][i] = number_of(rank, i);
    const struct ys_dist_part part = {shared->values[rank], NUMBERS};
    shared->status[rank] = ys_dist_mean(dist, &part, 1, true);
}

static void one_mean_in_double_is_that_by_hand(void)
{
    for (int ranks = 2; ranks <= MOST; ranks++) {
        struct world world = {.ranks = ranks, .act = take_one_mean};
        run_world(&world, 0);
        int wrong = 0;
        for (size_t i = 0; i < NUMBERS; i++)
            wrong += world.shared->values[ranks - 1][i] != mean_by_hand(ranks, i, true);
        CHECK_INT(wrong, 0);
    }
}

/* More than is received at once, which ends in the middle of a number, in more parts than go out at once, of 1 to 5001
 * numbers and some of none. */
enum { MANY = 400009, PARTS_MOST = 4096 };

static size_t cut(char *values, size_t count, size_t size, struct ys_dist_part *parts)
{
    size_t at = 0, found = 0;
    for (; at < count && found < PARTS_MOST; found++) {
        size_t length = found % 7 == 3 ? 0 : found % 50 == 49 ? 5001 : 1 + found % 13;
        length = length < count - at && found + 1 < PARTS_MOST ? length : count - at;
        parts[found] = (struct ys_dist_part){values + at * size, length};
        at += length;
    }
    return found;
}

static void take_many(struct ys_dist *dist, int rank, struct shared *shared)
{
    static struct ys_dist_part parts[PARTS_MOST];
    static double doubles[MANY];
    static float floats[MANY];
    for (size_t i = 0; i < MANY; i++) {
        doubles[i] = number_of(rank, i);
        floats[i] = (float)doubles[i];
    }
    shared->status[rank] = ys_dist_mean(dist, parts, cut((char *)doubles, MANY, sizeof *doubles, parts), true);
    if (shared->status[rank] == YS_OK)
        shared->status[rank] = ys_dist_mean(dist, parts, cut((char *)floats, MANY, sizeof *floats, parts), false);
    for (size_t i = 0; i < MANY; i++)
        shared->wrong[rank] += doubles[i] != mean_of(shared->ranks, MANY, i, true) ||
                               (double)floats[i] != mean_of(shared->ranks, MANY, i, false);
}

static void many_numbers_in_many_parts_have_the_bits_of_the_named_order(void)
{
    for (int ranks = 2; ranks <= MOST; ranks++)
        for (int t = YS_DIST_TCP; t <= (int)YS_DIST_SHARED; t++) {
            struct world world = {.ranks = ranks, .act = take_many, .transport = (enum ys_dist_transport)t};
            run_world(&world, 0);
            for (int r = 0; r < ranks; r++) {
                CHECK_INT(world.shared->status[r], YS_OK);
                CHECK_INT(world.shared->wrong[r], 0);
            }
        }
}

static void take_few(struct ys_dist *dist, int rank, struct shared *shared)
{
    shared->values[rank][0] = rank + 1;
    const struct ys_dist_part parts[] = {{shared->values[rank], 1}};
    shared->status[rank] = ys_dist_mean(dist, parts, 1, true);
    if (shared->status[rank] == YS_OK)
        shared->status[rank] = ys_dist_mean(dist, parts, 0, true);
}

static void fewer_numbers_than_ranks_are_no_special_case(void)
{
    for (int ranks = 2; ranks <= MOST; ranks++) {
        struct world world = {.ranks = ranks, .act = take_few};
        run_world(&world, 0);
        for (int r = 0; r < ranks; r++) {
            CHECK_INT(world.shared->status[r], YS_OK);
            CHECK(world.shared->values[r][0] == (ranks + 1) / 2.0);
        }
    }
}

static void die_at_the_second(struct ys_dist *dist, int rank, struct shared *shared)
{
    const struct ys_dist_part part = {shared->values[rank], NUMBERS};
    shared->status[rank] = ys_dist_mean(dist, &part, 1, true);
    if (rank == 2)
        raise(SIGKILL);
    for (int i = 0; i < 2; i++) /* once it has failed, it goes on failing */
        shared->status[rank] = ys_dist_mean(dist, &part, 1, true);
}

/** Of four, rank 2 has died. */
static void check_that_others_end(const struct world *world)
{
    for (int r = 0; r < 4; r++) {
        if (r == 2)
            continue;
        CHECK_INT(world->shared->status[r], YS_EIO);
        CHECK_HAS(world->shared->error[r], "has gone");
    }
}

static void a_rank_that_dies_ends_the_others_who_name_a_neighbour(void)
{
    struct world world = {.ranks = 4, .act = die_at_the_second};
    run_world(&world, 0);
    check_that_others_end(&world);
    CHECK_HAS(world.shared->error[3], "rank 2 has gone");
}

/* Rank 1 has sent what fits between two sockets, and nobody has taken it yet, when it dies. */
static void die_while_sending(struct ys_dist *dist, int rank, struct shared *shared)
{
    enum { COUNT = 3000000 }; /* of which a half is more than fits */
    const struct ys_dist_part part = {ys_alloc(COUNT, sizeof(float)), COUNT};
    if (!part.values)
        _exit(1);
    if (rank == 1) {
        shared->status[rank] = ys_dist_begin(dist, &part, 1, false);
        usleep(100000);
        raise(SIGKILL);
    }
    usleep(300000);
    shared->status[rank] = ys_dist_mean(dist, &part, 1, false);
    ys_free(part.values);
}

static void a_rank_that_dies_while_it_sends_is_named(void)
{
    struct world world = {.ranks = 2, .act = die_while_sending};
    run_world(&world, 0);
    CHECK_INT(world.shared->status[0], YS_EIO);
    CHECK_HAS(world.shared->error[0], "rank 1 has gone");
}

static void take_unequal(struct ys_dist *dist, int rank, struct shared *shared)
{
    const struct ys_dist_part part = {shared->values[rank], rank == 1 ? 10 : 11};
    shared->status[rank] = ys_dist_mean(dist, &part, 1, true);
}

static void ranks_that_leave_numbers_out_are_told(void)
{
    struct world world = {.ranks = 2, .act = take_unequal};
    run_world(&world, 0);
    CHECK_INT(world.shared->status[0], YS_EPROTOCOL);
    CHECK_HAS(world.shared->error[0], "rank 1 takes a mean of 10 numbers of 8 bytes, rank 0 of 11");
}

static void who_does_not_come_is_named_when_patience_ends(void)
{
    struct world world = {.ranks = 3, .act = take_few, .patience_s = 0.2};
    run_world(&world, 1);
    CHECK_INT(world.shared->status[1], YS_ETIMEOUT);
    CHECK_HAS(world.shared->error[1], "rank 0 did not come");
}

/* A port scanner, say: connects once somebody listens. Its connection, or -1. */
static int come_as_stranger(const char *rendezvous)
{
    struct sockaddr_in place = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    place.sin_port = htons((uint16_t)atoi(strchr(rendezvous, ':') + 1));
    for (int tries = 0; tries < 10000; tries++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(fd, (const struct sockaddr *)&place, sizeof place) == 0)
            return fd;
        close(fd);
        usleep(2000);
    }
    return -1;
}

static pid_t start_rank(const struct world *world, int rank)
{
    fflush(stdout);
    const pid_t pid = fork();
    if (pid == 0)
        be_rank(world, rank);
    return pid;
}

/* Rank 0 listens, a stranger comes, says so many bytes and stays, and only then rank 1 comes. */
static void check_that_ranks_meet_beside(const char *said, size_t size)
{
    struct world world = {.ranks = 2, .act = take_few, .patience_s = 30};
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED && ys_dist_place_take(YS_DIST_LOOPBACK, &world.place) == YS_OK);
    world.shared = shared;
    const pid_t first = start_rank(&world, 0);
    const int fd = come_as_stranger(world.place.text);
    CHECK(fd >= 0 && send(fd, said, size, MSG_NOSIGNAL) == (ssize_t)size);
    const pid_t second = start_rank(&world, 1);
    waitpid(first, NULL, 0);
    waitpid(second, NULL, 0);
    close(fd);
    CHECK_INT(shared->status[0], YS_OK);
    CHECK_INT(shared->status[1], YS_OK);
    CHECK(shared->values[0][0] == 1.5 && shared->values[1][0] == 1.5);
    ys_dist_place_give_back(&world.place);
    munmap(shared, sizeof *shared);
}

static void strangers_are_sent_away(void)
{
    static const char said[64] = "GET / HTTP/1.0\r\n\r\n";
    check_that_ranks_meet_beside(said, sizeof said);
}

static void strangers_that_say_nothing_are_sent_away(void)
{
    check_that_ranks_meet_beside("", 0);
}

static void be_of_another_transport(const struct world *world)
{
    struct world other = *world;
    other.transport = YS_DIST_SHARED;
    be_rank(&other, 1);
}

static void ranks_of_two_transports_do_not_meet(void)
{
    struct world world = {.ranks = 2, .act = take_few, .patience_s = 5};
    world.shared = mmap(NULL, sizeof *world.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(world.shared != MAP_FAILED && ys_dist_place_take(YS_DIST_LOOPBACK, &world.place) == YS_OK);
    pid_t pids[2];
    fflush(stdout);
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0 && i == 0)
            be_rank(&world, 0);
        if (pids[i] == 0)
            be_of_another_transport(&world);
    }
    for (int i = 0; i < 2; i++)
        waitpid(pids[i], NULL, 0);
    CHECK_INT(world.shared->status[0], YS_EPROTOCOL);
    CHECK_HAS(world.shared->error[0], "rank 1 has another transport than rank 0, which has tcp");
    CHECK(world.shared->status[1] != YS_OK);
    ys_dist_place_give_back(&world.place);
    munmap(world.shared, sizeof *world.shared);
}

static void what_is_no_place_or_no_rank_is_refused(void)
{
    static const struct {
        struct ys_dist_config config;
        const char *said;
    } wrong[] = {
        {{.world = 2}, "the rendezvous is \"\""},
        {{.world = 2, .rendezvous = "here"}, "the rendezvous is \"here\""},
        {{.world = 2, .rendezvous = "127.0.0.1:x"}, "ADDRESS:PORT"},
        {{.world = 2, .rendezvous = "127.0.0.1:"}, "ADDRESS:PORT"},
        {{.world = 2, .rendezvous = "127.0.0.1:70000"}, "ADDRESS:PORT"},
        {{.world = 2, .rendezvous = "localhost:9"}, "ADDRESS:PORT"},
        {{.world = 2, .rendezvous = "127.0.0.1:9", .address = "there"}, "the address of rank 0 is \"there\""},
        {{.world = 2, .rendezvous = "127.0.0.2:9", .transport = YS_DIST_SHARED},
         "rank 0, at 127.0.0.1, shares no memory"},
        {{.world = 2, .rendezvous = "127.0.0.1:9", .transport = YS_DIST_MPI, .wire = "h"},
         "over a wire take the transport tcp"},
        {{.rank = 2, .world = 2, .rendezvous = "127.0.0.1:9"}, "rank 2 of 2 is none"},
        {{.world = 65, .rendezvous = "127.0.0.1:9"}, "at most 64"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_dist *dist = NULL;
        CHECK_INT(ys_dist_open(&wrong[i].config, &dist), YS_EINVAL);
        CHECK_HAS(ys_error(), wrong[i].said);
        CHECK(!dist);
    }
}

/* Each listens at its own, and is found there: rank 0 tells all where the others are. */
static void ranks_of_several_addresses_meet(void)
{
    struct world world = {.ranks = 3, .act = take_few, .are_apart = true};
    run_world(&world, 0);
    for (int r = 0; r < 3; r++) {
        CHECK_INT(world.shared->status[r], YS_OK);
        CHECK(world.shared->values[r][0] == world.shared->values[0][0]);
    }
}

static void a_place_is_at_an_address_of_this_host(void)
{
    struct ys_dist_place place;
    REQUIRE(ys_dist_place_take("127.0.1.9", &place) == YS_OK);
    CHECK(strncmp(place.text, "127.0.1.9:", 10) == 0);
    ys_dist_place_give_back(&place);
    CHECK_INT(ys_dist_place_take("192.0.2.77", &place), YS_EIO); /* of the block that no host has */
    CHECK_HAS(ys_error(), "no port of 192.0.2.77");
    CHECK_INT(ys_dist_place_take("host", &place), YS_EINVAL);
    CHECK_HAS(ys_error(), "\"host\" is no IPv4 address");
}

static void places_that_are_held_differ(void)
{
    struct ys_dist_place places[8];
    for (size_t i = 0; i < 8; i++) {
        REQUIRE(ys_dist_place_take(YS_DIST_LOOPBACK, &places[i]) == YS_OK);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(places[i].text, places[k].text) != 0);
    }
    for (size_t i = 0; i < 8; i++)
        ys_dist_place_give_back(&places[i]);
    ys_dist_place_give_back(&places[0]);
}

/* In a process of its own, for such a library is loaded for good. */
static bool has_mpi(void)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const struct ys_dist_mpi *mpi;
        _exit(ys_dist_mpi_load("lo", &mpi) == YS_OK ? 0 : 1);
    }
    const bool is_there = waitpid(child, &status, 0) == child && status == 0;
    if (!is_there)
        tap_skip("no libmpi.so.12 of MPICH's kind here (LD_LIBRARY_PATH may name its folder)");
    return is_there;
}

static void means_through_mpi_have_the_same_bits(void)
{
    if (!has_mpi())
        return;
    check_named_order(YS_DIST_MPI);
    struct world world = {.ranks = 3, .act = take_many, .transport = YS_DIST_MPI};
    run_world(&world, 0);
    for (int r = 0; r < world.ranks; r++) {
        CHECK_INT(world.shared->status[r], YS_OK);
        CHECK_INT(world.shared->wrong[r], 0);
    }
}

static void a_rank_of_mpi_that_dies_ends_the_others(void)
{
    if (!has_mpi())
        return;
    struct world world = {.ranks = 4, .act = die_at_the_second, .transport = YS_DIST_MPI};
    run_world(&world, 0);
    check_that_others_end(&world);
    world = (struct world){.ranks = 2, .act = leave_at_once, .transport = YS_DIST_MPI};
    run_world(&world, 0);
    CHECK_INT(world.shared->status[0], YS_OK);
    CHECK_INT(world.shared->status[1], YS_OK);
}

/* As where an mpirun has started the agent that has started the rank. */
static void ranks_of_mpi_are_nobodys(void)
{
    if (!has_mpi())
        return;
    setenv("PMI_RANK", "3", 1);
    setenv("PMI_SIZE", "7", 1);
    setenv("PMI_FD", "99", 1);
    setenv("OMPI_COMM_WORLD_SIZE", "7", 1);
    setenv("PMIX_RANK", "3", 1);
    struct world world = {.ranks = 2, .act = take_one_mean, .transport = YS_DIST_MPI};
    run_world(&world, 0);
    CHECK_INT(world.shared->status[0], YS_OK);
    CHECK_INT(world.shared->status[1], YS_OK);
    CHECK(world.shared->values[0][5] == mean_by_hand(2, 5, true));
}

TAP_MAIN(TAP_CASE(means_through_mpi_have_the_same_bits), TAP_CASE(a_rank_of_mpi_that_dies_ends_the_others),
         TAP_CASE(ranks_of_mpi_are_nobodys), TAP_CASE(means_are_those_of_the_named_order_to_the_bit),
         TAP_CASE(means_through_shared_memory_are_too), TAP_CASE(buckets_have_the_same_bits_whichever_the_transport),
         TAP_CASE(whoever_leaves_breaks_its_means_off), TAP_CASE(ranks_of_two_transports_do_not_meet),
         TAP_CASE(one_mean_in_double_is_that_by_hand),
         TAP_CASE(many_numbers_in_many_parts_have_the_bits_of_the_named_order),
         TAP_CASE(fewer_numbers_than_ranks_are_no_special_case), TAP_CASE(a_rank_that_dies_while_it_sends_is_named),
         TAP_CASE(a_rank_that_dies_ends_the_others_who_name_a_neighbour),
         TAP_CASE(ranks_that_leave_numbers_out_are_told), TAP_CASE(who_does_not_come_is_named_when_patience_ends),
         TAP_CASE(strangers_are_sent_away), TAP_CASE(strangers_that_say_nothing_are_sent_away),
         TAP_CASE(what_is_no_place_or_no_rank_is_refused), TAP_CASE(ranks_of_several_addresses_meet),
         TAP_CASE(a_place_is_at_an_address_of_this_host), TAP_CASE(places_that_are_held_differ))
