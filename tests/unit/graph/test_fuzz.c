#include "../../fuzz/graph.c"
#include "fuzz/replay.h"

static void the_corpus_is_read_or_refused(void)
{
    replay_each("graph", 34, replay_whole);
}

static void graphs_that_were_cut_are_refused(void)
{
    replay_each("graph", 34, replay_cut);
}

static void changed_graphs_are_read_or_refused(void)
{
    replay_each("graph", 34, replay_changed);
}

TAP_MAIN(TAP_CASE(the_corpus_is_read_or_refused), TAP_CASE(graphs_that_were_cut_are_refused),
         TAP_CASE(changed_graphs_are_read_or_refused))
