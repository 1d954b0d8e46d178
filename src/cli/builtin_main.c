/* yardstick-builtin: the built-in engine as a program. Without arguments it is an adapter like any other. */
#include "base/mem.h"
#include "bench/bench.h"
#include "builtin/builtin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "yardstick-builtin: yardstick's own deep-learning engine\n"
    "\n"
    "  yardstick-builtin                     adapter: answers the protocol on descriptor YARDSTICK_FD\n"
    "  yardstick-builtin evaluate --graph G --weights W --data D --threads N [--batch B] [--scales S]\n"
    "                    [--backend NAME]\n"
    "                                        accuracy and loss of saved weights, as one JSON object\n"
    "  yardstick-builtin calibrate --graph G --weights W --data D [--rows N] [--seed S] [--threads N]\n"
    "                    [--quant static|dynamic|weights] [--scheme per-channel|per-tensor] [--range full|reduced]\n"
    "                    [--calibration 'minmax|percentile(P)|mse']\n"
    "                                        scales of saved weights in integers, as one JSON object "
    "(docs/quantised.md)\n"
    "  yardstick-builtin attack --graph G --weights W --data D --threads N --attack WORDS [--rows N] [--restarts N]\n"
    "                    [--seed S] [--curve 'EPS EPS'] [--against W2] [--twins N] [--outcomes yes] [--tell yes]\n"
    "                    [--keep FOLDER]\n"
    "                                        what saved weights withstand, as one JSON object (docs/robustness.md)\n"
    "  yardstick-builtin corrupt --data D [--row N] [--seed S]\n"
    "                                        one row after each corruption, as one Netpbm picture "
    "(docs/robustness.md)\n"
    "  yardstick-builtin transfer --from FOLDER --to FOLDER --threads N\n"
    "                                        what was made on weights of one such folder, shown to those of another\n"
    "  yardstick-builtin --floor MODEL|FILE.json [--batch B] [--threads N] [--precision f32|bf16|f64]\n"
    "                    [--backend NAME] [--repeat ROUNDS] [--format table|json]\n"
    "                                        what a training step takes beside its convolutions and matrix products\n"
    "  yardstick-builtin --peak [--threads N] [--repeat TIMES] [--format table|json]\n"
    "                                        matrix products and memory of this machine at best\n"
    "  yardstick-builtin --instructions      those that it computes with, as ONEDNN_MAX_CPU_ISA lets it\n"
    "  yardstick-builtin --backends          those that are built in, and what to do about one that is not\n"
    "  yardstick-builtin --anchor [--format table|json]\n"
    "                                        three fixed kernels: this machine's speed, to compare with another time\n"
    "  yardstick-builtin --version | --help\n";

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (strcmp(word, "--help") == 0)
        return fputs(help, stdout) < 0;
    if (strcmp(word, "--version") == 0)
        return puts("yardstick-builtin " YS_VERSION) < 0;
    if (strcmp(word, "evaluate") == 0)
        return ys_builtin_evaluate(argc - 2, argv + 2);
    if (argc > 1) /* who is asked by no program has nobody to answer without memory */
        ys_memory_must_suffice("yardstick-builtin");
    if (strcmp(word, "attack") == 0)
        return ys_builtin_attack(argc - 2, argv + 2);
    if (strcmp(word, "calibrate") == 0)
        return ys_builtin_calibrate(argc - 2, argv + 2);
    if (strcmp(word, "corrupt") == 0)
        return ys_builtin_corrupt(argc - 2, argv + 2);
    if (strcmp(word, "transfer") == 0)
        return ys_builtin_transfer(argc - 2, argv + 2);
    if (strcmp(word, "--floor") == 0)
        return ys_builtin_floor(argc - 2, argv + 2);
    if (strcmp(word, "--peak") == 0)
        return ys_builtin_peak(argc - 2, argv + 2);
    if (strcmp(word, "--instructions") == 0)
        return ys_builtin_instructions(argc - 2, argv + 2);
    if (strcmp(word, "--backends") == 0)
        return ys_builtin_backends(argc - 2, argv + 2);
    if (strcmp(word, "--anchor") == 0)
        return ys_builtin_anchor(argc - 2, argv + 2);
    if (argc > 1) {
        fprintf(stderr, "yardstick-builtin: unknown argument \"%s\"\n\n%s", word, help);
        return 2;
    }
    if (!getenv("YARDSTICK_FD")) {
        fprintf(stderr, "yardstick-builtin: YARDSTICK_FD is not set; as an adapter it is started by yardstick\n\n%s",
                help);
        return 2;
    }
    return ys_builtin_serve();
}
