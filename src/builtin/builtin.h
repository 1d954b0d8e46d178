/* The adapters that come with yardstick in C: of the built-in engine, and of nothing. */
#ifndef YS_BUILTIN_BUILTIN_H
#define YS_BUILTIN_BUILTIN_H

#include <stdbool.h>

/** Serves as the adapter of the built-in engine on the descriptor that YARDSTICK_FD names; the program's exit code. */
int ys_builtin_serve(void);
/** `evaluate --graph G --weights W --data D --threads N [--batch B] [--scales S] [--backend NAME]`: `argv` are the
 * arguments after the word. Prints one JSON object {correct, count, accuracy, loss} on stdout; the program's exit code:
 * 0, or 2 with a message on stderr. */
int ys_builtin_evaluate(int argc, char **argv);
/** `calibrate --graph G --weights W --data D [--rows N] [--seed S] [--threads T] [--quant KIND] [--scheme S]
 * [--range R] [--calibration C]`: prints the scales of the network (graph/scales.h) as one JSON object on stdout, found
 * on N rows (512) of the data, drawn by the seed (1); the words are those of docs/quantised.md, the first of each where
 * none is given; the program's exit code as above. */
int ys_builtin_calibrate(int argc, char **argv);
/** `attack --graph G --weights W --data D --threads T --attack WORDS`, and more that --help names: attacks saved
 * weights (robust/attack.h) and prints one JSON object on stdout (docs/robustness.md); the program's exit code as
 * above. */
int ys_builtin_attack(int argc, char **argv);
/** `corrupt --data D [--row N] [--seed S]`: row N (0) of a data file after each kind of corruption
 * (robust/corrupt/corruption.h) at each severity, as one Netpbm picture on stdout: a line of pictures for each kind,
 * the first of them the row as it is; the program's exit code as above. */
int ys_builtin_corrupt(int argc, char **argv);
/** `transfer --from FOLDER --to FOLDER --threads T`, folders that `attack --keep` made: shows the images that were made
 * on the weights of the first to those of the second, and prints one JSON object on stdout; the exit code as above. */
int ys_builtin_transfer(int argc, char **argv);
/** Serves as the adapter that does no work, on the same descriptor; the program's exit code. */
int ys_null_serve(void);
/** Serves as the adapter that does the known thing that the plan's option `act` names, on the same descriptor; with
 * `sleeps` it does so first. The program's exit code. */
int ys_known_serve(bool sleeps);

#endif
