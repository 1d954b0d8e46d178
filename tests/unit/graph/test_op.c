/* The descriptors: each whole, and true to what the rest of the room takes from them. */
#include "graph/op.h"
#include "tap.h"

static void every_operator_has_a_name_of_its_own_and_a_shape_rule(void)
{
    for (int op = 0; op < YS_OP_COUNT; op++) {
        const struct ys_op_rule *rule = ys_op_rule((enum ys_op)op);
        REQUIRE(rule && rule->name);
        tap_check(rule->infer && rule->attrs, __LINE__, "%s", rule->name);
        tap_check(rule->in_low >= 1 && rule->in_high >= rule->in_low && rule->in_high <= YS_NODE_MAX_IN, __LINE__,
                  "%s reads %zu to %zu values", rule->name, rule->in_low, rule->in_high);
        tap_check(rule->out_low >= 1 && rule->out_high >= rule->out_low && rule->out_high <= YS_NODE_MAX_OUT, __LINE__,
                  "%s makes %zu to %zu values", rule->name, rule->out_low, rule->out_high);
        for (int other = 0; other < op; other++)
            CHECK(strcmp(rule->name, ys_op_name((enum ys_op)other)) != 0);
    }
}

static void attributes_have_names_of_their_own_and_lie_in_the_node(void)
{
    for (int op = 0; op < YS_OP_COUNT; op++) {
        const struct ys_attr *attrs = ys_op_rule((enum ys_op)op)->attrs;
        for (size_t i = 0; attrs[i].name; i++) {
            bool lies_nowhere = attrs[i].kind == YS_ATTR_ONLY || attrs[i].kind == YS_ATTR_UNSAID;
            REQUIRE(i < YS_OP_MAX_ATTRS);
            tap_check(attrs[i].offset < sizeof(struct ys_node), __LINE__, "%s", attrs[i].name);
            tap_check(lies_nowhere == (attrs[i].offset == 0), __LINE__, "%s", attrs[i].name);
            for (size_t k = 0; k < i; k++)
                CHECK(strcmp(attrs[i].name, attrs[k].name) != 0);
        }
    }
}

static void products_and_no_others_have_multiply_adds_and_weights(void)
{
    for (int op = 0; op < YS_OP_COUNT; op++) {
        const struct ys_op_rule *rule = ys_op_rule((enum ys_op)op);
        tap_check((rule->kind == YS_OPKIND_PRODUCT) == (rule->multiply_adds != NULL), __LINE__, "%s", rule->name);
        bool weighs = (rule->kind == YS_OPKIND_PRODUCT && op != YS_OP_ATTENTION && op != YS_OP_MATMUL) ||
                      op == YS_OP_LAYERNORM || op == YS_OP_RMSNORM || op == YS_OP_BATCHNORM ||
                      op == YS_OP_EMBEDDING; /* the two multiply values with each other */
        tap_check(weighs == ys_op_needs((enum ys_op)op, YS_NODE_WEIGHT), __LINE__, "%s", rule->name);
    }
}

static void kinks_are_those_of_the_formulas(void)
{
    static const struct {
        struct ys_node node;
        size_t count;
        double at[YS_OP_MAX_KINKS];
    } expected[] = {{{.op = YS_OP_RELU}, 1, {0}},
                    {{.op = YS_OP_LEAKY_RELU, .slope = 0.25}, 1, {0}},
                    {{.op = YS_OP_CLIP, .low = -1.5, .high = 6}, 2, {-1.5, 6}},
                    {{.op = YS_OP_SIGMOID}, 0, {0}},
                    {{.op = YS_OP_HARDSIGMOID, .slope = 0.25, .shift = 0.5}, 2, {-2, 2}}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        const struct ys_op_rule *rule = ys_op_rule(expected[i].node.op);
        double at[YS_OP_MAX_KINKS] = {0};
        CHECK_INT(rule->kinks ? rule->kinks(&expected[i].node, at) : 0, expected[i].count);
        for (size_t k = 0; k < expected[i].count; k++)
            CHECK_NEAR(at[k], expected[i].at[k], 0);
    }
}

TAP_MAIN(TAP_CASE(every_operator_has_a_name_of_its_own_and_a_shape_rule),
         TAP_CASE(attributes_have_names_of_their_own_and_lie_in_the_node),
         TAP_CASE(products_and_no_others_have_multiply_adds_and_weights), TAP_CASE(kinks_are_those_of_the_formulas))
