/* ONNX's RotaryEmbedding: read where one base makes its tables, with the oracle's numbers beside those of the formula,
 * and refused by name where none does. */
#include "graph/op.h"
#include "unit/onnx/eval_onnx.h"

#include <math.h>

enum { POSITIONS = 3, WIDTH = 8, CLASSES = 3, CACHED = 5 };

/* An embedding `e` of tokens, (N, POSITIONS, WIDTH), turned. */
struct turn {
    bool interleaved, is_apart; /* (N, heads, positions, width), else all heads side by side */
    bool is_picked;             /* rows of the tables by position_ids; else tables of (1, positions, pairs) */
    bool is_spread;             /* to as many rows as the batch has */
    bool is_computed;           /* cosines and sines of what the file multiplies, else in the file */
    int64_t heads, width;       /* the width as the attribute has it: 0 for all of a head */
    double base;
};

static int64_t pairs_of(const struct turn *t)
{
    return (t->width ? t->width : WIDTH / t->heads) / 2;
}

/* One table as "NAME", of CACHED positions or of (1, POSITIONS). */
static void made_table(struct made *m, const char *name, const struct turn *t, bool sines)
{
    const int64_t pairs = pairs_of(t), rows = t->is_picked ? CACHED : POSITIONS;
    const int64_t picked[] = {rows, pairs}, each[] = {1, rows, pairs};
    float values[CACHED * WIDTH];
    for (int64_t i = 0; i < rows * pairs; i++) {
        const double angle = (double)(i / pairs) * pow(t->base, -2.0 * (double)(i % pairs) / (2 * (double)pairs));
        values[i] = (float)(sines ? sin(angle) : cos(angle));
    }
    made_tensor(m, name, 1, t->is_picked ? picked : each, t->is_picked ? 2 : 3, values,
                (size_t)(rows * pairs) * sizeof *values);
}

/* The same by nodes: positions times frequencies. */
static void made_computed(struct made *m, const struct turn *t)
{
    const int64_t pairs = pairs_of(t), column[] = {CACHED, 1};
    float frequencies[WIDTH], places[CACHED];
    for (int64_t i = 0; i < pairs; i++)
        frequencies[i] = (float)pow(t->base, -(double)i / (double)pairs);
    for (int i = 0; i < CACHED; i++)
        places[i] = (float)i;
    made_tensor(m, "frequencies", 1, &pairs, 1, frequencies, (size_t)pairs * sizeof *frequencies);
    made_tensor(m, "places", 1, column, 2, places, sizeof places);
    made_node(m, "Mul", "places frequencies", "angles");
    made_node(m, "Cos", "angles", "cosines");
    made_node(m, "Sin", "angles", "sines");
}

static void made_list(struct made *m, const char *name, const int64_t *values, int64_t count)
{
    made_tensor(m, name, 7, &count, 1, values, (size_t)count * sizeof *values);
}

/* `table` as "NAME", as many times as there are rows. */
static void made_spread(struct made *m, const char *table, const char *to, const char *name)
{
    char in[64];
    snprintf(in, sizeof in, "%s %s", table, to);
    made_node(m, "Expand", in, name);
}

static void made_extents(struct made *m, const struct turn *t)
{
    const int64_t table[] = {POSITIONS, pairs_of(t)};
    made_list(m, "first", (const int64_t[]){0}, 1);
    made_list(m, "table_rest", table, 2);
    made_list(m, "ids_rest", table, 1);
    made_node(m, "Shape", "x", "shape");
    made_node(m, "Gather", "shape first", "n");
    made_node(m, "Concat", "n table_rest", "table_to");
    made_integer(m, "axis", 0);
    made_node(m, "Concat", "n ids_rest", "ids_to");
    made_integer(m, "axis", 0);
}

static void made_tables(struct made *m, const struct turn *t, const int64_t ids[POSITIONS])
{
    const int64_t row[] = {1, POSITIONS};
    const bool spreads = t->is_spread && !t->is_picked;
    if (t->is_spread)
        made_extents(m, t);
    if (t->is_computed) {
        made_computed(m, t);
    } else {
        made_table(m, spreads ? "c" : "cosines", t, false);
        made_table(m, spreads ? "s" : "sines", t, true);
    }
    if (spreads) {
        made_spread(m, "c", "table_to", "cosines");
        made_spread(m, "s", "table_to", "sines");
    }
    made_tensor(m, t->is_spread ? "i" : "ids", 7, row, 2, ids, POSITIONS * sizeof *ids);
    if (t->is_spread)
        made_spread(m, "i", "ids_to", "ids");
}

static void begin(struct made *m)
{
    const int64_t shape[] = {-1, POSITIONS};
    made_value(m, 11, "x", 7, shape, 2);
    made_weight(m, "table", 5, WIDTH, 0, 0);
    made_node(m, "Gather", "table x", "e");
}

