#include "job/option.h"

#include "base/json/shared_words.h"
#include "base/nearest_name.h"
#include "yardstick/protocol.h"

#include <string.h>

#define MONTH_S (31.0 * 24 * 3600)
#define LARGEST_INTEGER                                                                                                \
    9007199254740991.0 /* 2^53 - 1: exact in a double and in JSON readers that have only doubles                       \
                        */

/* clang-format off */
static const struct ys_option options[] = {
    {"version", YS_OPTION_STUDY, YS_OPTION_INT, .low = 1, .high = 1, .file_only = true,
     .help = "version of the language: the first line of every study; must be 1"},
    {"include", YS_OPTION_STUDY, YS_OPTION_PATH, .file_only = true,
     .help = "file whose lines stand here; relative to the folder of the file that includes it"},
    {"name", YS_OPTION_STUDY, YS_OPTION_NAME,
     .help = "name of the study in the results; default: the file's name without its ending, or run"},
    {"repeat", YS_OPTION_STUDY, YS_OPTION_INT, .low = 1, .high = 10000, .standard = "7", .none = "decide",
     .help = "rounds: how often each trial runs; intervals at 95 % need at least 6. decide, which is the default of a study "
             "by flags alone: until each comparison of what decide names is better, worse or same, which is looked at after "
             "7, 12 and 20 rounds and at no other time"},
    {"repeat_most", YS_OPTION_STUDY, YS_OPTION_INT, .low = 6, .high = 10000, .none = "auto",
     .help = "rounds at most where repeat = decide; auto: 20, or as many as max_runs allows"},
    {"decide", YS_OPTION_STUDY, YS_OPTION_WORD,
     .choices = "auto|rate_per_s|step_s|latency_p50_s|latency_p99_s|accuracy|bits_per_token|robust_accuracy|perturbation_p50|corrupted_accuracy|wall_s|start_s|cpu_s|rss_peak_bytes",
     .standard = "auto",
     .help = "metric whose comparisons end a study with repeat = decide; auto: rate_per_s, of trials that infer "
             "latency_p50_s"},
    {"order", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "random|fixed", .standard = "random",
     .help = "order of the trials inside a round: shuffled, with every second round backwards, or as written"},
    {"interleave", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "auto|runs|blocks", .standard = "auto",
     .help = "how the trials of a round share the machine: runs, one after the other; blocks, those that train for as many "
             "steps live together and take turns of a moment; auto: blocks where all trials can, else runs, and it says why"},
    {"turn", YS_OPTION_STUDY, YS_OPTION_DURATION, .low = 0, .above_low = true, .high = 60, .unit = "s", .none = "auto",
     .help = "of interleave = blocks, about how long a turn of the slowest is, in whole blocks; auto: a tenth of a second"},
    {"seed", YS_OPTION_STUDY, YS_OPTION_INT, .low = 0, .high = LARGEST_INTEGER, .standard = "1",
     .help = "of weights, batch order and the order of trials; round r of every trial uses seed + r"},
    {"time_limit", YS_OPTION_STUDY, YS_OPTION_DURATION, .low = 0, .above_low = true, .high = MONTH_S, .unit = "s",
     .none = "none",
     .help = "the whole study ends after this time, keeping what was measured"},
    {"cooldown", YS_OPTION_STUDY, YS_OPTION_DURATION, .low = 0, .high = 3600, .unit = "s", .standard = "0s",
     .help = "pause before each run"},
    {"audit", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "one|all|off", .standard = "one",
     .help = "trials that train run once more, up to a block that the built-in engine goes through again: after the last "
             "round with the work of one round, or of all; of trials that infer answers of each run are computed again"},
    {"anchor", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "auto|on|off", .standard = "auto",
     .help = "the machine's own speed, a quarter of a second by three fixed kernels, by which studies are compared later: "
             "before the first round, between rounds and at the end while that is below 2 % of the study's time; on: at start "
             "and end in any case"},
    {"results", YS_OPTION_STUDY, YS_OPTION_PATH, .standard = "yardstick-results",
     .help = "folder of the results, relative to the folder in which yardstick is started"},
    {"margin", YS_OPTION_STUDY, YS_OPTION_SHARE, .low = 0, .high = 1, .standard = "2%",
     .help = "difference too small to matter: below it two trials count as the same"},
    {"on_disturbance", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "mark|repeat|ignore", .standard = "repeat",
     .help = "runs during which the machine did much else: what that took bounds the verdict, and where nobody knows how "
             "much the round is left out, and (repeat) run again behind all others, up to half as many; or it is not "
             "looked at"},
    {"comparisons", YS_OPTION_STUDY, YS_OPTION_WORD, .choices = "axes|all", .standard = "axes",
     .help = "which trials that differ in one factor are compared: each with the first along that axis, or all pairs"},
    {"max_runs", YS_OPTION_STUDY, YS_OPTION_INT, .low = 1, .high = 100000, .standard = "1000",
     .help = "refuse studies of more runs (trials times repeat) than this"},

    {"mode", YS_OPTION_WORK, YS_OPTION_WORD, .choices = "train|infer|attack|size",
     .also = "training=train|inference=infer", .standard = "train",
     .help = "what is measured: training; answering requests with the untrained network; or, with compare = same-weights "
             "alone, giving the gradients that attacks ask for, or what a stored model takes on disk and whether it "
             "loads again"},
    {"framework", YS_OPTION_WORK, YS_OPTION_FRAMEWORK, .axis = true, .standard = "builtin",
     .help = "who does the work: a recipe's name, with @VERSION for another than its newest"},
    {"device", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "cpu", .standard = "cpu",
     .help = "where the work is done"},
    {"model", YS_OPTION_WORK, YS_OPTION_MODEL, .axis = true, .required = true,
     .help = "network: a name of `yardstick list models`, or the file of a graph or an ONNX file, relative to the folder of the study"},
    {"data", YS_OPTION_WORK, YS_OPTION_DATA, .axis = true, .required = true,
     .help = "data set: a name of `yardstick list datasets`, or a folder of images or a list of them, relative to the folder of the study; `synthetic` without it where all models are ONNX files"},
    {"input", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "file|ring|own", .standard = "file",
     .help = "how batches reach the framework: from one prepared file that all of them map, or by a ring in shared memory that yardstick-feeder, a process of its own, fills while the framework works; own: from the file by the framework's own loader of batches, a deviation"},
    {"input.threads", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 4096, .unit = "1", .standard = "1",
     .help = "threads that fill the ring of input = ring; of input = own, processes or threads of the framework's loader"},
    {"input.decode", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "once|live|reduced", .standard = "once",
     .help = "images of a folder: decoded once, into a prepared file; or by the feeder each time that they are wanted; reduced: likewise, large JPEG at a half, a quarter or an eighth of its size"},
    {"input.size", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 16384, .unit = "pixels", .none = "auto",
     .help = "side of the images that data are prepared in whose form follows the model; auto: the model's usual one"},
    {"input.width", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 16384, .unit = "pixels", .none = "auto",
     .help = "columns of those images, where they are no squares; auto: as many as input.size says, or the model's usual ones"},
    {"input.crop", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 16384, .unit = "pixels", .none = "none",
     .help = "side of the square that is cut out of each image, by lot where augment says so, else in its middle; needs input = ring"},
    {"input.dtype", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "uint8|float32", .standard = "uint8",
     .help = "pixels as the framework gets them: bytes, or numbers of 0 to 255, which needs input = ring"},
    {"augment", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "none|flip|crop+flip|place|area|area+colour|cifar",
     .standard = "none",
     .help = "how images are changed by lot before each step, the same for every framework; needs input = ring"},
    {"batch", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 1048576, .unit = "rows", .standard = "64",
     .help = "rows of a batch, of each rank where there are several"},
    {"global_batch", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 1048576,
     .unit = "rows",
     .help = "rows of a batch of all ranks together, of which each takes an equal share; takes the place of an inherited "
             "batch"},
    {"ranks", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 64, .standard = "1",
     .help = "processes that train together, each with its share of every batch and of the CPUs; with nodes, a multiple of "
             "it, and as many as there are without a word"},
    {"nodes", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 64, .standard = "1",
     .help = "hosts that the ranks are on, as many on each, where an agent starts and watches them"},
    {"ranks_per_node", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 64,
     .unit = "ranks",
     .help = "of each host: ranks = nodes times ranks_per_node, in place of ranks or beside it, where both say the same"},
    {"launch", YS_OPTION_WORK, YS_OPTION_WORD, .mode = "train", .axis = true, .choices = "local|ssh|mpi|slurm",
     .standard = "local",
     .help = "how the agents of several nodes are started: local, all of them on this host, which is then each of the nodes; "
             "ssh, on the hosts of that key; mpi and slurm, by mpirun and srun on those of the allocation. But for local, "
             "threads and cpus are of each host"},
    {"hosts", YS_OPTION_WORK, YS_OPTION_HOSTS, .mode = "train", .none = "none",
     .help = "of launch = ssh, a host a node, each with the address at which the others reach it behind its name where that "
             "is not the one that ssh has; FILE has a host a line"},
    {"strategy", YS_OPTION_WORK, YS_OPTION_WORD, .mode = "train", .axis = true, .choices = "data|sharded|alone",
     .standard = "data",
     .help = "what several ranks divide: data, of which each has its rows, while all hold the whole network; sharded: the "
             "network too, of which each keeps a part; alone: data, and they exchange nothing, which is not proven"},
    {"bn", YS_OPTION_WORK, YS_OPTION_WORD, .mode = "train", .axis = true, .choices = "local|sync", .standard = "local",
     .help = "batch normalisation of several ranks: local, each by the rows of its own share, or sync, by those of all"},
    {"bucket", YS_OPTION_WORK, YS_OPTION_SIZE, .mode = "train", .axis = true, .low = 1, .high = 1099511627776.0,
     .unit = "bytes", .none = "auto",
     .help = "gradients of several ranks that are exchanged together, while the backward pass goes on: at least so many "
             "bytes; auto: as the framework has it"},
    {"block", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = YS_PROTOCOL_BLOCK_LIMIT, .unit = "steps",
     .standard = "10",
     .help = "steps between two synchronisations: the unit of timing; 1 gives single step times"},
    {"epochs", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 1000000, .standard = "1",
     .help = "length of training in passes over the data; takes the place of an inherited steps or requests"},
    {"steps", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 0, .high = 100000000,
     .unit = "steps",
     .help = "length of training in steps, 0 only with compare = same-weights; takes the place of an inherited epochs or "
             "requests"},
    {"requests", YS_OPTION_WORK, YS_OPTION_INT, .mode = "infer", .axis = true, .low = 1, .high = 100000000,
     .unit = "requests", .standard = "1000",
     .help = "requests to answer, each of one batch; takes the place of an inherited epochs or steps"},
    {"prompt", YS_OPTION_WORK, YS_OPTION_INT, .mode = "infer", .axis = true, .low = 1, .high = 1048576,
     .unit = "positions", .none = "none",
     .help = "of each row, positions that are answered together, as a prompt is; those behind them follow one by one, with a "
             "cache of keys and values; none: rows are answered whole"},
    {"optimizer", YS_OPTION_WORK, YS_OPTION_OPTIMIZER, .mode = "train", .axis = true,
     .standard = "sgd",
     .help = "rule by which weights are changed; nesterov is sgd with Nesterov's momentum"},
    {"lr", YS_OPTION_WORK, YS_OPTION_REAL, .mode = "train", .axis = true, .low = 0, .above_low = true, .high = 1000,
     .standard = "0.01",
     .help = "learning rate, which the schedule changes"},
    {"momentum", YS_OPTION_WORK, YS_OPTION_REAL, .mode = "train", .axis = true, .low = 0, .high = 0.9999,
     .standard = "0",
     .help = "share of the last change that is kept, of sgd, nesterov and rmsprop; the learning rate stands outside of "
             "it"},
    {"weight_decay", YS_OPTION_WORK, YS_OPTION_REAL, .mode = "train", .axis = true, .low = 0, .high = 1000,
     .standard = "0",
     .help = "added to each gradient times the weight (coupled, as in L2 regularisation); adamw takes it from the "
             "weights instead"},
    {"schedule", YS_OPTION_WORK, YS_OPTION_SCHEDULE, .mode = "train", .axis = true, .standard = "constant",
     .help = "how the learning rate changes from step to step"},
    {"clip_norm", YS_OPTION_WORK, YS_OPTION_REAL, .mode = "train", .axis = true, .low = 0, .above_low = true,
     .high = 1e9, .none = "none",
     .help = "largest norm of the gradient, all parameters together: a longer one is scaled down to it"},
    {"carry_state", YS_OPTION_WORK, YS_OPTION_WORD, .mode = "train", .axis = true, .choices = "off|on", .standard = "off",
     .help = "LSTM and GRU: whether each row of a batch goes on from the state that the batch before left it in (truncated "
             "back-propagation); needs data whose rows follow one another, such as text"},
    {"loss", YS_OPTION_WORK, YS_OPTION_LOSS, .axis = true, .standard = "auto",
     .help = "what is made small, as the mean over the batch; auto: the model's own; SMOOTHING of the labels; mse is "
             "mean_squared_error"},
    {"precision", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "f32|f64|bf16|int8",
     .also = "fp32=f32|float32=f32|float=f32|fp64=f64|float64=f64|double=f64|bfloat16=bf16|i8=int8",
     .standard = "f32",
     .help = "format of the numbers computed with; bf16 keeps weights, optimizer and loss in f32; int8, of compare = "
             "same-weights alone, quantises them as the keys quant say"},
    {"quant", YS_OPTION_WORK, YS_OPTION_WORD, .compare = "same-weights", .axis = true, .choices = "static|dynamic|weights",
     .standard = "static",
     .help = "of precision = int8: static, activations have scales that are calibrated; dynamic, each product scales what it "
             "reads; weights, these alone are stored as integers and computed with in f32"},
    {"quant.by", YS_OPTION_WORK, YS_OPTION_WORD, .compare = "same-weights", .choices = "yardstick|own",
     .standard = "yardstick",
     .help = "who chooses scales: yardstick, the same for every framework; own, each framework's own quantiser: different "
             "work, compared by accuracy alone"},
    {"quant.scheme", YS_OPTION_WORK, YS_OPTION_WORD, .compare = "same-weights", .axis = true,
     .choices = "per-channel|per-tensor", .standard = "per-channel",
     .help = "scales of a weight: one for each channel of its result, or one"},
    {"quant.calibration", YS_OPTION_WORK, YS_OPTION_CALIBRATION, .compare = "same-weights", .axis = true,
     .standard = "minmax",
     .help = "of quant = static: range of an activation, by the values that the calibration rows give it: all of them, P "
             "percent, or so that the squared error is least"},
    {"quant.rows", YS_OPTION_WORK, YS_OPTION_INT, .compare = "same-weights", .axis = true, .low = 1, .high = 1048576,
     .unit = "rows", .standard = "512",
     .help = "of quant = static: training rows, drawn with the seed, by which it is calibrated, or all where there are fewer"},
    {"quant.range", YS_OPTION_WORK, YS_OPTION_WORD, .compare = "same-weights", .axis = true, .choices = "full|reduced",
     .standard = "full",
     .help = "integers of weights: -127 to 127, or -63 to 63, whose products no processor saturates"},
    {"eval_every", YS_OPTION_WORK, YS_OPTION_INT, .mode = "train", .axis = true, .low = 1, .high = 100000000, .unit = "steps",
     .none = "none",
     .help = "save the weights every so many steps, so that accuracy is known over time; the end is always evaluated"},
    {"until", YS_OPTION_WORK, YS_OPTION_GOAL, .mode = "train", .axis = true, .none = "none",
     .help = "end where the weights of a checkpoint (eval_every, which it needs) are worth so much on the test rows; steps or "
             "epochs are then the limit, over which a schedule is laid, and a run that gets there without is not_converged"},
    {"tune.rows", YS_OPTION_WORK, YS_OPTION_SHARE, .mode = "train", .axis = true, .low = 0, .above_low = true, .high = 0.5,
     .none = "none",
     .help = "share of the training rows, drawn with the seed, that is kept from training and evaluated in the place of the "
             "test rows: those stay unseen while settings are chosen"},
    {"attack", YS_OPTION_WORK, YS_OPTION_ATTACK, .none = "none",
     .help = "what trained weights have to withstand: where an EPS stands no pixel changes by more than it, of [0, 1] before the "
             "network's own normalize; deepfool, cw and ddn look for the smallest change (L2), jsma for the fewest pixels; corruptions are noise, blur, "
             "weather and the like, by no adversary"},
    {"attack.rows", YS_OPTION_WORK, YS_OPTION_INT, .low = 1, .high = 2147483648.0, .unit = "rows", .standard = "1000",
     .help = "test rows that are attacked: the first so many, or all where there are fewer"},
    {"attack.restarts", YS_OPTION_WORK, YS_OPTION_INT, .low = 1, .high = 1000, .unit = "1", .standard = "1",
     .help = "how often pgd begins anew, at another point of its own by lot; the worst counts"},
    {"attack.curve", YS_OPTION_WORK, YS_OPTION_CURVE, .none = "none",
     .help = "changes at which pgd tells what accuracy is left"},
    {"attack.twins", YS_OPTION_WORK, YS_OPTION_INT, .low = 0, .high = 100, .unit = "1", .standard = "0",
     .help = "trainings of the built-in engine in the first round, each from initial weights that are moved by rounding alone, "
             "which are attacked too: a difference within their range may be rounding"},
    {"attack.transfer", YS_OPTION_WORK, YS_OPTION_WORD, .choices = "off|on", .standard = "off",
     .help = "show what was made on each trial's weights to those of every other trial of its section, round by round"},
    {"compare", YS_OPTION_WORK, YS_OPTION_WORD, .choices = "controlled|same-weights|own", .standard = "controlled",
     .help = "what trials have in common: everything but the factors; or the weights, with which they predict; or the data "
             "alone, each framework with its own defaults"},
    {"rows", YS_OPTION_WORK, YS_OPTION_INT, .compare = "same-weights", .axis = true, .low = 1, .high = 2147483648.0,
     .unit = "rows", .none = "all",
     .help = "test rows that compare = same-weights predicts: the first so many, or all where there are fewer"},
    {"form", YS_OPTION_WORK, YS_OPTION_NAME, .axis = true, .standard = "own",
     .help = "of mode = size: the form in which a framework stores the model, of those that `forms` of its recipe lists; "
             "own: its first; all: each of them"},
    {"taught.batch", YS_OPTION_WORK, YS_OPTION_INT, .compare = "same-weights", .axis = true, .low = 1, .high = 1048576,
     .unit = "rows", .standard = "64",
     .help = "rows of a batch with which the weights of compare = same-weights are trained, whatever batch is"},
    {"own_of", YS_OPTION_WORK, YS_OPTION_NAME, .compare = "own", .axis = true,
     .help = "framework whose defaults compare = own takes; default: the trial's own"},
    {"own_data", YS_OPTION_WORK, YS_OPTION_DATA, .compare = "own", .axis = true,
     .help = "data set that the defaults of compare = own are for; default: the trial's own"},
    {"model.freeze", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "names with * and ?, apart by spaces",
     .help = "parameters that keep their initial values"},
    {"model.train", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "names with * and ?, apart by spaces",
     .help = "parameters that are trained although the model or model.freeze says otherwise"},
    {"model.tie", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "names with * and ?, apart by spaces",
     .help = "parameters of one shape that become one"},
    {"model.untie", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "names with * and ?, apart by spaces",
     .help = "shared parameters of which each node gets its own"},
    {"model.mean", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "a number, or several apart by spaces",
     .help = "mean of the pixels, scaled as the model scales them, that it subtracts: one number, or one for each channel"},
    {"model.std", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "a number, or several apart by spaces",
     .help = "deviation of these pixels, by which the model divides them: one number, or one for each channel"},
    {"model.input", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "ARRAY=INPUT ARRAY=INPUT",
     .help = "which array of the data feeds which input of an ONNX file; INPUT may have * and ?"},
    {"model.output", YS_OPTION_WORK, YS_OPTION_PATH, .axis = true, .none = "none",
     .says = "a name, perhaps with * and ?",
     .help = "which output of an ONNX file with several has the logits"},
    {"model.layout", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "auto|nchw|nhwc", .standard = "auto",
     .help = "axes of the images that an ONNX file reads; auto: as it says, or as the data fit"},
    {"model.width", YS_OPTION_WORK, YS_OPTION_REAL, .axis = true, .low = 0, .above_low = true, .high = 65536, .unit = "1",
     .none = "auto", .help = "width of a named model, where it has one: `list models NAME` says what it may be"},
    {"model.depth", YS_OPTION_WORK, YS_OPTION_REAL, .axis = true, .low = 0, .above_low = true, .high = 10000, .unit = "1",
     .none = "auto", .help = "depth of a named model, where it has one: `list models NAME` says what it may be"},
    {"model.layers", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 1000, .unit = "1", .none = "auto",
     .help = "blocks of a named model of sequences: `list models NAME` says what it may be"},
    {"model.heads", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 1, .high = 1024, .unit = "1", .none = "auto",
     .help = "heads of a named model of sequences, which divide its width"},
    {"model.classes", YS_OPTION_WORK, YS_OPTION_INT, .axis = true, .low = 2, .high = 65536, .unit = "1", .none = "auto",
     .help = "classes of a named model, at least those of the data; auto: just those"},
    {"init", YS_OPTION_WORK, YS_OPTION_WORD, .axis = true, .choices = "auto|seed|file", .standard = "auto",
     .help = "where initial values come from: drawn with the seed, or out of the ONNX file that the model is; auto: file where "
             "mode is infer and the model such a file, else seed"},
    {"on_bad_row", YS_OPTION_WORK, YS_OPTION_WORD, .choices = "refuse|skip", .standard = "refuse",
     .help = "image of a folder that cannot be decoded: the study does not begin, or it is left out and counted"},
    {"opt.FRAMEWORK.NAME", YS_OPTION_WORK, YS_OPTION_OPT, .axis = true,
     .help = "option of one framework's recipe; holds for, and multiplies, that framework's trials only"},
    {"exclude", YS_OPTION_WORK, YS_OPTION_EXCLUDE,
     .help = "points to leave out: those at which every key=value of the line holds; may be given several times"},

    {"threads", YS_OPTION_MACHINE, YS_OPTION_INT, .axis = true, .low = 1, .high = 4096, .none = "all",
     .help = "threads of the framework's pools, and CPUs it is bound to; all: as many as yardstick may use"},
    {"cpus", YS_OPTION_MACHINE, YS_OPTION_CPUS, .axis = true, .low = 0, .high = 4095, .none = "none",
     .help = "CPUs to bind to, in place of those that threads would choose; as an axis: {0-3, \"0,2\"}"},
    {"input.cpus", YS_OPTION_MACHINE, YS_OPTION_CPUS, .axis = true, .low = 0, .high = 4095, .none = "none",
     .help = "CPUs to bind yardstick-feeder to, which input = ring starts; none: it may run on all that yardstick may use"},
    {"cpu_time_limit", YS_OPTION_MACHINE, YS_OPTION_DURATION, .low = 0, .above_low = true, .high = MONTH_S, .unit = "s",
     .none = "none",
     .help = "a run whose processes together use more processor time than this is ended (status timeout_cpu)"},
    {"memory_limit", YS_OPTION_MACHINE, YS_OPTION_SIZE, .low = 1, .high = LARGEST_INTEGER, .unit = "bytes",
     .none = "none",
     .help = "a run whose processes together hold more than this is ended (status oom_host)"},
    {"run_time_limit", YS_OPTION_MACHINE, YS_OPTION_DURATION, .low = 0, .above_low = true, .high = MONTH_S, .unit = "s",
     .standard = "1h", .none = "none", .help = "a run is ended after this time (status timeout_wall)"},
    {"stall_limit", YS_OPTION_MACHINE, YS_OPTION_DURATION, .low = 0, .above_low = true, .high = MONTH_S, .unit = "s",
     .standard = "2min", .none = "none", .help = "a run that says nothing for this time is ended (status stalled)"},
    {"env.NAME", YS_OPTION_MACHINE, YS_OPTION_ENV, .axis = true,
     .help = "environment variable of the framework's process"},

    {"sample_hz", YS_OPTION_OBSERVATION, YS_OPTION_REAL, .axis = true, .low = 0, .high = 1000, .unit = "1/s",
     .standard = "10",
     .help = "how often CPU time, memory and threads are read during a run; 0 for never"},
    {"listen", YS_OPTION_OBSERVATION, YS_OPTION_WORD, .mode = "train", .axis = true, .choices = "off|on",
     .standard = "on",
     .help = "of several ranks: hear the calls of gloo and MPI in the framework, by a library that is loaded into it "
             "(LD_PRELOAD): how many bytes a step hands over, how long that takes, and what of it the backward pass hides"},
    {"perf", YS_OPTION_OBSERVATION, YS_OPTION_BOOL, .axis = true, .standard = "off",
     .help = "sample where the processor time goes, by the files that the code lies in: kernel, interpreter, BLAS, framework"},
    {"keep_log", YS_OPTION_OBSERVATION, YS_OPTION_BOOL, .standard = "on",
     .help = "keep what frameworks print, in the study's folder; the last lines are always kept"},
    {NULL},
};
/* clang-format on */

