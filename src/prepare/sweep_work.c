#include "prepare/sweep_work.h"

#include "data/dataset.h"
#include "framework/converter.h"
#include "prepare/work.h"

void ys_cache_sweep(const struct ys_sweep *sweep)
{
    static const char *const folders[] = {YS_WORK_SHELF, YS_CONVERTED_SHELF, "proofs", "checks", "judge"};
    ys_data_sweep(sweep);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        ys_working_sweep_cache(folders[i], sweep);
}
