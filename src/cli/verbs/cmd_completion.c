/* completion: what shells complete, and the manual pages. */
#include "cli/command.h"
#include "cli/completion.h"

#include <string.h>

static const struct {
    const char *word;
    void (*put)(struct ys_buf *out);
} texts[] = {{"bash", ys_completion_bash},
             {"zsh", ys_completion_zsh},
             {"fish", ys_completion_fish},
             {"man", ys_manual_program},
             {"man-study", ys_manual_study}};

int ys_command_completion(const struct ys_args *args)
{
    struct ys_buf out = {0};
    for (size_t i = 0; args->word_count && i < sizeof texts / sizeof texts[0]; i++) {
        if (strcmp(args->words[0], texts[i].word) != 0)
            continue;
        texts[i].put(&out);
        return ys_command_print(&out);
    }
    return ys_command_fail(ys_fail(YS_EINVAL, "write: yardstick completion bash, zsh, fish, man or man-study"));
}
