/* What the parts of the reader share; other rooms use onnx/read/onnx_read.h. */
#ifndef YS_ONNX_READ_READER_STATE_H
#define YS_ONNX_READ_READER_STATE_H

#include "base/buf.h"
#include "graph/compose.h"
#include "onnx/file/constant.h"
#include "onnx/read/onnx_read.h"

/* Elements of parameters that a file holds once for many: filled constants, copies for further nodes, numbers. VGG-19
 * among ONNX's light networks, whose weights are all filled, has 1.44e8. */
#define YS_ONNX_MAX_BEYOND ((int64_t)1 << 28)

/* Elements of parameters that have numbers of their own because a further node sees a constant in another way. */
#define YS_ONNX_MAX_FORMS ((int64_t)1 << 25)

enum ys_onnx_kind { YS_ONNX_NONE, YS_ONNX_CONSTANT, YS_ONNX_LIVE, YS_ONNX_REFUSED };

/* y = (x * scale - mean) / std of the graph's input: what the file or yardstick does with pixels before all else.
 * Merged into one node where the first real operator reads it. */
struct ys_onnx_pixels {
    double scale, mean[16], std[16];
    size_t channels; /* 1: the same for all */
};

/* Of a value v. SLICE is a part of it that waits for the others. SEQUENCE is v in parts, of which SequenceAt takes one.
 * FLAT is all its elements in a row, those of the first
 * row first, which a Gather alone may read. ERF is erf(v / sqrt 2), which is read as a part of
 * Gelu alone; ERF1 is 1 more. SCORES are the products of queries and keys, SHARES their softmax: parts of an attention.
 * COUNTS says which of its tokens are not the padding, BLANKS which are, ONES the former by numbers, PLACE which of
 * these is the last of a row, LENGTHS how many there are in it: what hides keys of an attention, picks a position, ends
 * the rows of a recurrent layer. */
enum ys_onnx_curve {
    YS_ONNX_PLAIN,
    YS_ONNX_SLICE,
    YS_ONNX_SEQUENCE,
    YS_ONNX_FLAT,
    YS_ONNX_SIGMOID,
    YS_ONNX_HARD,
    YS_ONNX_ERF,
    YS_ONNX_ERF1,
    YS_ONNX_SCORES,
    YS_ONNX_SHARES,
    YS_ONNX_COUNTS,
    YS_ONNX_BLANKS,
    YS_ONNX_ONES,
    YS_ONNX_PLACE,
    YS_ONNX_LENGTHS
};

/* Where the file has the batch, unless that is its axis 0, alone. In a graph it is axis 0 of every value. */
struct ys_onnx_rows {
    const struct ys_onnx_node_in *maker; /* the node of the file that made it so; NULL: it is axis 0, alone */
    int64_t each; /* extent of the axis for each row of the batch: k of k times N; 0: it is the batch alone */
    size_t first,
        count; /* with `each`: so many axes of `perm` from there on, the batch among them, are one in the file */
};

/* What a name of the file stands for. A live value is a value of the graph, perhaps not as it lies there: seen through
 * a transposition, with zeros around the image, as pixels before their normalisation. Whoever reads one that way does
 * so, all others get it made by ys_onnx_take(). */
struct ys_onnx_slot {
    enum ys_onnx_kind kind;
    bool needed;
    int uses;                              /* nodes that are needed and read it; the output of the file counts too */
    const struct ys_onnx_node_in *made_by; /* NULL: an input or initializer */
    int counted;                           /* 1 more than the value to whose `reads` this name adds; 0: to none yet */
    struct ys_onnx_constant *constant;
    int value;
    int perm[YS_MAX_RANK]; /* axis i of the name, with what `rows` has as one apart, is axis perm[i] of the value */
    struct ys_onnx_rows rows;
    int64_t pads[4]; /* zeros: top, left, bottom, right of the value */
    struct ys_onnx_pixels *pixels;
    int ended; /* 1 more than the tokens behind whose last one of a row the file has zeros, and the value has not; 0: it
                * is the file's everywhere */
    const struct ys_onnx_node_in *turned; /* of yardstick's own files: the Transpose of a graph that is not made yet */
    bool feeds_mul, feeds_erf;            /* some node that is needed and reads it is one; a MatMul is a Mul too */
    const struct ys_onnx_attending *attending; /* of SCORES and SHARES */
    /* What is not made yet, because with a node behind it it may be another operator: curve(value) * factor. */
    enum ys_onnx_curve curve;
    double factor;      /* 0: none */
    double alpha, beta; /* of YS_ONNX_HARD */
    int64_t axis; /* of YS_ONNX_SEQUENCE, as the file counts; of COUNTS and BLANKS: how many axes it has; of SLICE: its
                   * place in `slices` */
    struct ys_onnx_constant *parts;      /* its extents along it, or the one number that all but the last have */
    const struct ys_onnx_node_in *maker; /* the node of the file that says so */
};

