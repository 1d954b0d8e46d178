/* The anchor is frozen, and what it says is read as it is meant. */
#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"
#include "bench/anchor_kernels.h"
#include "probe/anchor.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_file(const char *name, const char *sum)
{
    char *path = ys_format("%s/src/bench/%s", getenv("YS_SOURCE_ROOT"), name);
    struct ys_buf text = {0};
    char found[YS_SHA256_TEXT];
    REQUIRE(path && ys_fs_read(path, 1 << 20, &text) == YS_OK);
    ys_sha256_text(text.data, text.size, found);
    CHECK(strcmp(found, sum) == 0);
    printf("# %s is %s\n", name, found);
    ys_buf_free(&text);
    ys_free(path);
}

static void kernels_are_frozen(void)
{
    check_file("anchor_kernels.h", "f6b2faad6f860bf02fdf84f6a4e516461276a3975938260bd9ba938d3299af5f");
    check_file("anchor_kernels.c", "0998f1de42e19424614f2743f477167850ddf6a896478b508ae2a67300821374");
}

static void kernels_compute_what_they_say(void)
{
    uint64_t *words = ys_alloc(YS_ANCHOR_BYTES, 1), seen = 0;
    REQUIRE(words);
    for (size_t i = 0; i < YS_ANCHOR_BYTES / sizeof *words; i++)
        seen += words[i] = i % 1000;
    CHECK(ys_anchor_memory(words) == seen);
    ys_free(words);
    /* Each chain goes from where it begins towards b / (1 - a) = 1: x - 1 shrinks by a each time. */
    double sum = 0;
    for (int k = 1; k <= 8; k++)
        sum += 1 + (k / 8.0 - 1) * pow(0.999999, YS_ANCHOR_OPERATIONS / 16);
    CHECK(fabs(ys_anchor_arithmetic() - sum) <
          1e-9); /* 65536 roundings of 2^-53 in each of 8 chains, b's own among them */
    CHECK(ys_anchor_branches(1) == ys_anchor_branches(1) && ys_anchor_branches(1) != ys_anchor_branches(2));
}

static ys_json *anchors_of(const char *text)
{
    ys_json *made = NULL;
    CHECK(ys_json_parse(text, strlen(text), "made", &made) == YS_OK);
    return made;
}

#define ONE(version, compiler, speeds)                                                                                 \
    "{\"version\":" version ",\"compiler\":\"" compiler "\",\"started_s\":1,\"seconds\":0.3,\"rounds\":0," speeds "}"
#define SPEEDS(a, m, b) "\"arithmetic_per_s\":" a ",\"memory_bytes_per_s\":" m ",\"branches_per_s\":" b

static void a_ratio_reaches_over_all_kernels_and_holds_one(void)
{
    ys_json *then =
        anchors_of("[" ONE("1", "c", SPEEDS("10", "100", "5")) "," ONE("1", "c", SPEEDS("12", "90", "5")) "]");
    ys_json *now = anchors_of("[" ONE("1", "c", SPEEDS("9", "120", "5")) "]");
    struct ys_anchor_range a, b;
    double ends[2];
    ys_anchor_range(then, &a);
    ys_anchor_range(now, &b);
    CHECK(a.count == 2 && b.count == 1);
    CHECK(ys_anchor_compare(&a, &b, ends));
    CHECK(fabs(ends[0] - 9.0 / 12) < 1e-15 && fabs(ends[1] - 120.0 / 90) < 1e-15);
    CHECK(ys_anchor_compare(&b, &a, ends));
    CHECK(fabs(ends[0] - 90.0 / 120) < 1e-15 && fabs(ends[1] - 12.0 / 9) < 1e-15);
    CHECK(ys_anchor_compare(&b, &b, ends) && ends[0] == 1 && ends[1] == 1);
    ys_json_free(then);
    ys_json_free(now);
}

static void what_is_not_alike_is_not_compared(void)
{
    static const char *const others[] = {"[]",
                                         "{}",
                                         "[1,null,{}]",
                                         "[" ONE("2", "c", SPEEDS("1", "1", "1")) "]",
                                         "[" ONE("1", "d", SPEEDS("1", "1", "1")) "]",
                                         "[" ONE("1", "c", SPEEDS("1", "0", "1")) "]"};
    ys_json *then = anchors_of("[" ONE("1", "c", SPEEDS("1", "1", "1")) "]");
    struct ys_anchor_range a, b;
    double ends[2];
    ys_anchor_range(then, &a);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        ys_json *now = anchors_of(others[i]);
        ys_anchor_range(now, &b);
        CHECK(!ys_anchor_compare(&a, &b, ends) && ends[0] == 1 && ends[1] == 1);
        ys_json_free(now);
    }
    ys_anchor_range(NULL, &b);
    CHECK(!ys_anchor_compare(&a, &b, ends));
    ys_json_free(then);
}

TAP_MAIN(TAP_CASE(kernels_are_frozen), TAP_CASE(kernels_compute_what_they_say),
         TAP_CASE(a_ratio_reaches_over_all_kernels_and_holds_one), TAP_CASE(what_is_not_alike_is_not_compared))
