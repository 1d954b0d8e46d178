#include "bridge/page_files.h"

#include "base/files/fs.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OK = 200, PARTIAL = 206, FORBIDDEN = 403, NOT_FOUND = 404 };
static const size_t FILE_LIMIT_BYTES = (size_t)1 << 30;

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void ys_base64_put(struct ys_buf *text, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned second = i + 1 < size ? bytes[i + 1] : 0, third = i + 2 < size ? bytes[i + 2] : 0;
        const unsigned all = (unsigned)bytes[i] << 16 | second << 8 | third;
        const char four[4] = {digits[all >> 18], digits[all >> 12 & 63], i + 1 < size ? digits[all >> 6 & 63] : '=',
                              i + 2 < size ? digits[all & 63] : '='};
        ys_buf_append(text, four, sizeof four);
    }
}

static int digit_of(char letter)
{
    const char *at = letter ? strchr(digits, letter) : NULL;
    return at ? (int)(at - digits) : -1;
}

ys_status ys_base64_get(struct ys_buf *bytes, const char *text)
{
    const size_t size = strlen(text);
    for (size_t i = 0; i < size; i += 4) {
        const int a = digit_of(text[i]), b = i + 1 < size ? digit_of(text[i + 1]) : -1;
        const bool last = i + 4 >= size, one = last && text[i + 2] == '=', two = last && text[i + 3] == '=';
        const int c = one ? 0 : digit_of(text[i + 2]), d = two ? 0 : digit_of(text[i + 3]);
        if (size % 4 || a < 0 || b < 0 || c < 0 || d < 0)
            return ys_fail(YS_EPROTOCOL, "the page hands over what is no base64");
        const unsigned all = (unsigned)a << 18 | (unsigned)b << 12 | (unsigned)c << 6 | (unsigned)d;
        const char three[3] = {(char)(all >> 16), (char)(all >> 8), (char)all};
        ys_buf_append(bytes, three, one ? 1 : two ? 2 : 3);
    }
    return bytes->failed ? ys_out_of_memory() : YS_OK;
}

void ys_page_files_fini(struct ys_page_files *files)
{
    ys_json_free(files->plan);
    files->plan = NULL;
}

/* What an address asks for. */
struct wanted {
    int code;
    char *path;         /* owned; NULL: no file */
    struct ys_buf text; /* in place of one */
    int64_t from, to;   /* of the file; to -1: its end */
    int64_t *counted;   /* where its bytes are added to */
};

static void put_index(const struct ys_page_files *files, struct wanted *wanted)
{
    ys_buf_printf(&wanted->text,
                  "<!doctype html><meta charset=\"utf-8\"><title>yardstick</title>"
                  "<script type=\"module\" src=\"/adapter/%s\"></script>",
                  ys_path_base(files->adapter));
}

/* "%2F" as "/". */
static char *decode(const char *text)
{
    char *plain = ys_strdup(text), *to = plain;
    for (const char *at = text; *at; at++) {
        unsigned value = 0;
        if (*at == '%' && at[1] && at[2]) {
            const char two[3] = {at[1], at[2], 0};
            value = (unsigned)strtoul(two, NULL, 16);
            at += 2;
        }
        *to++ = value ? (char)value : *at;
    }
    *to = 0;
    return plain;
}

/* A name below a folder, links resolved. */
static void want_below(const char *folder, const char *name, struct wanted *wanted)
{
    char *path = folder ? ys_path_join(folder, *name == '/' ? "" : name) : NULL;
    wanted->path = path ? ys_path_real_below(path, folder) : NULL;
    wanted->code = wanted->path ? OK : NOT_FOUND;
    ys_free(path);
}

static bool is_named(const ys_json *plan, const char *path)
{
    static const char *const members[] = {"graph", "weights", "onnx"};
    const ys_json *input = ys_json_get(plan, "input");
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
        if (strcmp(ys_json_get_text(plan, members[i], ""), path) == 0)
            return true;
    return strcmp(ys_json_get_text(input, "path", ""), path) == 0 ||
           strcmp(ys_json_get_text(input, "order", ""), path) == 0;
}

static void want_file(struct ys_page_files *files, const char *path, struct wanted *wanted)
{
    wanted->code = !*path || !is_named(files->plan, path) ? FORBIDDEN : ys_fs_is_file(path) ? OK : NOT_FOUND;
    wanted->path = wanted->code == OK ? ys_strdup(path) : NULL;
    wanted->counted = &files->model_bytes;
}

static void read_range(const ys_json *request, struct wanted *wanted)
{
    const ys_json *headers = ys_json_get(request, "headers");
    const char *range = ys_json_get_text(headers, "Range", ys_json_get_text(headers, "range", NULL));
    char *end;
    wanted->to = -1;
    if (wanted->code != OK || !range || strncmp(range, "bytes=", 6) != 0)
        return;
    wanted->from = strtoll(range + 6, &end, 10);
    if (*end == '-' && end[1])
        wanted->to = strtoll(end + 1, NULL, 10) + 1;
    wanted->code = PARTIAL;
}