/* Queries and keys: as the file has them, (N, heads..., positions, width). */
struct ys_onnx_attending {
    struct ys_onnx_slot query, key;
    bool is_causal, is_padded;
    int tokens; /* where it is padded: the value that hides keys */
};

struct ys_onnx_reading {
    struct ys_onnx_folding folding;
    struct ys_onnx_file *file;
    struct ys_model_feed feed; /* its names are borrowed */
    struct ys_onnx_import *import;
    struct ys_graph *graph;
    bool own;            /* written by yardstick: pixels are as they are stored */
    int64_t fixed_batch; /* the rows that the file is made for; 0: any */
    ys_json *names;      /* name to slot */
    struct ys_onnx_slot *slots;
    size_t slot_count;
    ys_json *taken[3]; /* names given in the graph: values, nodes, parameters */
    ys_json *nodes, *parameters, *notes;
    struct ys_onnx_slice *slices; /* that wait, or waited, for others of their value */
    size_t slice_count, slice_room;
    ys_json *pieces;   /* a value and axis to 1 more than the newest slice of them that waits; a piece to its value */
    ys_json *matrices; /* what the matrices that became parameters hold, to the parameter */
    ys_json *layers;   /* what makes a layer one that was there before, to its bias, or of recurrent ones to its node */
    ys_json *seen;     /* a constant and how it is seen, to the parameter that has these numbers */
    int *reads; /* of each value: nodes of the graph that read it, and of each of its names all readers but one */
    size_t read_room, nodes_counted; /* values that `reads` has room for; nodes that are in it */
    int64_t beyond;                  /* elements of parameters that no bytes of the file stand for */
    int64_t forms;                   /* those of them that are not another parameter's numbers */
    bool *done;                      /* nodes that are read, or that nothing needs */
    const struct ys_onnx_slot *last; /* the output, before nodes at the end that change its shape or type alone */
    size_t narrowed;                 /* nodes that make reals of 16 bits of a value */
    size_t chosen_count;             /* nodes If whose branch is known now: the file is read again with these */
    size_t refusal_count;
    struct ys_buf refusals;
    bool is_cut; /* there are more refusals than the message has room for: nothing else is read */
};

/* A Slice of a value that depends on the data. Those that together are the whole of it are one Split. */
struct ys_onnx_slice {
    int value, axis; /* of the graph's value */
    int64_t start, end;
    struct ys_onnx_slot *out;
    const struct ys_onnx_node_in *node;
    size_t next; /* 1 more than the one before it of the same value and axis that waits; 0: none does */
};

/* One node of the file. */
struct ys_onnx_step {
    struct ys_onnx_reading *r;
    const struct ys_onnx_node_in *node;
    struct ys_onnx_slot **in; /* NULL for those left out */
    struct ys_onnx_slot *out; /* the first */
};

#define YS_FAIL_STEP(step, ...) YS_FAIL_NODE((step)->node, YS_EUNSUPPORTED, __VA_ARGS__)

enum { YS_ONNX_VALUE_NAME, YS_ONNX_NODE_NAME, YS_ONNX_PARAM_NAME };

/* What becomes of a node that reads live values. */
typedef ys_status ys_onnx_map(struct ys_onnx_step *step);

/* read_graph.c */

void ys_onnx_note(struct ys_onnx_reading *r, const char *format, ...) YS_PRINTF(2, 3);

/* order_nodes.c */

/** Looks into the branches of each If, and puts each node behind those that make what it reads. */
ys_status ys_onnx_arrange(struct ys_onnx_file *file) YS_MUST_CHECK;
/** Of an If whose condition is known: chooses its branch. */
ys_status ys_onnx_choose_branch(struct ys_onnx_step *step) YS_MUST_CHECK;
/** Puts the branches that are chosen in the place of their If. */
ys_status ys_onnx_take_branches(struct ys_onnx_file *file) YS_MUST_CHECK;

