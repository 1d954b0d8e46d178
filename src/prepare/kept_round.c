#include "prepare/kept_round.h"

#include "base/files/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/child.h"
#include "probe/host.h"
#include "robust/transfer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEPT_NAME "kept" /* store/sweep_results.c removes what a killed yardstick leaves there */

struct answer {
    struct ys_list attacks;
};
static const struct ys_field answer_fields[] = {
    YS_FIELD_OF(struct answer, attacks, YS_FIELD_LIST, &ys_transfer_result_record, 0, "as they were asked for")};
static const struct ys_record answer_record = YS_RECORD("transfer", struct answer, answer_fields);

bool ys_transfer_is_asked(const struct ys_trial *trial)
{
    return trial->record.keys.attack && trial->record.keys.attack_transfer == YS_ON;
}

ys_status ys_kept_round_place(struct ys_kept_round *round, const char *study_folder, const struct ys_trial *trial,
                              char **folder)
{
    if (!round->folder) {
        round->folder = ys_path_join(study_folder, KEPT_NAME);
        YS_TRY(ys_fs_remove_tree(round->folder));
    }
    YS_TRY(ys_fs_make_dirs(round->folder));
    *folder = ys_format("%s/t%" PRId64, round->folder, trial->record.index);
    return *folder ? YS_OK : ys_out_of_memory();
}

static bool are_shown(const struct ys_trial *a, const struct ys_trial *b)
{
    const struct ys_trial_settings *x = &a->record.keys, *y = &b->record.keys;
    return a != b && strcmp(a->record.section, b->record.section) == 0 &&
           strcmp(a->data->test_hash, b->data->test_hash) == 0 && strcmp(x->attack, y->attack) == 0 &&
           x->attack_rows == y->attack_rows;
}

static ys_status add(const char *text, const struct ys_kept_trial *from, const struct ys_kept_trial *to,
                     struct ys_list *transfers)
{
    struct answer answer;
    YS_TRY(ys_record_parse(&answer_record, text, strlen(text), "the answer on attacks that carry over", &answer));
    const struct ys_transfer_result *results = answer.attacks.items;
    for (size_t i = 0; i < answer.attacks.count; i++) {
        struct ys_facts_transfer *one = ys_list_add(&ys_facts_transfer_record, transfers);
        one->from = from->trial->record.index;
        one->to = to->trial->record.index;
        ys_set_text(&one->attack, results[i].attack);
        one->both_right = results[i].both_right;
        one->broken = results[i].broken;
        one->also_wrong = results[i].also_wrong;
    }
    ys_record_fini(&answer_record, &answer);
    return YS_OK;
}

static ys_status show(const struct ys_shower *shower, const struct ys_kept_trial *from, const struct ys_kept_trial *to,
                      struct ys_list *transfers)
{
    char threads[16];
    snprintf(threads, sizeof threads, "%d", ys_host_cpus_allowed());
    const char *argv[] = {
        shower->engine->argv[0], "transfer", "--from", from->folder, "--to", to->folder, "--threads", threads, NULL};
    const struct ys_child_options options = {.is_own = true,
                                             .merge_stderr = true,
                                             .timeout_s = shower->limit_s,
                                             .on_wait = shower->on_wait,
                                             .context = shower->context};
    struct ys_buf output = {0};
    int code = 0;
    ys_status status = ys_child_run(argv, &options, &output, &code);
    char *text = ys_strdup(ys_buf_text(&output));
    const char *line = ys_child_last_line(text);
    if (status == YS_OK)
        status = code == 0 ? add(line, from, to, transfers)
                           : ys_fail(YS_EIO, "showing ended with exit code %d: %s", code, *line ? line : "no message");
    ys_free(text);
    ys_buf_free(&output);
    return status;
}

ys_status ys_kept_round_show(struct ys_kept_round *round, const struct ys_shower *shower, const struct ys_trial *trial,
                             char *folder, struct ys_list *transfers)
{
    struct ys_kept_trial *items = round->items = ys_realloc(round->items, round->count + 1, sizeof *items);
    struct ys_kept_trial *own = &items[round->count++];
    *own = (struct ys_kept_trial){.trial = trial, .folder = folder};
    ys_status status = YS_OK;
    for (struct ys_kept_trial *other = items; status == YS_OK && other < own; other++) {
        if (!are_shown(trial, other->trial))
            continue;
        own->has_others = other->has_others = true;
        status = show(shower, other, own, transfers);
        if (status == YS_OK)
            status = show(shower, own, other, transfers);
    }
    ys_progress_clear();
    return status;
}

void ys_kept_round_end(struct ys_kept_round *round, bool is_whole)
{
    for (size_t i = 0; i < round->count; i++) {
        if (is_whole && !round->items[i].has_others && !round->said_alone) {
            ys_log_warn(
                "%s: attack.transfer shows what was made on its weights to nobody: no other trial of its section "
                "was attacked likewise on the same rows",
                round->items[i].trial->record.id);
            round->said_alone = true;
        }
        ys_free(round->items[i].folder);
    }
    if (round->folder && ys_fs_remove_tree(round->folder) != YS_OK)
        ys_log_warn("%s", ys_error());
    ys_free(round->items);
    ys_free(round->folder);
    *round = (struct ys_kept_round){.said_alone = round->said_alone};
}
