/* For the tests of this room: folders of their own, adapters written as scripts, plans for adapters that do no work. */
#ifndef YS_TESTS_RUN_FIXTURE_H
#define YS_TESTS_RUN_FIXTURE_H

#include "base/buf.h"
#include "base/files/fs.h"
#include "base/json/json.h"
#include "base/mem.h"
#include "probe/process_tree.h"
#include "run/execute.h"
#include "session/keeper.h"
#include "session/session.h"
#include "tap.h"
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fixture_folder[64];

__attribute__((unused)) static void fixture_remove(void)
{
    if (ys_fs_remove_tree(fixture_folder) != YS_OK)
        printf("# cannot remove %s\n", fixture_folder);
}

/** A fresh folder, removed at exit; programs are looked for in the build folder. */
__attribute__((unused)) static const char *fixture_open(void)
{
    if (fixture_folder[0])
        return fixture_folder;
    strcpy(fixture_folder, "/tmp/ys-test-run-XXXXXX");
    if (!mkdtemp(fixture_folder))
        abort();
    atexit(fixture_remove);
    char programs[1024];
    snprintf(programs, sizeof programs, "%s/src", getenv("YS_BUILD_ROOT") ? getenv("YS_BUILD_ROOT") : ".");
    setenv("YARDSTICK_BIN", programs, 1);
    return fixture_folder;
}

__attribute__((unused)) static char *fixture_null(void)
{
    fixture_open();
    return ys_find_support("yardstick-null");
}

/** Writes `text` as an executable script below the folder; its path is valid until the next call with that name. */
__attribute__((unused)) static const char *fixture_script(const char *name, const char *text)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", fixture_open(), name);
    if (ys_fs_write(path, text, strlen(text)) != YS_OK || chmod(path, 0755) != 0)
        abort();
    return path;
}

/** The first warning; NULL: there is none. Of shared memory that a test beside this one left, a session warns too: not
 * counted. */
__attribute__((unused)) static const char *fixture_warning(const ys_json *warnings)
{
    for (size_t i = 0; i < ys_json_size(warnings); i++) {
        const char *text = ys_json_text(ys_json_at(warnings, i), "");
        if (!strstr(text, "whether it is its own is not certain"))
            return text;
    }
    return NULL;
}

/** The processes that descend from this one. Sessions must leave none. */
__attribute__((unused)) static size_t fixture_descendants(void)
{
    struct ys_tree_options options = {.root = "", .top = getpid()};
    struct ys_tree *tree = ys_tree_open(&options);
    const struct ys_tree_member *members;
    size_t count = 999;
    if (ys_tree_list(tree, &members, &count) != YS_OK)
        abort();
    ys_tree_close(tree);
    return count;
}

/** Whether a count of the processes or threads of an adapter that has one is right. LeakSanitizer looks at a program
 * that ends from a clone of it: one more, where a sample falls into that moment. */
__attribute__((unused)) static bool fixture_is_one(int64_t count)
{
#ifdef __SANITIZE_ADDRESS__
    return count == 1 || count == 2;
#else
    return count == 1;
#endif
}

/** Whether the process is gone, or a zombie that its new parent has not looked at; waits half a minute for it. */
__attribute__((unused)) static bool fixture_is_gone(pid_t pid)
{
    for (int tries = 0; tries < 3000; tries++) {
        char path[64];
        struct ys_buf state = {0};
        snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
        bool is_gone = ys_fs_read(path, 4096, &state) != YS_OK || strstr(ys_buf_text(&state), ") Z ");
        ys_buf_free(&state);
        if (is_gone)
            return true;
        usleep(10000);
    }
    return false;
}

/** Training of single rows by one thread. */
__attribute__((unused)) static struct ys_plan fixture_plan(int64_t steps, int64_t block)
{
    struct ys_plan plan;
    ys_plan_init(&plan);
    plan.mode = YS_MODE_TRAIN;
    plan.steps = steps;
    plan.block = block;
    plan.batch = plan.threads = 1;
    plan.eval_every = 0;
    ys_set_text(&plan.folder, fixture_open());
    return plan;
}

