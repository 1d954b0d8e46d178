/* Models: the named ones, built for a data set's shape and classes, and graphs in files. */
#ifndef YS_GRAPH_MODEL_H
#define YS_GRAPH_MODEL_H

#include "base/buf.h"
#include "base/hash.h"
#include "graph/graph.h"

/* What of a model can be chosen: keys "model.width" and so on of a job. Each model says which it has. */
enum ys_model_size { YS_MODEL_WIDTH, YS_MODEL_DEPTH, YS_MODEL_LAYERS, YS_MODEL_HEADS, YS_MODEL_SIZE_COUNT };
const char *ys_model_size_name(enum ys_model_size size); /* "width" */

#define YS_MODEL_MAX_ALLOWED 6

struct ys_model_key {
    const char *meaning;                  /* one phrase; NULL: the model has not this key */
    double standard;                      /* as it was published */
    double low, high;                     /* what it may be: from low to high, */
    double step;                          /* in steps from low; 0: any number */
    double allowed[YS_MODEL_MAX_ALLOWED]; /* or one of these, ended by a 0 */
};

/** What a network of images, or of tokens, is built for. */
struct ys_model_input {
    int64_t shape[3];                  /* channels, height, width; of tokens their number, 0, 0 */
    enum ys_dtype dtype;               /* of the pixels as stored: YS_U8 or YS_F32; of tokens YS_I32 */
    double scale;                      /* pixel * scale is in [0, 1] */
    int64_t classes;                   /* of networks that say the next token: the vocabulary */
    int64_t vocabulary;                /* of tokens, of which others tell classes; 0 of images */
    double sizes[YS_MODEL_SIZE_COUNT]; /* 0: as the model was published */
};

struct ys_model {
    const char *name, *title;
    struct ys_model_input usual; /* the input it is known by; `list models` counts with it */
    /** `input` says nothing to a network with rows of its own, unless they are tokens. */
    ys_status (*build)(const struct ys_model_input *input, struct ys_graph **graph);
    /* Where `build` is NULL: the file of the graph for the usual input, NAME.json. Beside it may lie others of the same
     * model for other rows, NAME.CHANNELSxHEIGHTxWIDTH.json. */
    const char *path;
    /* NULL: images; else the form of rows that it takes, unit included, or of tokens the usual one */
    const struct ys_rows *rows;
    const struct ys_model_key *keys; /* [YS_MODEL_SIZE_COUNT], by enum ys_model_size; NULL: none */
};

/** The size that the input asks for, or else the published one; of a model that has that key. */
double ys_model_size(const struct ys_model_key *keys, const struct ys_model_input *input, enum ys_model_size size);
/** YS_EINVAL: the input asks for a size that the model has not, or that it cannot have. */
ys_status ys_model_check_sizes(const struct ys_model *model, const struct ys_model_input *input) YS_MUST_CHECK;
/** "0.1 to 4", "8, 14, 20 ... 1202", "18 or 34": what the key may be. Appended. */
void ys_model_key_range(const struct ys_model_key *key, struct ys_buf *out);

/** The rows that the model is known by. */
struct ys_rows ys_model_rows(const struct ys_model *model);

/** The models that are built here, ended by a NULL name. */
const struct ys_model *ys_models(void);
/** Further ones to list: what `list` of ys_models_also() gave, or none. */
const struct ys_model *ys_models_more(void);
/** Of both lists, and of what ys_model_find_also() added; NULL when there is none of that name. */
const struct ys_model *ys_model_find(const char *name);
/** Other models lie on higher floors. `list`, asked when it is first needed, gives some that are listed beside
 * ys_models() (framework/recipe_models.h); `find`, which may answer NULL, knows others that are not
 * (verify/operators/check_models.h). One of each; before there are threads. */
void ys_models_also(const struct ys_model *(*list)(void));
void ys_model_find_also(const struct ys_model *(*find)(const char *name));
/** The model's graph for such an input. YS_EINVAL: it cannot be built for it, or there is no file for it. */
ys_status ys_model_build(const struct ys_model *model, const struct ys_model_input *input,
                         struct ys_graph **graph) YS_MUST_CHECK;

