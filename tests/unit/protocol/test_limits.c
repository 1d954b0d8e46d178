/* The numbers of the protocol, as the adapters in other languages, the job file and the manual say them. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "job/option.h"
#include "tap.h"
#include "yardstick/protocol.h"

#include <stdlib.h>
#include <string.h>

/* The whole number after the first `word` of the source file; -1 where there is none. */
static long long said(const char *file, const char *word)
{
    const char *root = getenv("YS_SOURCE_ROOT");
    struct ys_buf text = {0};
    char *path = root ? ys_path_join(root, file) : NULL;
    long long number = -1;
    if (!root)
        tap_skip("YS_SOURCE_ROOT is not set");
    else if (CHECK(path && ys_fs_read(path, (size_t)1 << 20, &text) == YS_OK)) {
        const char *found = strstr(ys_buf_text(&text), word);
        number = CHECK(found != NULL) ? strtoll(found + strlen(word), NULL, 10) : -1;
    }
    ys_buf_free(&text);
    ys_free(path);
    return number;
}

static void every_language_has_the_same_limits(void)
{
    static const char *const files[] = {"adapters/common_protocol.py", "adapters/common_protocol.lua"};
    if (!getenv("YS_SOURCE_ROOT")) {
        tap_skip("YS_SOURCE_ROOT is not set");
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT(said(files[i], "VERSION = "), YS_PROTOCOL_VERSION);
        CHECK_INT(said(files[i], "BLOCK_LIMIT = "), YS_PROTOCOL_BLOCK_LIMIT);
        CHECK_INT(said(files[i], "LINE_LIMIT = "), YS_PROTOCOL_LINE_LIMIT);
        CHECK_INT(said(files[i], "LATENCIES_LIMIT = "), YS_PROTOCOL_LATENCIES_LIMIT);
    }
    CHECK_INT(said("docs/protocol.md", "steps in a block, 1 to "), YS_PROTOCOL_BLOCK_LIMIT);
    CHECK_INT(said("docs/protocol.md", "number of requests, 1 to "), YS_PROTOCOL_LATENCIES_LIMIT);
    CHECK_INT(said("docs/protocol.md", "ended by a newline, at most ") << 20, YS_PROTOCOL_LINE_LIMIT);
}

static void a_job_asks_for_no_block_that_an_adapter_refuses(void)
{
    ys_json *value = NULL;
    const struct ys_option *block = ys_option_find("block");
    CHECK_INT((int64_t)block->high, YS_PROTOCOL_BLOCK_LIMIT);
    CHECK_INT(ys_option_parse(block, "block", "262145", &value), YS_EINVAL);
    CHECK_TEXT(ys_error(), "block = 262145: out of range: write a whole number, 1 to 262144");
}

TAP_MAIN(TAP_CASE(every_language_has_the_same_limits), TAP_CASE(a_job_asks_for_no_block_that_an_adapter_refuses))
