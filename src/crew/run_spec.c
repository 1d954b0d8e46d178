#include "crew/run_spec.h"
#include "base/mem.h"

void ys_run_record_fini(struct ys_run_record *record)
{
    if (record->has_facts)
        ys_facts_fini(&record->facts);
    ys_series_set_free(&record->series);
    ys_answers_free(&record->answers);
    *record = (struct ys_run_record){0};
}