/* The network; `in`: what RotaryEmbedding reads behind its value. */
static void made_turned(struct made *m, const struct turn *t, const char *in)
{
    const int64_t heads[] = {0, POSITIONS, t->heads, WIDTH / t->heads}, whole[] = {0, POSITIONS, WIDTH},
                  turn[] = {0, 2, 1, 3};
    char names[64];
    if (t->is_apart) {
        made_list(m, "heads", heads, 4);
        made_list(m, "whole", whole, 3);
        made_node(m, "Reshape", "e heads", "cut");
        made_node(m, "Transpose", "cut", "h");
        made_integers(m, "perm", turn, 4);
    }
    snprintf(names, sizeof names, "%s %s", t->is_apart ? "h" : "e", in);
    made_node(m, "RotaryEmbedding", names, t->is_apart ? "turned" : "a");
    made_integer(m, "interleaved", t->interleaved);
    made_integer(m, "rotary_embedding_dim", t->width);
    if (!t->is_apart)
        made_integer(m, "num_heads", t->heads);
    if (t->is_apart) {
        made_node(m, "Transpose", "turned", "back");
        made_integers(m, "perm", turn, 4);
        made_node(m, "Reshape", "back whole", "a");
    }
    end_in_dense(m, "a", POSITIONS * WIDTH);
}

/* What the formula makes of one row. */
static void expect(const struct turn *t, const int32_t tokens[POSITIONS], double logits[CLASSES])
{
    const int64_t head = WIDTH / t->heads, pairs = pairs_of(t);
    memset(logits, 0, CLASSES * sizeof *logits);
    for (int64_t f = 0; f < POSITIONS * WIDTH; f++) {
        const int64_t position = f / WIDTH, at = f % WIDTH, k = at % head;
        const int64_t pair = t->interleaved ? k / 2 : k % pairs, apart = t->interleaved ? 1 : pairs;
        const bool second = t->interleaved ? k % 2 : k >= pairs, turns = k < 2 * pairs;
        const double angle = (double)position * pow(t->base, -(double)pair / (double)pairs);
        const double own = 0.1F * (float)(tokens[position] * WIDTH + at + 1);
        const double other = 0.1F * (float)(tokens[position] * WIDTH + at + (second ? -apart : apart) + 1);
        const double value = turns ? own * cos(angle) + (second ? other : -other) * sin(angle) : own;
        for (int c = 0; c < CLASSES; c++)
            logits[c] += value * (double)(0.1F * (float)(f * CLASSES + c + 1));
    }
}

static void check_turned(const struct turn *t)
{
    static const int32_t tokens[2][POSITIONS] = {{4, 0, 2}, {1, 3, 3}};
    const int64_t ids[POSITIONS] = {0, 1, 2};
    double logits[2 * CLASSES], wanted[CLASSES];
    struct made m = {0};
    begin(&m);
    made_tables(&m, t, ids);
    made_turned(&m, t, t->is_picked ? "cosines sines ids" : "cosines sines");
    struct ys_onnx_import *import = made_read(&m, "y", 23);
    const struct ys_node *node = NULL;
    for (size_t i = 0; import && i < import->graph->node_count; i++)
        if (import->graph->nodes[i].op == YS_OP_ROTARY)
            node = &import->graph->nodes[i];
    if (CHECK(node != NULL)) {
        CHECK(node->rotary.heads == t->heads && node->rotary.base == t->base &&
              node->rotary.interleaved == t->interleaved);
        CHECK_INT(import->graph->param_count, 2);
        CHECK(ys_graph_has(import->graph, YS_OP_CONCAT) == (t->width != 0));
        if (made_evaluate(import, (const unsigned char *)tokens, 2, logits))
            for (int r = 0; r < 2; r++) {
                expect(t, tokens[r], wanted);
                for (int c = 0; c < CLASSES; c++)
                    CHECK_NEAR(logits[r * CLASSES + c], wanted[c], 1e-9 * fabs(wanted[c]));
            }
    }
    ys_onnx_import_free(import);
}

static void tables_of_one_base_are_a_rotary_embedding(void)
{
    for (unsigned bits = 0; bits < 32; bits++)
        check_turned(&(struct turn){.interleaved = bits & 1,
                                    .is_apart = bits & 2,
                                    .is_picked = bits & 4,
                                    .is_spread = bits & 8,
                                    .heads = 2,
                                    .base = bits & 16 ? 500 : 10000});
}

static void a_part_of_each_head_may_be_turned(void)
{
    for (unsigned bits = 0; bits < 8; bits++)
        check_turned(&(struct turn){.interleaved = bits & 1,
                                    .is_apart = bits & 2,
                                    .is_picked = bits & 4,
                                    .heads = bits & 4 ? 1 : 2,
                                    .width = bits & 4 ? 4 : 2,
                                    .base = 10000});
}