/* Which axes an image input of an ONNX file has; the data are always NCHW. */
enum ys_layout { YS_LAYOUT_AUTO, YS_LAYOUT_NCHW, YS_LAYOUT_NHWC }; /* AUTO: as the reader finds (docs/onnx.md) */

/** How the inputs of an ONNX file are fed. Zeroed: as the file says it. */
struct ys_model_feed {
    int64_t shape[3];    /* channels, height, width of the data's images; 0: not known */
    enum ys_dtype dtype; /* YS_U8 or YS_F32, of the data as they are stored; where `scale` is not 0 */
    double scale;        /* pixel * scale is in [0, 1]; 0: it and `dtype` are what the file says */
    bool is_strict;      /* a file that the shape does not fit is refused; else it is read as if none were known */
    const char *inputs;  /* "ARRAY=INPUT ...": the array of the data that feeds an input; NULL: that of its name */
    const char *output;  /* a name, perhaps with * and ?, of the output that is read; NULL: the file has one */
    enum ys_layout layout;
};

/** What somebody named as a model: one that ys_model_find() knows, or the file of a graph. */
struct ys_model_choice {
    const struct ys_model *named; /* NULL: a file */
    struct ys_rows rows; /* that it is known by, of a file the only ones; they count as images where they are some */
    struct ys_model_input usual; /* of images: the same; the scale of a file stands in the graph and is 0 here */
    char hash[YS_SHA256_TEXT];   /* of the file's bytes; "" without one */
    char *path;                  /* of the file */
    ys_json *json;               /* what it held */
};

/** Whether `text` means a file: with a '/' in it, or ending in ".json" or, once it can be read, ".onnx". */
bool ys_model_is_file(const char *text);
/** What makes the JSON form of a graph of an ONNX file, and a SHA-256 of all that was read (onnx/read/onnx_read.h);
 * with `graph` NULL it looks only whether it is such a file. */
typedef ys_status ys_model_reader(const char *path, const struct ys_model_feed *feed, ys_json **graph, char hash[65]);
/** Lets ys_model_choose() take ONNX files too, by a reader on a higher floor. Before there are threads. */
void ys_model_read_onnx(ys_model_reader *read);
bool ys_model_is_onnx(const char *text);
/** YS_EINVAL: no such model; a file that is not there, is not regular, is larger than 16 MiB or holds no
 * graph. `choice` is empty on failure. */
ys_status ys_model_choose(const char *text, struct ys_model_choice *choice) YS_MUST_CHECK;
/** The same of a model whose inputs are fed like this; NULL: as the file says. YS_EINVAL too: `feed` has inputs or a
 * layout, and the model is no ONNX file. */
ys_status ys_model_choose_fed(const char *text, const struct ys_model_feed *feed,
                              struct ys_model_choice *choice) YS_MUST_CHECK;
/** Whether there is such a model, or a file that can be one; what an ONNX file holds is not looked at. */
ys_status ys_model_check(const char *text) YS_MUST_CHECK;
/** As ys_model_build(); a file must be of just this input. */
ys_status ys_model_choice_build(const struct ys_model_choice *choice, const struct ys_model_input *input,
                                struct ys_graph **graph) YS_MUST_CHECK;
void ys_model_choice_fini(struct ys_model_choice *choice);

/** The initial values of one parameter, from a stream of its own (seed, its name). */
void ys_param_draw(const struct ys_param *param, uint64_t seed, float *values);
/** Draws every parameter's initial values as float32, each from its own stream (seed, parameter name), and writes them
 * as safetensors in graph order. `hash` receives the SHA-256 of the values alone, in graph order. */
ys_status ys_graph_write_weights(const struct ys_graph *graph, uint64_t seed, const char *path,
                                 char hash[65]) YS_MUST_CHECK;

#endif
