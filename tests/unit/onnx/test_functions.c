/* Functions of one element, and what is a bound of a value. */
#include "unit/onnx/eval_onnx.h"

static void functions_of_one_element_keep_their_numbers(void)
{
    static const struct {
        const char *op, *name;
        float value;
        enum ys_op made;
        double alpha, gamma;
    } cases[] = {{"Elu", "", 0, YS_OP_ELU, 1, 0},
                 {"Elu", "alpha", 0.3F, YS_OP_ELU, 0.3, 0},
                 {"Elu", "alpha", 0, YS_OP_RELU, 0, 0},
                 {"Selu", "", 0, YS_OP_SELU, 1.67326319217681884765625, 1.05070102214813232421875},
                 {"Selu", "gamma", 2, YS_OP_SELU, 1.67326319217681884765625, 2},
                 {"Celu", "", 0, YS_OP_CELU, 1, 0},
                 {"Celu", "alpha", 2, YS_OP_CELU, 2, 0},
                 {"Exp", "", 0, YS_OP_EXP, 0, 0},
                 {"Softplus", "", 0, YS_OP_SOFTPLUS, 0, 0},
                 {"Softsign", "", 0, YS_OP_SOFTSIGN, 0, 0},
                 {"Mish", "", 0, YS_OP_MISH, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct made m = {0};
        made_input(&m, -1, 2, 4, 4);
        made_node(&m, cases[i].op, "x", "a");
        if (cases[i].name[0])
            made_real(&m, cases[i].name, cases[i].value);
        end_in_dense(&m, "a", 32);
        struct ys_onnx_import *import = made_read(&m, "y", 18);
        const struct ys_node *node = import ? node_called(import->graph, "a") : NULL;
        if (CHECK(node)) {
            CHECK_INT(node->op, cases[i].made);
            CHECK(!cases[i].alpha || node->slope == cases[i].alpha);
            CHECK(!cases[i].gamma || node->gamma == cases[i].gamma);
        }
        ys_onnx_import_free(import);
    }
    struct made m = {0};
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Celu", "x", "a");
    made_real(&m, "alpha", -1);
    end_in_dense(&m, "a", 32);
    check_read(&m, "y", 18, "node a (Celu)|alpha -1|numbers above 0");
}

static void extremes_of_a_value_and_a_number_are_bounds(void)
{
    static const struct {
        const char *op, *in;
        enum ys_op made;
        double low, high;
    } cases[] = {{"Max", "x c", YS_OP_CLIP, 0.1, 1e30},
                 {"Max", "c x", YS_OP_CLIP, 0.1, 1e30},
                 {"Min", "x c", YS_OP_CLIP, -1e30, 0.1},
                 {"Min", "x c d", YS_OP_CLIP, -1e30, 0.1}};
    struct made m = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        made_input(&m, -1, 2, 4, 4);
        made_node(&m, cases[i].op, cases[i].in, "a");
        made_weight(&m, "c", 1, 0, 0, 0);
        made_weight(&m, "d", 1, 1, 0, 0);
        end_in_dense(&m, "a", 32);
        struct ys_onnx_import *import = made_read(&m, "y", 17);
        const struct ys_node *node = import ? node_called(import->graph, "a") : NULL;
        if (CHECK(node)) {
            CHECK_INT(node->op, cases[i].made);
            CHECK(node->low == cases[i].low && node->high == cases[i].high);
        }
        ys_onnx_import_free(import);
    }
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Relu", "x", "a");
    made_node(&m, "Max", "a x", "b");
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "node b (Max)|compares two values");
    made_input(&m, -1, 2, 4, 4);
    made_node(&m, "Min", "x c", "b");
    made_weight(&m, "c", 2, 1, 1, 0);
    end_in_dense(&m, "b", 32);
    check_read(&m, "y", 17, "node b (Min)|compares with several numbers");
}

TAP_MAIN(TAP_CASE(functions_of_one_element_keep_their_numbers), TAP_CASE(extremes_of_a_value_and_a_number_are_bounds))