static void find(struct ys_page_files *files, const ys_json *request, struct wanted *wanted)
{
    static const char adapter[] = "/adapter/", npm[] = "/npm/", file[] = "/file?path=";
    const char *url = ys_json_get_text(request, "url", "");
    wanted->code = NOT_FOUND;
    if (strncmp(url, YS_PAGE_ORIGIN, strlen(YS_PAGE_ORIGIN)) != 0)
        return;
    char *name = decode(url + strlen(YS_PAGE_ORIGIN));
    wanted->counted = &files->code_bytes;
    if (strcmp(name, "/") == 0) {
        wanted->code = OK;
        put_index(files, wanted);
    } else if (strncmp(name, adapter, strlen(adapter)) == 0) {
        char *folder = ys_path_dir(files->adapter);
        want_below(folder, name + strlen(adapter), wanted);
        ys_free(folder);
    } else if (strncmp(name, npm, strlen(npm)) == 0) {
        want_below(files->packages, name + strlen(npm), wanted);
    } else if (strncmp(name, file, strlen(file)) == 0) {
        want_file(files, name + strlen(file), wanted);
    }
    read_range(request, wanted);
    ys_free(name);
}

/* What there is of the file, as base64. */
static ys_status put_file(const struct wanted *wanted, struct ys_buf *body)
{
    struct stat about;
    const int fd = open(wanted->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &about) != 0) {
        ys_status status = ys_fail(YS_EIO, "cannot read %s: %s", wanted->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return status;
    }
    const int64_t to = wanted->to < 0 || wanted->to > about.st_size ? about.st_size : wanted->to;
    const size_t size = wanted->from < to ? (size_t)(to - wanted->from) : 0;
    char *bytes = size && size <= FILE_LIMIT_BYTES ? ys_alloc(size, 1) : NULL;
    ssize_t done = bytes ? pread(fd, bytes, size, wanted->from) : 0;
    close(fd);
    ys_status status = done == (ssize_t)size ? YS_OK : ys_fail(YS_EIO, "%s is too large, or was cut", wanted->path);
    if (status == YS_OK && size)
        ys_base64_put(body, bytes, size);
    if (status == YS_OK && wanted->counted)
        *wanted->counted += (int64_t)size;
    ys_free(bytes);
    return status;
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".js", "text/javascript"},
                                           {".mjs", "text/javascript"},
                                           {".wasm", "application/wasm"},
                                           {".json", "application/json"}};
    const char *dot = path ? strrchr(path, '.') : NULL;
    for (size_t i = 0; dot && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(dot, types[i][0]) == 0)
            return types[i][1];
    return path ? "application/octet-stream" : "text/html";
}

static ys_json *headers_of(const struct wanted *wanted)
{
    const char *const all[][2] = {{"Content-Type", type_of(wanted->path)},
                                  {"Cross-Origin-Opener-Policy", "same-origin"},
                                  {"Cross-Origin-Embedder-Policy", "require-corp"},
                                  {"Cross-Origin-Resource-Policy", "same-origin"},
                                  {"Cache-Control", "no-store"}};
    ys_json *headers = ys_json_array();
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ys_json *header = ys_json_object();
        if (ys_json_set_string(header, "name", all[i][0]) != YS_OK ||
            ys_json_set_string(header, "value", all[i][1]) != YS_OK || ys_json_append(headers, header) != YS_OK)
            break;
    }
    return headers;
}

ys_status ys_page_files_answer(struct ys_page_files *files, struct ys_devtools *pipe, const ys_json *event)
{
    const ys_json *paused = ys_json_get(event, "params");
    struct wanted wanted = {0};
    struct ys_buf body = {0};
    find(files, ys_json_get(paused, "request"), &wanted);
    if (wanted.path && put_file(&wanted, &body) != YS_OK)
        wanted.code = NOT_FOUND;
    if (!wanted.path)
        ys_base64_put(&body, ys_buf_text(&wanted.text), wanted.text.size);
    ys_json *answer = ys_json_object();
    ys_status status = ys_json_set_string(answer, "requestId", ys_json_get_text(paused, "requestId", ""));
    if (status == YS_OK)
        status = ys_json_set_int(answer, "responseCode", wanted.code);
    if (status == YS_OK)
        status = ys_json_set(answer, "responseHeaders", headers_of(&wanted));
    if (status == YS_OK)
        status = ys_json_set_string(answer, "body", ys_buf_text(&body));
    ys_free(wanted.path);
    ys_buf_free(&wanted.text);
    ys_buf_free(&body);
    if (status == YS_OK)
        return ys_devtools_send(pipe, "Fetch.fulfillRequest", answer, NULL);
    ys_json_free(answer);
    return status;
}
