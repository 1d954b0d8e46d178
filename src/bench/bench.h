/* What yardstick-builtin measures by itself: the floor of a training step, and what this machine can do at best. */
#ifndef YS_BENCH_BENCH_H
#define YS_BENCH_BENCH_H

/** `--floor MODEL [...]`: `argv` are the arguments after the word. Prints the model's convolutions and matrix products
 * timed alone, their sum, a training step and where the rest of it goes; the program's exit code: 0, or 2 with a
 * message on stderr. */
int ys_builtin_floor(int argc, char **argv);
/** `--peak [...]`: prints the speed of matrix products and of memory on this machine; the program's exit code, as
 * above. */
int ys_builtin_peak(int argc, char **argv);

/** `--instructions`: prints those that the engine computes with, and on a second line why there is no bf16, where there
 * is none; the program's exit code, as above. */
int ys_builtin_instructions(int argc, char **argv);

/** `--backends`: prints those that are built in, best first, and on a second line what to do about the one that is not,
 * where there is one; the program's exit code, as above. */
int ys_builtin_backends(int argc, char **argv);

/** `--anchor [--format=table|json]`: prints what probe/anchor.h describes; the program's exit code, as above. */
int ys_builtin_anchor(int argc, char **argv);

#endif