/** The same as it is sent, for an adapter that writes into `folder`. */
__attribute__((unused)) static ys_json *fixture_plan_sent(int64_t steps, int64_t block, const char *folder)
{
    struct ys_plan plan = fixture_plan(steps, block);
    ys_set_text(&plan.folder, folder);
    ys_json *sent = ys_record_json(&ys_plan_record, &plan);
    ys_plan_fini(&plan);
    return sent;
}

static ys_json *fixture_told; /* of fixture_facts() */

__attribute__((unused)) static void fixture_forget(void)
{
    ys_json_free(fixture_told);
}

/** The facts as they are stored; NULL when the record has none. Lives until exit. */
__attribute__((unused)) static const ys_json *fixture_facts(const struct ys_run_record *record)
{
    if (!record->has_facts)
        return NULL;
    if (!fixture_told) {
        fixture_told = ys_json_array();
        atexit(fixture_forget);
    }
    if (ys_json_append(fixture_told, ys_record_json(&ys_facts_record, &record->facts)) != YS_OK)
        abort();
    return ys_json_at(fixture_told, ys_json_size(fixture_told) - 1);
}

__attribute__((unused)) static ys_json *fixture_message(const char *type)
{
    ys_json *message = ys_json_object();
    ys_json_set_string(message, "type", type);
    return message;
}

/* The beginning of an adapter in Python: reads a message a line, answers hello and open. `on(kind, message)` is to be
 * defined by the script's own part, and answers everything else; it may return False to have the standard answer given.
 */
#define FIXTURE_PYTHON                                                                                                 \
    "#!/usr/bin/env python3\n"                                                                                         \
    "import json, os, sys, time, socket, signal\n"                                                                     \
    "c = socket.socket(fileno=int(os.environ['YARDSTICK_FD']))\n"                                                      \
    "def send(**m): c.sendall(json.dumps(m).encode() + b'\\n')\n"                                                      \
    "def now(): return time.clock_gettime_ns(time.CLOCK_MONOTONIC)\n"                                                  \
    "def serve(on, **extra):\n"                                                                                        \
    "    for line in c.makefile('rb'):\n"                                                                              \
    "        m = json.loads(line)\n"                                                                                   \
    "        k = m['type']\n"                                                                                          \
    "        if on(k, m): continue\n"                                                                                  \
    "        if k == 'hello': send(**dict(dict(type='hello', protocol=1, adapter='t', version='1'), **extra))\n"       \
    "        elif k == 'open': send(type='opened', parameters=0)\n"                                                    \
    "        elif k == 'reset': send(type='done')\n"                                                                   \
    "        elif k == 'train':\n"                                                                                     \
    "            f = m['from']\n"                                                                                      \
    "            while f < m['to']:\n"                                                                                 \
    "                n = min(m['block'], m['to'] - f)\n"                                                               \
    "                t = now()\n"                                                                                      \
    "                send(type='block', first=f, count=n, t_start_ns=t, t_end_ns=now(), input_ns=0, loss=[2.5] * n)\n" \
    "                f += n\n"                                                                                         \
    "            send(type='done')\n"                                                                                  \
    "        elif k == 'save':\n"                                                                                      \
    "            open(m['path'], 'wb').write(b'12345')\n"                                                              \
    "            send(type='saved', path=m['path'], bytes=5)\n"                                                        \
    "        elif k == 'bye': sys.exit(0)\n"

__attribute__((unused)) static bool fixture_has_python(void)
{
    if (system("python3 -c '' >/dev/null 2>&1") == 0)
        return true;
    tap_skip("there is no python3");
    return false;
}

/** Has the keeper wait for all that ran below it. */
__attribute__((unused)) static void fixture_await(struct ys_started *started)
{
    for (bool is_empty = false; !is_empty && !started->is_lost; usleep(1000)) {
        struct ys_launch_note note = {0};
        ys_keeper_order(started, false);
        while (note.kind != YS_LAUNCH_REAPED && !started->is_lost) {
            struct pollfd source = {.fd = started->note_fd, .events = POLLIN};
            poll(&source, 1, -1);
            if (!ys_keeper_take(started, &note))
                note.kind = 0;
        }
        is_empty = note.value == 0;
    }
}

#endif