/** Leaves the file the one output that is asked for, or its only one. */
ys_status ys_onnx_choose_output(struct ys_onnx_reading *r) YS_MUST_CHECK;

/* named_values.c: what names stand for, and how often it is read. */

/** Input `i` as a constant, loaded; NULL where the node has none or it is no constant. */
ys_status ys_onnx_constant_in(struct ys_onnx_step *step, size_t i, struct ys_onnx_constant **constant) YS_MUST_CHECK;
/** The same, of which there must be one: `what` it is. */
ys_status ys_onnx_need_constant(struct ys_onnx_step *step, size_t i, const char *what,
                                struct ys_onnx_constant **constant) YS_MUST_CHECK;
/** Fails unless input `i` is a live value. */
ys_status ys_onnx_need_live(struct ys_onnx_step *step, size_t i) YS_MUST_CHECK;
/** Extent of axis `axis` of `perm`, YS_BATCH for the batch; and how many there are. Where the batch is axis 0 alone
 * these are the axes that the file sees, else batch_axis.c says which is which. */
int64_t ys_onnx_extent(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, size_t axis);
size_t ys_onnx_rank(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot);
bool ys_onnx_is_plain(const struct ys_onnx_slot *slot);  /* no transposition */
bool ys_onnx_is_padded(const struct ys_onnx_slot *slot); /* zeros around it */
/** Counts what reads the slot's value by its name: after each node of the file, of what it reads and makes. */
void ys_onnx_count_reads(struct ys_onnx_reading *r, struct ys_onnx_slot *slot);
/** Whether nothing reads the slot's value but one node, by this name: other names may stand for it too, each of which
 * is itself one of the readers. */
bool ys_onnx_is_read_once(struct ys_onnx_reading *r, const struct ys_onnx_slot *slot);

/* export_losses.c */

/** What the exporter dropped or folded, with the flags that keep it, as notes. */
void ys_onnx_note_lost(struct ys_onnx_reading *r);
/** Why there is no such operator, and what to export in its place; NULL where nothing is known that helps. */
const char *ys_onnx_remedy(const char *op);

/* emit_graph.c: putting the graph together. */

/** A name that nothing of that sort has yet: `wanted`, cut and numbered where it must be. */
void ys_onnx_name(struct ys_onnx_reading *r, int sort, const char *wanted, char name[YS_GRAPH_MAX_NAME + 1]);
/** A node that reads `in`, with outputs named after those of the file's node. Its attributes and parameters come next,
 * then ys_onnx_end(). */
ys_status ys_onnx_begin(struct ys_onnx_step *step, enum ys_op op, const int *in, size_t in_count, size_t out_count,
                        int *node) YS_MUST_CHECK;
/** A node that the file has not: `suffix` is put behind the name of the file's node. */
ys_status ys_onnx_begin_extra(struct ys_onnx_step *step, enum ys_op op, int in, const char *suffix,
                              int *node) YS_MUST_CHECK;
/** Shapes; `*value` is its first output. */
ys_status ys_onnx_end(struct ys_onnx_reading *r, int node, int *value) YS_MUST_CHECK;
/** A node of one output without attributes or parameters; the step's output is its value, seen as `like` is. */
ys_status ys_onnx_emit(struct ys_onnx_step *step, enum ys_op op, const int *in, size_t in_count,
                       const struct ys_onnx_slot *like) YS_MUST_CHECK;
/** Lets the step's output be `value`, seen as `like` is, or as it lies with NULL. */
void ys_onnx_set(struct ys_onnx_step *step, int value, const struct ys_onnx_slot *like);

/** Lets the step's output be the same as a slot, with all that is put off. */
void ys_onnx_alias(struct ys_onnx_step *step, const struct ys_onnx_slot *slot);

/** A parameter of a node, made of a constant by `view`. The constant's name is the parameter's if nothing else has it.
 * A matrix that is one already, or that is another's transposed copy as the file has them, is that parameter; one that
 * is shared in two forms is refused. */
ys_status ys_onnx_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                        struct ys_onnx_constant *constant, const struct ys_onnx_view *view) YS_MUST_CHECK;
/** The same of all elements of a constant as they lie: as one axis, or in that shape. */
ys_status ys_onnx_vector(struct ys_onnx_step *step, int node, enum ys_node_param which,
                         struct ys_onnx_constant *constant) YS_MUST_CHECK;