const struct ys_option *ys_options(void)
{
    return options;
}

const struct ys_option *ys_option_find(const char *key)
{
    enum ys_option_type pattern = strncmp(key, "env.", 4) == 0   ? YS_OPTION_ENV
                                  : strncmp(key, "opt.", 4) == 0 ? YS_OPTION_OPT
                                                                 : YS_OPTION_TYPE_COUNT;
    for (const struct ys_option *option = options; option->name; option++)
        if (option->type == pattern || strcmp(option->name, key) == 0)
            return option;
    return NULL;
}

/* What other programs call a key. */
static const char *const elsewhere[][2] = {
    {"batch_size", "batch"}, {"batchsize", "batch"},     {"bs", "batch"},    {"dataset", "data"},
    {"dtype", "precision"},  {"iterations", "steps"},    {"iters", "steps"}, {"max_steps", "steps"},
    {"network", "model"},    {"num_threads", "threads"}, {"runs", "repeat"}, {"rounds", "repeat"},
    {"learning_rate", "lr"}, {"wd", "weight_decay"},
};

const char *ys_option_nearest(const char *key)
{
    const char *names[sizeof options / sizeof options[0]] = {NULL};
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++)
        if (ys_is_spelled(key, strlen(key), elsewhere[i][0]))
            return elsewhere[i][1];
    for (size_t i = 0; options[i].name; i++)
        names[i] = options[i].name;
    return ys_nearest(key, names);
}

bool ys_option_is_resolved(const struct ys_option *option)
{
    bool has_value =
        option->type != YS_OPTION_EXCLUDE && option->type != YS_OPTION_ENV && option->type != YS_OPTION_OPT;
    return option->group != YS_OPTION_STUDY && has_value;
}
