/* What a run leaves in folders that everybody writes: what is certainly its own goes, nothing else does. */
#include "session/leftover.h"
#include "unit/run/run_fixture.h"
#include <fcntl.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>

enum { ITS_PID = 4194000 }; /* above what this machine gives, as nobody's */

struct path {
    char text[160];
};
static char folders[YS_LEFTOVER_FOLDERS][96];

static struct path at(int folder, const char *name)
{
    struct path path;
    snprintf(path.text, sizeof path.text, "%s/%s", folders[folder], name);
    return path;
}

static void put(int folder, const char *name)
{
    CHECK(ys_fs_write(at(folder, name).text, "12345", 5) == YS_OK);
}

static bool is_there(int folder, const char *name)
{
    struct stat file;
    return lstat(at(folder, name).text, &file) == 0;
}

static void begin(struct ys_leftover *leftover)
{
    static const struct ys_tree_member member = {.pid = ITS_PID};
    static const char *const names[YS_LEFTOVER_FOLDERS] = {"shm", "tmp"};
    const char *paths[YS_LEFTOVER_FOLDERS];
    for (int i = 0; i < YS_LEFTOVER_FOLDERS; i++) {
        snprintf(folders[i], sizeof folders[i], "%s/%s", fixture_open(), names[i]);
        paths[i] = folders[i];
        CHECK(ys_fs_remove_tree(paths[i]) == YS_OK);
        CHECK(ys_fs_make_dirs(paths[i]) == YS_OK);
        put(i, "before-4194000");
    }
    ys_leftover_begin(leftover, paths);
    ys_leftover_look(leftover, &member, 1);
}