ys_status ys_onnx_plain_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                              struct ys_onnx_constant *constant, const int64_t *shape, size_t rank) YS_MUST_CHECK;
/** The same with initial `values` (taken, freed also when it fails), which were made otherwise. */
ys_status ys_onnx_made_param(struct ys_onnx_step *step, int node, enum ys_node_param which,
                             const struct ys_onnx_constant *constant, float *values, const int64_t *shape,
                             size_t rank) YS_MUST_CHECK;
/** One all of whose elements are `value`, and stay so: it is no parameter of the file's, and never trained. */
ys_status ys_onnx_fixed(struct ys_onnx_step *step, int node, enum ys_node_param which, double value,
                        const int64_t *shape, size_t rank) YS_MUST_CHECK;
/** Makes the zeros around an image that the slot has put off. */
ys_status ys_onnx_make_padded(struct ys_onnx_step *step, struct ys_onnx_slot *slot) YS_MUST_CHECK;
/** The value with pixels normalised, zeros around it and, unless `seen`, as the name sees it. */
ys_status ys_onnx_take(struct ys_onnx_step *step, struct ys_onnx_slot *slot, bool seen, int *value) YS_MUST_CHECK;
/** The same, but that the batch, which is the first axis of the value, stays where the name has it. */
ys_status ys_onnx_take_behind(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int *value) YS_MUST_CHECK;
/** The same for who reads the elements of each row in C order only: what moves extents of 1 need not be moved. */
ys_status ys_onnx_take_flat(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int *value) YS_MUST_CHECK;

/* batch_axis.c: where the batch is among the axes that the file sees. */

/** As the file has them: how many axes, their extents, and which of them is the batch, or k times it. */
size_t ys_onnx_file_rank(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot);
struct ys_onnx_whole ys_onnx_file_extent(const struct ys_onnx_reading *r, const struct ys_onnx_slot *slot, size_t axis);
size_t ys_onnx_batch_axis(const struct ys_onnx_slot *slot);
/** The axis of `perm` that axis `axis` of the file is, or the first of them. */
size_t ys_onnx_apart(const struct ys_onnx_slot *slot, size_t axis);
/** An axis that a node names, counted from the end where it is below 0, as one of the file and of `perm`. Refused: one
 * that is not there, and the batch, alone or not. */
ys_status ys_onnx_axis(struct ys_onnx_step *step, const struct ys_onnx_slot *slot, int64_t given, size_t *axis,
                       size_t *apart) YS_MUST_CHECK;
/** What a node reads has the batch at the same place, and the node may read it there, or it is refused. *rows: what its
 * output has then; NULL: axis 0 is the batch of all that it reads. */
ys_status ys_onnx_check_rows(struct ys_onnx_step *step, const struct ys_onnx_rows **rows) YS_MUST_CHECK;
/** Of yardstick's own files: a graph's Transpose is made before what reads it, unless that is a part of an attention or
 * of a recurrent layer. */
ys_status ys_onnx_make_turned(struct ys_onnx_step *step) YS_MUST_CHECK;
/** Whether a map leaves the rows of its output as those of what it reads; else it says them itself. */
bool ys_onnx_makes_rows(const char *op);

/* match_inputs.c: what of the data feeds which input. */

/** The array of the data that feeds each of the file's inputs, as the job or the file says it: `names`, borrowed or
 * kept with the file. One input is called "x" without a word of the job. YS_EINVAL: the job names what is not there. */
ys_status ys_onnx_feed(struct ys_onnx_reading *r, const struct ys_onnx_value_in *const *inputs, size_t count,
                       const char **names) YS_MUST_CHECK;
/** Whether an image input is (N, height, width, channels), and its channels, height and width, as far as the job, the
 * data and the file say them. */
ys_status ys_onnx_find_image(const struct ys_onnx_reading *r, const struct ys_onnx_value_in *input, int64_t image[3],
                             bool *channels_last) YS_MUST_CHECK;

/* channel_axes.c: values of any rank as images (N, channels, 1, rest). */

struct ys_onnx_image {
    int value;
    bool as_it_is;    /* the value is an image already */
    int64_t channels; /* product of the axes in front */
    size_t rank;
    int order[YS_MAX_RANK];     /* axis i of the value behind the move is axis order[i] of the one before it */
    int seen[YS_MAX_RANK];      /* `perm` of the slot that was taken */
    int64_t shape[YS_MAX_RANK]; /* behind the move; a caller that changes an extent says so here */
};

