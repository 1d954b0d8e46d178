/* What keeps attacks from a network. */
#include "robust/attackable.h"

#include "tap.h"

static void each_obstacle_is_told(void)
{
    static const struct {
        size_t inputs;
        enum ys_dtype reads;
        int rank;
        enum ys_target_kind target;
        bool carries_state;
        const char *says; /* NULL: nothing keeps them */
    } cases[] = {
        {1, YS_U8, 4, YS_TARGET_CLASS, false, NULL},
        {2, YS_U8, 4, YS_TARGET_CLASS, false, "several inputs"},
        {1, YS_I32, 2, YS_TARGET_CLASS, false, "it reads tokens"},
        {1, YS_F32, 4, YS_TARGET_CLASS, false, "no scale of pixels"},
        {1, YS_U8, 2, YS_TARGET_CLASS, false, "no scale of pixels"},
        {1, YS_U8, 4, YS_TARGET_CLASSES, false, "no one class"},
        {1, YS_U8, 4, YS_TARGET_CLASS, true, "carries a state"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct ys_value values[2] = {{.dtype = cases[i].reads, .rank = cases[i].rank}, {.dtype = cases[i].reads}};
        struct ys_graph graph = {.values = values,
                                 .input_count = cases[i].inputs,
                                 .target = cases[i].target,
                                 .carries_state = cases[i].carries_state};
        const char *obstacle = ys_attack_obstacle(&graph);
        if (cases[i].says)
            CHECK_HAS(obstacle ? obstacle : "nothing", cases[i].says);
        else
            CHECK(obstacle == NULL);
    }
}

TAP_MAIN(TAP_CASE(each_obstacle_is_told))