static void the_tables_may_be_computed_in_the_file(void)
{
    check_turned(&(struct turn){.is_picked = true, .is_computed = true, .heads = 2, .base = 10000});
    check_turned(&(struct turn){
        .is_picked = true, .is_computed = true, .is_apart = true, .interleaved = true, .heads = 1, .base = 100});
}

static void refused(struct made *m, const char *word)
{
    struct ys_buf file = {0};
    struct ys_onnx_import *import = NULL;
    made_file(m, "y", 23, &file);
    CHECK(ys_onnx_read_bytes("net.onnx", file.data, file.size, NULL, &import) == YS_EUNSUPPORTED);
    if (!CHECK(strstr(ys_error(), word) != NULL))
        printf("# \"%s\" is not in: %s\n", word, ys_error());
    ys_onnx_import_free(import);
    ys_buf_free(&file);
    *m = (struct made){0};
}

static void other_positions_are_refused_by_name(void)
{
    static const int64_t others[][POSITIONS] = {{1, 2, 3}, {0, 2, 1}, {0, 1, 1}};
    const struct turn picked = {.is_picked = true, .heads = 2, .base = 10000};
    struct made m = {0};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        begin(&m);
        made_tables(&m, &picked, others[i]);
        made_turned(&m, &picked, "cosines sines ids");
        refused(&m, "node a (RotaryEmbedding): has other position_ids than 0 to 2 in each row");
    }
    begin(&m);
    made_tables(&m, &picked, others[0]);
    made_turned(&m, &picked, "cosines sines x");
    refused(&m, "has position_ids that the data tell");
}

static void other_tables_are_refused_by_name(void)
{
    const struct turn each = {.heads = 2, .base = 10000}, picked = {.is_picked = true, .heads = 2, .base = 10000};
    const int64_t ids[POSITIONS] = {0, 1, 2}, few[] = {1, POSITIONS, 1}, extents[] = {1, POSITIONS, 2};
    struct made m = {0};
    begin(&m);
    made_tables(&m, &each, ids);
    made_turned(&m, &each, "sines cosines");
    refused(&m, "node a (RotaryEmbedding): has a cos_cache and sin_cache that are not the cosines and sines");
    begin(&m);
    made_tables(&m, &each, ids);
    made_turned(&m, &each, "cosines sines ids");
    refused(&m, "its cos_cache is of shape [1,3,2]: must be numbers of shape (at least 3, 2)");
    begin(&m);
    made_tables(&m, &picked, ids);
    made_turned(&m, &picked, "cosines sines");
    refused(&m, "its cos_cache is of shape [5,2]: must be numbers of shape (N, 3, 2)");
    begin(&m);
    made_tables(&m, &each, ids);
    made_weight(&m, "narrow", few[0], few[1], few[2], 0);
    made_turned(&m, &each, "cosines narrow");
    refused(&m, "its sin_cache is of shape [1,3,1]");
    begin(&m);
    made_tables(&m, &each, ids);
    made_turned(&m, &each, "e sines");
    refused(&m, "reads e, which is computed from data, where a constant belongs");
    begin(&m);
    made_tables(&m, &each, ids);
    made_list(&m, "extents", extents, 3);
    made_node(&m, "ConstantOfShape", "extents", "zeros");
    made_turned(&m, &each, "zeros zeros");
    refused(&m, "that are not the cosines and sines");
}

static void other_heads_are_refused_by_name(void)
{
    static const struct {
        struct turn turn;
        const char *word;
    } cases[] = {
        {{.heads = 3}, "num_heads is 3: must divide the width 8 of a position"},
        {{.heads = 2, .width = 3}, "rotary_embedding_dim 3 of heads of 4"},
        {{.heads = 2, .width = 6}, "rotary_embedding_dim 6 of heads of 4"},
        {{.heads = 2, .width = -2}, "rotary_embedding_dim -2 of heads of 4"},
        {{.heads = 8}, "rotary_embedding_dim 0 of heads of 1"},
    };
    const struct turn tables = {.heads = 2, .base = 10000};
    const int64_t ids[POSITIONS] = {0, 1, 2};
    struct made m = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&m);
        made_tables(&m, &tables, ids);
        made_turned(&m, &cases[i].turn, "cosines sines");
        refused(&m, cases[i].word);
    }
}

TAP_MAIN(TAP_CASE(tables_of_one_base_are_a_rotary_embedding), TAP_CASE(a_part_of_each_head_may_be_turned),
         TAP_CASE(the_tables_may_be_computed_in_the_file), TAP_CASE(other_positions_are_refused_by_name),
         TAP_CASE(other_tables_are_refused_by_name), TAP_CASE(other_heads_are_refused_by_name))
