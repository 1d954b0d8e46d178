/* Of the build: prints what tables of fields say of documents, as JSON Schema, and lists of words, by the names that
 * tools/result_schema.txt calls them. */
#include "base/json/record_schema.h"
#include "base/json/shared_words.h"
#include "base/mem.h"
#include "campaign/bisect.h"
#include "campaign/tune_document.h"
#include "crew/facts.h"
#include "judge/gate.h"
#include "judge/history.h"
#include "judge/recommend.h"
#include "metric/result_document.h"
#include "protocol/run_status.h"
#include "stat/compare.h"
#include "store/stored_study.h"
#include "verify/proof.h"

#include <stdio.h>

static const struct {
    const char *name;
    const struct ys_record *record;
} records[] = {
    {"study", &ys_result_study_record},
    {"work", &ys_study_work_record},
    {"difference", &ys_difference_record},
    {"transfer", &ys_result_transfer_record},
    {"trial", &ys_result_trial_record},
    {"proof", &ys_proof_record},
    {"twins", &ys_proof_twins_record},
    {"pass", &ys_proof_pass_record},
    {"rank", &ys_facts_rank_record},
    {"node", &ys_facts_node_record},
    {"network", &ys_facts_network_record},
    {"machine", &ys_facts_machine_record},
    {"turns", &ys_facts_turns_record},
    {"taken", &ys_facts_taken_record},
    {"comparison", &ys_comparison_record},
    {"side", &ys_judged_side_record},
    {"judged difference", &ys_judged_difference_record},
    {"judged metric", &ys_judged_metric_record},
    {"pair", &ys_judged_pair_record},
    {"compare", &ys_judged_record},
    {"gate check", &ys_gate_check_record},
    {"gate", &ys_gate_record},
    {"history", &ys_history_record},
    {"recommend trial", &ys_recommend_trial_record},
    {"recommend", &ys_recommended_record},
    {"bisect", &ys_bisected_record},
    {"tune", &ys_tuned_record},
};

static const struct {
    const char *name;
    const struct ys_names *names;
} words[] = {{"status", &ys_run_statuses}, {"stage", &ys_stages}, {"kind", &ys_kinds}, {"better", &ys_betters}};

int main(void)
{
    ys_memory_must_suffice("yardstick-records");
    ys_json *all = ys_json_object(), *tables = ys_json_object(), *lists = ys_json_object();
    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        ys_json_set(tables, records[i].name, ys_record_schema(records[i].record));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        ys_json_set(lists, words[i].name, ys_names_json(words[i].names));
    ys_json_set(all, "tables", tables);
    ys_json_set(all, "words", lists);
    char *text = ys_json_dump(all, YS_JSON_COMPACT);
    const bool is_told = puts(text) >= 0 && fflush(stdout) == 0;
    ys_free(text);
    ys_json_free(all);
    return is_told ? 0 : 1;
}
