#include "../../fuzz/zip.c"
#include "fuzz/replay.h"

static void the_corpus_is_read_or_refused(void)
{
    replay_each("zip", 15, replay_whole);
}

static void files_that_were_cut_are_refused(void)
{
    replay_each("zip", 15, replay_cut);
}

static void changed_files_are_read_or_refused(void)
{
    replay_each("zip", 15, replay_changed);
}

TAP_MAIN(TAP_CASE(the_corpus_is_read_or_refused), TAP_CASE(files_that_were_cut_are_refused),
         TAP_CASE(changed_files_are_read_or_refused))