/** Takes a slot as an image whose channels are the axes `front` of its value, none of them the batch. */
ys_status ys_onnx_image(struct ys_onnx_step *step, struct ys_onnx_slot *slot, const size_t *front, size_t front_count,
                        struct ys_onnx_image *image) YS_MUST_CHECK;
/** The node that reads it: the step's own where the value is an image, else with a suffix. */
ys_status ys_onnx_begin_image(struct ys_onnx_step *step, enum ys_op op, const struct ys_onnx_image *image,
                              const char *suffix, int *node) YS_MUST_CHECK;
/** Ends that node; the step's output is its result with the axes that the file sees. */
ys_status ys_onnx_end_image(struct ys_onnx_step *step, const struct ys_onnx_image *image, int node) YS_MUST_CHECK;
/** A Reshape that the file has not; `*value` is what it reads, then what it makes. */
ys_status ys_onnx_reshape_extra(struct ys_onnx_step *step, const char *suffix, const int64_t *shape, size_t rank,
                                int *value) YS_MUST_CHECK;

/* op_readers.c */

/** Whether all elements of a constant are that number and no initializer holds it: a file has what is trained as those.
 */
bool ys_onnx_is_made(const struct ys_onnx_step *step, struct ys_onnx_constant *c, double value);

/* slice.c: pieces of values. */

#define YS_ONNX_MAX_PIECES 64
/** A value in pieces of `extents` along `axis`, which are all of it, in several nodes where one cannot make as many.
 * `names`: what the values are called, `made`: which they are. */
ys_status ys_onnx_split_into(struct ys_onnx_step *step, int value, int axis, const int64_t *extents,
                             const char *const *names, size_t count, int *made) YS_MUST_CHECK;

/** Makes a piece that waits for others: a Split of which nothing else is read. */
ys_status ys_onnx_piece_alone(struct ys_onnx_reading *r, struct ys_onnx_slot *slot) YS_MUST_CHECK;

/* A constant beside a value. */
struct ys_onnx_operand {
    struct ys_onnx_constant *constant;
    const size_t *front; /* axes of the value that those axes of the constant go along whose extent is not 1 */
    size_t front_count;
};
/** Add, Sub, Mul or Div of the slot and a parameter. */
ys_status ys_onnx_operand(struct ys_onnx_step *step, struct ys_onnx_slot *slot, enum ys_op op,
                          const struct ys_onnx_operand *operand) YS_MUST_CHECK;

/* y = factor * x + shift, of numbers that are not trained. */
struct ys_onnx_affine {
    double factor, shift;
};
ys_status ys_onnx_affine(struct ys_onnx_step *step, struct ys_onnx_slot *slot,
                         const struct ys_onnx_affine *affine) YS_MUST_CHECK;

/* read_attention.c, padding_tokens.c, lstm_gru.c: tokens, attention, recurrent layers. */

/** The product of two values: queries times keys, or shares times values. */
ys_onnx_map ys_onnx_product;
/** A mask that is added to scores, or one of truths: the scores stay where they hold, or with `where` do not. Only a
 * causal one is read. */
ys_status ys_onnx_mask_scores(struct ys_onnx_step *step, struct ys_onnx_slot *scores, struct ys_onnx_constant *mask,
                              bool where) YS_MUST_CHECK;
/** `count` axes of the extent 1 more between the first and the last of COUNTS or BLANKS. */
void ys_onnx_spread_counts(struct ys_onnx_step *step, size_t count);
/** A softmax of scores, along an axis as the file counts. */
ys_status ys_onnx_share_scores(struct ys_onnx_step *step, int64_t axis) YS_MUST_CHECK;
/** One place of an axis of a value, which is left without it. */
ys_status ys_onnx_pick(struct ys_onnx_step *step, struct ys_onnx_slot *slot, int64_t given, int64_t at) YS_MUST_CHECK;
/** A constant that is the same in every row, as a value beside `slot` along that axis of the value. */
ys_status ys_onnx_of_rows(struct ys_onnx_step *step, struct ys_onnx_constant *constant, struct ys_onnx_slot *beside,
                          size_t along, struct ys_onnx_slot *made) YS_MUST_CHECK;
