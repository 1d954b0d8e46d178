#include "framework/adapter_closure.h"

#include "base/files/fs.h"
#include "base/hash.h"
#include "base/mem.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CODE_BYTES ((size_t)1 << 24)
#define MAX_DEPTH      8 /* of folders in a folder */

/* Files that were found to belong to it, in the order in which they were; those before `read` were read. */
struct search {
    char **paths;
    size_t count, capacity, read;
};

void ys_closure_mix_file(struct ys_buf *closure, const char *path)
{
    char hash[YS_SHA256_TEXT];
    bool there = path && ys_fs_exists(path) && ys_sha256_file(path, hash) == YS_OK;
    ys_buf_printf(closure, "%s|", there ? hash : "absent");
}

static void add_path(struct search *search, char *path_taken)
{
    for (size_t i = 0; path_taken && i < search->count; i++) {
        if (strcmp(search->paths[i], path_taken) == 0) {
            ys_free(path_taken);
            return;
        }
    }
    char **grown = path_taken ? ys_grown(search->paths, search->count, &search->capacity, sizeof *grown) : NULL;
    search->paths = grown;
    search->paths[search->count++] = path_taken;
}

static bool is_word_part(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the `length` bytes at `word` stand in `text` as a word. */
static bool has_word(const char *text, const char *word, size_t length)
{
    for (const char *at = text; length && (at = memmem(at, strlen(at), word, length)); at++)
        if ((at == text || !is_word_part(at[-1])) && !is_word_part(at[length]))
            return true;
    return false;
}

static bool is_importing_word(const char *word, size_t length)
{
    static const char *const words[] = {"import",      "import_module", "__import__", "require", "dofile",
                                        "loadfile",    "load",          "open",       "exec",    "execfile",
                                        "run",         "call",          "Popen",      "CDLL",    "cdll",
                                        "LoadLibrary", "load_library"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i][0] == *word && strncmp(words[i], word, length) == 0 && !words[i][length])
            return true;
    return false;
}

static bool imports(const char *line, size_t length)
{
    const char *at = line + strspn(line, " \t"), *end = line + length;
    if (*at == '#' || strncmp(at, "--", 2) == 0)
        return false;
    while (at < end) {
        size_t word = 0;
        while (at + word < end && is_word_part(at[word]))
            word++;
        if (word && is_importing_word(at, word))
            return true;
        at += word ? word : 1;
    }
    return false;
}

/* The lines of `text` that import something. */
static void pick_lines(const char *text, struct ys_buf *picked)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, "\n"), whole = length + (at[length] == '\n');
        if (imports(at, length))
            ys_buf_append(picked, at, whole);
        at += whole;
    }
}

static const char *ending_of(const char *path)
{
    const char *name = ys_path_base(path), *last = strrchr(name, '.');
    return last && last != name ? last : "";
}

static bool is_code(const char *name)
{
    static const char *const endings[] = {".py", ".so", ".lua", ".js", ".sh"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (strcmp(ending_of(name), endings[i]) == 0)
            return true;
    return false;
}

/* Whether `text` has the file's whole name as the end of a path or as a string. */
static bool has_name(const char *text, const char *name)
{
    for (const char *at = text; (at = strstr(at, name)); at++)
        if (at > text && strchr("\"'/", at[-1]))
            return true;
    return false;
}

static void add_folder(struct search *search, const char *folder, int depth);

/* A file or folder of one that is taken whole. */
static void add_inside(struct search *search, const char *folder, const char *name, int depth)
{
    if (name[0] == '.' || strcmp(name, "__pycache__") == 0)
        return;
    char *path = ys_path_join(folder, name);
    const bool is_folder = ys_fs_is_dir(path), is_taken = !is_folder && is_code(name);
    if (is_folder && depth < MAX_DEPTH)
        add_folder(search, path, depth + 1);
    if (is_taken)
        add_path(search, path);
    else
        ys_free(path);
}

static void add_folder(struct search *search, const char *folder, int depth)
{
    struct dirent **names = NULL;
    int count = scandir(folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        add_inside(search, folder, names[i]->d_name, depth);
        free(names[i]);
    }
    free(names);
}

/* The code at hand. */
struct spoken {
    const char *text, *importing; /* whole, and its lines that import */
    const char *ending;           /* of its file, with the dot; "" without one */
};

/* Takes `name` of `folder` where the code at hand speaks of it. */
static void add_spoken_of(struct search *search, const char *folder, const char *name, const struct spoken *spoken)
{
    const char *ending = ending_of(name);
    size_t stem = strcspn(name, ".");
    bool importable = *ending && (strcmp(ending, spoken->ending) == 0 || strcmp(ending, ".so") == 0);
    bool code =
        (importable && has_word(spoken->importing, name, stem)) || (is_code(name) && has_name(spoken->text, name));
    bool maybe_folder = !code && !name[stem] && has_word(spoken->text, name, stem);
    char *path = code || maybe_folder ? ys_path_join(folder, name) : NULL;
    if (!path)
        return;
    if (code) {
        add_path(search, path);
        return;
    }
    if (ys_fs_is_dir(path))
        add_folder(search, path, 0);
    ys_free(path);
}

/* Adds what the code at hand speaks of in `folder`. */
static void search_folder(struct search *search, const char *folder, const struct spoken *spoken)
{
    struct dirent **names = NULL;
    int count = folder ? scandir(folder, &names, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.' && strcmp(names[i]->d_name, "__pycache__") != 0)
            add_spoken_of(search, folder, names[i]->d_name, spoken);
        free(names[i]);
    }
    free(names);
}

/* Reads the next file of the list and adds what it speaks of; what cannot be read as text speaks of nothing. */
static void read_next(struct search *search, const char *folder, const char *own)
{
    struct ys_buf text = {0}, importing = {0};
    const char *path = search->paths[search->read++];
    if (ys_fs_read(path, MAX_CODE_BYTES, &text) == YS_OK && strlen(ys_buf_text(&text)) == text.size) {
        pick_lines(ys_buf_text(&text), &importing);
        const struct spoken spoken = {ys_buf_text(&text), ys_buf_text(&importing), ending_of(path)};
        search_folder(search, folder, &spoken);
        if (own && strcmp(own, folder) != 0)
            search_folder(search, own, &spoken);
    }
    ys_buf_free(&text);
    ys_buf_free(&importing);
}

void ys_closure_mix_code(struct ys_buf *closure, const char *path)
{
    struct search search = {0};
    char *folder = ys_path_dir(path), *common = ys_find_support("adapters/common.py");
    char *own = common ? ys_path_dir(common) : NULL;
    add_path(&search, ys_strdup(path));
    while (search.read < search.count)
        read_next(&search, folder, own);
    for (size_t i = 0; i < search.count; i++) {
        ys_closure_mix_file(closure, search.paths[i]);
        ys_free(search.paths[i]);
    }
    ys_free(search.paths);
    ys_free(folder);
    ys_free(common);
    ys_free(own);
}
