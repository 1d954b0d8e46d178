/* recommend: which of a study's trials to take. */
#include "base/mem.h"
#include "base/stop.h"
#include "cli/command.h"
#include "judge/recommend.h"
#include "report/judged/judged.h"

enum { NONE_MEETS = 3 };

static ys_status recommend(const struct ys_args *args, struct ys_recommended *found)
{
    struct ys_wish wish;
    struct ys_side side;
    if (!args->wish)
        return ys_fail(YS_EINVAL, "say what you want: yardstick recommend [SELECTOR] --wish='fastest at accuracy >= 98 "
                                  "%% within 2 GiB'");
    YS_TRY(ys_wish_read(args->wish, &wish));
    ys_status status = ys_side_load(ys_command_results(args), args->word_count ? args->words[0] : "last", &side);
    if (status == YS_OK) {
        status = ys_recommend(&side, &wish, found);
        ys_side_fini(&side);
    }
    ys_wish_fini(&wish);
    return status;
}

int ys_command_recommend(const struct ys_args *args)
{
    struct ys_recommended found;
    struct ys_buf out = {0};
    int printed;
    ys_stop_release(0);
    ys_status status = recommend(args, &found);
    if (status != YS_OK)
        return ys_command_fail(status);
    const int code = found.choice ? 0 : NONE_MEETS;
    if (args->format == YS_FORMAT_JSON) {
        ys_json *json = ys_record_json(&ys_recommended_record, &found);
        ys_record_fini(&ys_recommended_record, &found);
        printed = ys_command_print_json(json);
        return printed ? printed : code;
    }
    ys_report_recommended(&found, ys_command_width(), ys_command_colour(), &out);
    ys_record_fini(&ys_recommended_record, &found);
    printed = ys_command_print(&out);
    return printed ? printed : code;
}