static const char *end(struct ys_leftover *leftover)
{
    static char text[4096];
    ys_json *warnings = ys_json_array();
    ys_leftover_end(leftover, warnings);
    ys_leftover_fini(leftover);
    text[0] = 0;
    for (size_t i = 0; i < ys_json_size(warnings); i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s\n", ys_json_text(ys_json_at(warnings, i), ""));
    ys_json_free(warnings);
    return text;
}

static void what_has_the_number_of_its_process_is_removed_and_told(void)
{
    struct ys_leftover leftover;
    begin(&leftover);
    put(0, "torch_4194000_1");
    put(1, "mx.4194000");
    const char *told = end(&leftover);
    CHECK(!is_there(0, "torch_4194000_1") && !is_there(1, "mx.4194000"));
    CHECK(strstr(told, "it left behind") && strstr(told, "torch_4194000_1 (5 B)") && strstr(told, "mx.4194000"));
}

static void what_was_there_before_and_what_is_not_certain_stays(void)
{
    static const char *const others[] = {"other", "41940001", "x14194000", "4194", NULL};
    struct ys_leftover leftover;
    begin(&leftover);
    for (int i = 0; others[i]; i++)
        put(1, others[i]);
    put(0, "psm_ab12");
    const char *told = end(&leftover);
    for (int i = 0; others[i]; i++)
        CHECK(is_there(1, others[i]) && !strstr(told, others[i]));
    CHECK(is_there(0, "before-4194000") && is_there(1, "before-4194000") && is_there(0, "psm_ab12"));
    CHECK(strstr(told, "psm_ab12") && strstr(told, "not removed") && !strstr(told, "it left behind"));
}

static void links_are_removed_and_not_followed_and_folders_stay(void)
{
    struct ys_leftover leftover;
    begin(&leftover);
    CHECK(symlink("before-4194000", at(1, "link-4194000").text) == 0);
    CHECK(symlink("/", at(0, "root-4194000").text) == 0);
    CHECK(mkdir(at(1, "folder-4194000").text, 0700) == 0);
    put(1, "folder-4194000/inside-4194000");
    const char *told = end(&leftover);
    CHECK(!is_there(1, "link-4194000") && !is_there(0, "root-4194000") && is_there(1, "before-4194000"));
    CHECK(is_there(1, "folder-4194000/inside-4194000") && strstr(told, "folder-4194000"));
}

static void what_was_mapped_is_its_own_unless_somebody_holds_it(void)
{
    struct ys_leftover leftover;
    begin(&leftover);
    put(0, "psm_mapped");
    int fd = open(at(0, "psm_mapped").text, O_RDONLY | O_CLOEXEC);
    void *map = mmap(NULL, 5, PROT_READ, MAP_SHARED, fd, 0);
    const struct ys_tree_member self = {.pid = getpid()};
    CHECK(map != MAP_FAILED);
    ys_leftover_look(&leftover, &self, 1);
    struct ys_leftover again = leftover;
    again.before = ys_json_copy(leftover.before);
    again.mapped = ys_json_copy(leftover.mapped);
    again.numbers = ys_json_copy(leftover.numbers);
    CHECK_TEXT(end(&leftover), ""); /* this process still has it */
    CHECK(is_there(0, "psm_mapped"));
    munmap(map, 5);
    close(fd);
    CHECK(strstr(end(&again), "psm_mapped") && !is_there(0, "psm_mapped"));
}

/* Made by a process that has ended, and is attached to nobody. */
static int make_segment(pid_t *creator)
{
    int channel[2], id = -1;
    CHECK(pipe(channel) == 0);
    *creator = fork();
    if (*creator == 0) {
        id = shmget(IPC_PRIVATE, 8192, 0600);
        _exit(write(channel[1], &id, sizeof id) != sizeof id);
    }
    close(channel[1]);
    CHECK(read(channel[0], &id, sizeof id) == sizeof id);
    CHECK(waitpid(*creator, NULL, 0) == *creator);
    close(channel[0]);
    return id;
}

static bool has_segment(int id)
{
    struct shmid_ds found;
    return shmctl(id, IPC_STAT, &found) == 0;
}

static void a_segment_of_system_v_is_its_own_if_its_process_made_or_mapped_it(void)
{
    struct ys_leftover leftover;
    pid_t maker, other;
    int before = make_segment(&maker);
    if (before < 0 || access("/proc/sysvipc/shm", R_OK) != 0) {
        tap_skip("this kernel has no shared memory of System V");
        return;
    }
    begin(&leftover);
    int made = make_segment(&maker), foreign = make_segment(&other), mapped = make_segment(&other);
    const struct ys_tree_member members[] = {{.pid = maker}, {.pid = getpid()}};
    void *memory = shmat(mapped, NULL, 0);
    CHECK(memory != (void *)-1);
    ys_leftover_look(&leftover, members, 2);
    CHECK(shmdt(memory) == 0);
    const char *told = end(&leftover);
    char name[48];
    CHECK(!has_segment(made) && !has_segment(mapped));
    CHECK(has_segment(before) && has_segment(foreign));
    snprintf(name, sizeof name, "number %d (8.19 kB)", made);
    CHECK(strstr(told, "it left behind") && strstr(told, name));
    snprintf(name, sizeof name, "number %d (8.19 kB)", foreign);
    CHECK(strstr(told, "not removed") && strstr(told, name));
    snprintf(name, sizeof name, "number %d (", before);
    CHECK(!strstr(told, name));
    CHECK(shmctl(before, IPC_RMID, NULL) == 0 && shmctl(foreign, IPC_RMID, NULL) == 0);
}

static void one_that_is_attached_stays(void)
{
    struct ys_leftover leftover;
    pid_t maker;
    begin(&leftover);
    int held = make_segment(&maker);
    if (held < 0) {
        tap_skip("this kernel has no shared memory of System V");
        return;
    }
    const struct ys_tree_member member = {.pid = maker};
    void *memory = shmat(held, NULL, 0);
    CHECK(memory != (void *)-1);
    ys_leftover_look(&leftover, &member, 1);
    char name[48];
    snprintf(name, sizeof name, "number %d (", held);
    CHECK(!strstr(end(&leftover), name)); /* of others' segments it may tell */
    CHECK(has_segment(held));
    CHECK(shmdt(memory) == 0 && shmctl(held, IPC_RMID, NULL) == 0);
}

static void folders_that_are_not_there_are_fine(void)
{
    static const char *const nowhere[YS_LEFTOVER_FOLDERS] = {"/nonexistent/shm", "/nonexistent/tmp"};
    struct ys_leftover leftover;
    ys_leftover_begin(&leftover, nowhere);
    CHECK_TEXT(end(&leftover), "");
}

TAP_MAIN(TAP_CASE(what_has_the_number_of_its_process_is_removed_and_told),
         TAP_CASE(what_was_there_before_and_what_is_not_certain_stays),
         TAP_CASE(links_are_removed_and_not_followed_and_folders_stay),
         TAP_CASE(what_was_mapped_is_its_own_unless_somebody_holds_it),
         TAP_CASE(a_segment_of_system_v_is_its_own_if_its_process_made_or_mapped_it),
         TAP_CASE(one_that_is_attached_stays), TAP_CASE(folders_that_are_not_there_are_fine))
