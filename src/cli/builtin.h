/* The parts of the program yardstick-builtin. */
#ifndef YS_CLI_BUILTIN_H
#define YS_CLI_BUILTIN_H

/** Serves as the adapter of the built-in engine on the descriptor that YARDSTICK_FD names; the program's exit code. */
int ys_builtin_serve(void);
/** `evaluate --graph G --weights W --data D --threads N [--batch B]`: `argv` are the arguments after the word. Prints
 * one JSON object {correct, count, accuracy, loss} on stdout; the program's exit code: 0, or 2 with a message on
 * stderr. */
int ys_builtin_evaluate(int argc, char **argv);
/** `--floor MODEL [...]`: `argv` are the arguments after the word. Prints the model's convolutions and matrix products
 * timed alone, their sum, a training step and where the rest of it goes; the program's exit code, as above. */
int ys_builtin_floor(int argc, char **argv);
/** `--peak [...]`: prints the speed of matrix products and of memory on this machine; the program's exit code, as
 * above. */
int ys_builtin_peak(int argc, char **argv);

#endif
