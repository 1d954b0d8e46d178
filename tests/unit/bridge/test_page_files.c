/* What a page may fetch, asked as a browser asks; and base64. */
#include "base/files/fs.h"
#include "base/mem.h"
#include "bridge/page_files.h"
#include "tap.h"

#include <stdlib.h>
#include <unistd.h>

static void base64_goes_there_and_back(void)
{
    static const char *const all[][2] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                         {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"\xff\xfe\xfd", "//79"}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) { /* RFC 4648, section 10 */
        struct ys_buf text = {0}, bytes = {0};
        ys_base64_put(&text, all[i][0], strlen(all[i][0]));
        CHECK(strcmp(ys_buf_text(&text), all[i][1]) == 0);
        CHECK(ys_base64_get(&bytes, all[i][1]) == YS_OK);
        CHECK(strcmp(ys_buf_text(&bytes), all[i][0]) == 0);
        ys_buf_free(&text);
        ys_buf_free(&bytes);
    }
    static const char *const wrong[] = {"Zg", "Z===", "Zg==Zg==", "Zm9\n", "Zm9v "};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct ys_buf bytes = {0};
        CHECK(ys_base64_get(&bytes, wrong[i]) == YS_EPROTOCOL);
        ys_buf_free(&bytes);
    }
}

struct asked {
    char *folder;
    struct ys_page_files files;
    struct ys_devtools *pipe;
    int from_bridge, to_bridge;
};

static void put(const struct asked *asked, const char *name, const char *text)
{
    char *path = ys_path_join(asked->folder, name), *dir = ys_path_dir(path);
    CHECK(ys_fs_make_dirs(dir) == YS_OK && ys_fs_write(path, text, strlen(text)) == YS_OK);
    ys_free(dir);
    ys_free(path);
}

static bool begin(struct asked *asked)
{
    int to[2], from[2];
    *asked = (struct asked){0};
    char made[] = "/tmp/ys-bridge-XXXXXX";
    asked->folder = mkdtemp(made) ? ys_strdup(made) : NULL;
    if (!asked->folder || pipe(to) || pipe(from) || ys_devtools_open(from[0], to[1], &asked->pipe) != YS_OK)
        return false;
    asked->from_bridge = to[0];
    asked->to_bridge = from[1];
    put(asked, "web/page.js", "adapter");
    put(asked, "secret", "nobody's");
    put(asked, "npm/pack/a.wasm", "code");
    put(asked, "data", "0123456789");
    char *plan = ys_format("{\"input\": {\"path\": \"%s/data\"}, \"folder\": \"%s\"}", asked->folder, asked->folder);
    CHECK(ys_json_parse(plan, strlen(plan), "plan", &asked->files.plan) == YS_OK);
    ys_free(plan);
    asked->files.adapter = ys_path_join(asked->folder, "web/page.js");
    asked->files.packages = ys_path_join(asked->folder, "npm");
    return true;
}

static void end(struct asked *asked)
{
    ys_free((char *)(uintptr_t)asked->files.adapter);
    ys_free((char *)(uintptr_t)asked->files.packages);
    ys_page_files_fini(&asked->files);
    ys_devtools_close(asked->pipe);
    close(asked->from_bridge);
    close(asked->to_bridge);
    CHECK(ys_fs_remove_tree(asked->folder) == YS_OK);
    ys_free(asked->folder);
}

/* What is answered to an address: the code, and the bytes in `body`. */
static int64_t fetch(struct asked *asked, const char *address, const char *range, struct ys_buf *body)
{
    char line[65536], *headers = range ? ys_format("{\"Range\": \"%s\"}", range) : ys_strdup("{}");
    char *text = ys_format("{\"params\": {\"requestId\": \"7\", \"request\": {\"url\": \"%s\", \"headers\": %s}}}",
                           address, headers);
    ys_json *event = NULL, *command = NULL;
    int64_t code = 0;
    CHECK(ys_json_parse(text, strlen(text), "event", &event) == YS_OK);
    CHECK(ys_page_files_answer(&asked->files, asked->pipe, event) == YS_OK);
    const ssize_t size = read(asked->from_bridge, line, sizeof line);
    if (size > 0 && ys_json_parse(line, (size_t)size - 1, "command", &command) == YS_OK) {
        const ys_json *params = ys_json_get(command, "params");
        CHECK(strcmp(ys_json_get_text(command, "method", ""), "Fetch.fulfillRequest") == 0);
        CHECK(strcmp(ys_json_get_text(params, "requestId", ""), "7") == 0);
        code = ys_json_get_int(params, "responseCode", 0);
        CHECK(ys_base64_get(body, ys_json_get_text(params, "body", "")) == YS_OK);
    }
    ys_json_free(command);
    ys_json_free(event);
    ys_free(headers);
    ys_free(text);
    return code;
}

static void check_fetch(struct asked *asked, const char *address, const char *range, int64_t code, const char *bytes)
{
    struct ys_buf body = {0};
    tap_check(fetch(asked, address, range, &body) == code, __LINE__, "%s: another code", address);
    tap_check(!bytes || strcmp(ys_buf_text(&body), bytes) == 0, __LINE__, "%s: \"%s\"", address, ys_buf_text(&body));
    ys_buf_free(&body);
}

static void what_the_plan_names_is_there_whole_or_in_part(void)
{
    struct asked asked;
    REQUIRE(begin(&asked));
    char *data = ys_format("https://yardstick.test/file?path=%s%%2Fdata", asked.folder);
    check_fetch(&asked, "https://yardstick.test/adapter/page.js", NULL, 200, "adapter");
    check_fetch(&asked, "https://yardstick.test/npm/pack/a.wasm", NULL, 200, "code");
    check_fetch(&asked, data, NULL, 200, "0123456789");
    check_fetch(&asked, data, "bytes=2-4", 206, "234");
    check_fetch(&asked, data, "bytes=8-99", 206, "89");
    CHECK_INT(asked.files.code_bytes, 11);
    CHECK_INT(asked.files.model_bytes, 15);
    ys_free(data);
    end(&asked);
}

static void nothing_else_is(void)
{
    struct asked asked;
    REQUIRE(begin(&asked));
    char *secret = ys_format("https://yardstick.test/file?path=%s/secret", asked.folder);
    check_fetch(&asked, secret, NULL, 403, "");
    check_fetch(&asked, "https://yardstick.test/file?path=", NULL, 403, "");
    check_fetch(&asked, "https://yardstick.test/adapter/..%2Fsecret", NULL, 404, "");
    check_fetch(&asked, "https://yardstick.test/npm/../secret", NULL, 404, "");
    check_fetch(&asked, "https://yardstick.test/npm/pack/none.js", NULL, 404, "");
    check_fetch(&asked, "https://elsewhere.test/adapter/page.js", NULL, 404, "");
    check_fetch(&asked, "https://yardstick.test.elsewhere/adapter/page.js", NULL, 404, "");
    ys_free(secret);
    end(&asked);
}

TAP_MAIN(TAP_CASE(base64_goes_there_and_back), TAP_CASE(what_the_plan_names_is_there_whole_or_in_part),
         TAP_CASE(nothing_else_is))