/** The value has the name that the step's node gives it: of yardstick's own files. */
void ys_onnx_rename(struct ys_onnx_step *step, int value);
/** Leaves out what moves axes and gives shapes and is read by nothing, because who read it looked behind it. */
void ys_onnx_prune(struct ys_onnx_reading *r);
ys_onnx_map ys_onnx_embed, ys_onnx_rotary, ys_onnx_attention, ys_onnx_count_tokens, ys_onnx_recurrent, ys_onnx_where;
/** Tokens that are the padding, and those that are not. */
ys_onnx_map ys_onnx_equal, ys_onnx_not;
/** The last position of a row whose token is not the padding: which it is, and what stands there. */
ys_onnx_map ys_onnx_last_place, ys_onnx_pick_last;
/** LENGTHS of ONES. */
ys_onnx_map ys_onnx_measure_rows;
/** Refuses what would read zeros behind the last token of a row where the value has states, and lengths that are no
 * layer's. */
ys_status ys_onnx_check_ended(struct ys_onnx_step *step) YS_MUST_CHECK;

/* rotary_positions.c: tables of cosines and sines. */

/* For each position and number, as one sees them who adds x times the former and the other numbers of the pairs times
 * the latter. */
struct ys_onnx_waves {
    struct ys_onnx_constant *cosines, *sines, *others; /* the last one NULL: both halves are exchanged, signs and all */
    int64_t positions, width;                          /* of a position: of all heads with `others`, else of one */
};
/** The heads' width, order of pairs and base that make loaded tables; false where none do. */
bool ys_onnx_find_waves(const struct ys_onnx_waves *waves, struct ys_onnx_joined *joined);
/** What the inputs and attributes of ONNX's RotaryEmbedding make of heads of that width: `turn->width` numbers of each,
 * the first ones. Refused by name: positions other than 0, 1, ... in each row, tables that no base makes. */
ys_status ys_onnx_read_turn(struct ys_onnx_step *step, int64_t positions, int64_t head,
                            struct ys_onnx_joined *turn) YS_MUST_CHECK;

/* composed_activations.c: operators that files spell in several nodes. */

/** Makes what a slot has put off. */
ys_status ys_onnx_settle(struct ys_onnx_step *step, struct ys_onnx_slot *slot) YS_MUST_CHECK;
/** Makes the products of two values that the node reads, and their softmax, unless with it they may be an attention. */
ys_status ys_onnx_settle_scores(struct ys_onnx_step *step) YS_MUST_CHECK;
/** Joins what is spelled in several nodes and known by them alone; before anything of them is looked at
 * (composed_operators.c). */
void ys_onnx_join_spelled(struct ys_onnx_reading *r);
/** Puts off a factor of one number, where a Mul or Erf may need it; *done says whether. */
ys_status ys_onnx_put_off(struct ys_onnx_step *step, struct ys_onnx_slot *slot, double factor,
                          bool *done) YS_MUST_CHECK;
/** The product of two values as Swish, HardSwish or Gelu, where it is one; *done says whether. */
ys_status ys_onnx_join(struct ys_onnx_step *step, struct ys_onnx_slot *a, struct ys_onnx_slot *b,
                       bool *done) YS_MUST_CHECK;

/* op_readers.c, conv_pool.c, affine.c, concat_split.c, channel_axes.c, composed_activations.c: what becomes of a node
 * that reads live values. NULL: nothing, it is refused. */
ys_onnx_map *ys_onnx_find_map(const char *op);
/** Whether it reads values whose axis 0 is not the batch alone, because it does the same to each row wherever they are.
 */
bool ys_onnx_reads_rows(const char *op);
ys_onnx_map ys_onnx_conv, ys_onnx_conv_transpose, ys_onnx_pool, ys_onnx_pad, ys_onnx_lrn;
ys_onnx_map ys_onnx_sigmoid, ys_onnx_hardsigmoid, ys_onnx_erf, ys_onnx_gelu, ys_onnx_pow, ys_onnx_reciprocal;
ys_onnx_map ys_onnx_prelu, ys_onnx_negate;
ys_onnx_map ys_onnx_add, ys_onnx_sub, ys_onnx_mul, ys_onnx_div;
ys_onnx_map ys_onnx_rmsnorm;
ys_onnx_map ys_onnx_slice, ys_onnx_split_sequence, ys_onnx_sequence_at;
ys_onnx_map ys_onnx_instance_norm;
ys_onnx_map ys_onnx_gather, ys_onnx_reshape, ys_onnx_flatten, ys_onnx_squeeze, ys_onnx_unsqueeze, ys_onnx_transpose,
    ys_onnx_concat, ys_onnx_split, ys_onnx_mean, ys_onnx_sum, ys_onnx_length, ys_onnx_max, ys_onnx_blocks,
    ys_onnx_expand, ys_onnx_shape;

#endif
