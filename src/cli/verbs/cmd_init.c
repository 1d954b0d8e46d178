/* init: a study to begin with. */
#include "base/files/fs.h"
#include "base/log.h"
#include "cli/command.h"

#include <string.h>

const char ys_example_study[] =
    "; An example study. `yardstick check study.ys` says what would run, `yardstick run study.ys` runs it.\n"
    "; Every key: yardstick list keys; one of them: yardstick list keys threads\n"
    "version = 1\n"
    "name = example\n"
    "repeat = 7              ; rounds; six or more give an interval of at least 95 %\n"
    "seed = 1                ; round r trains with seed + r in every trial\n"
    "margin = 2%             ; differences below this count as the same\n"
    "\n"
    "[global]                ; holds for every section below\n"
    "model = lenet\n"
    "data = digits\n"
    "batch = 64\n"
    "steps = 60\n"
    "block = 1               ; steps between two synchronisations, the unit of timing\n"
    "lr = 0.02\n"
    "momentum = 0.9\n"
    "\n"
    "[lenet]                 ; a job: braces make an axis, the product of the axes gives the trials\n"
    "framework = {builtin, pytorch}\n"
    "threads = {1, 2}\n"
    "; opt.pytorch.channels_last = {off, on}\n"
    "; exclude = framework=pytorch threads=1\n";

int ys_command_init(const struct ys_args *args)
{
    const char *path = args->word_count ? args->words[0] : "study.ys";
    if (ys_fs_exists(path))
        return ys_command_fail(
            ys_fail(YS_EINVAL, "%s exists already: give another name, yardstick init NAME.ys", path));
    ys_status status = ys_fs_write(path, ys_example_study, strlen(ys_example_study));
    if (status != YS_OK)
        return ys_command_fail(status);
    ys_log_info("wrote %s; try: yardstick check %s", path, path);
    return 0;
}
