/* The verbs. Each returns the program's exit code and prints its result on stdout. */
#ifndef YS_CLI_COMMAND_H
#define YS_CLI_COMMAND_H

#include "base/buf.h"
#include "base/json/json.h"
#include "cli/args.h"
#include "store/store.h"

int ys_command_run(const struct ys_args *args);
int ys_command_size(const struct ys_args *args);
int ys_command_check(const struct ys_args *args);
int ys_command_verify(const struct ys_args *args);
int ys_command_resume(const struct ys_args *args);
int ys_command_list(const struct ys_args *args);
int ys_command_check_framework(const struct ys_args *args); /* list frameworks --check */
int ys_command_install(const struct ys_args *args);
int ys_command_uninstall(const struct ys_args *args);
int ys_command_data(const struct ys_args *args);
int ys_command_show(const struct ys_args *args);
int ys_command_results_import(const struct ys_args *args);
int ys_command_history(const struct ys_args *args);
int ys_command_gate(const struct ys_args *args);
int ys_command_completion(const struct ys_args *args);
int ys_command_bisect(const struct ys_args *args);
int ys_command_tune(const struct ys_args *args);
int ys_command_recommend(const struct ys_args *args);
int ys_command_compare(const struct ys_args *args);
int ys_command_report(const struct ys_args *args);
int ys_command_export(const struct ys_args *args);
bool ys_command_exports_model(const struct ys_args *args); /* whether any flag of a network is given */
int ys_command_export_model(const struct ys_args *args);   /* export --model */
int ys_command_import(const struct ys_args *args);
int ys_command_clean(const struct ys_args *args);
int ys_command_doctor(const struct ys_args *args);
int ys_command_init(const struct ys_args *args);
extern const char ys_example_study[]; /* what it writes */
int ys_command_help(const struct ys_args *args);

/** Prints the recorded message as an error, and gives the exit code that belongs to the status. */
int ys_command_fail(ys_status status);
/** Columns of what is printed for people: those of the terminal on stdout, at least 40 and at most 160, beyond which
 * lines are hard to follow; 80 where stdout is none. */
int ys_command_width(void);
/** Whether that is too little for columns, so that rows of a table are paragraphs. */
bool ys_command_is_narrow(void);
/** Appends a paragraph that is no wider than ys_command_width(), its first line `indent` blanks from the left and the
 * others `hang`; ends with LF. A path or a command, which somebody pastes, is no paragraph: it stays on one line. */
void ys_command_wrap(struct ys_buf *out, int indent, int hang, const char *format, ...) YS_PRINTF(4, 5);
/** Appends a line whose columns stand below those of others, and LF; where it is wider than ys_command_width(), a
 * paragraph without columns, whose further lines begin `hang` blanks from the left. Blanks at its end are left out. */
void ys_command_line(struct ys_buf *out, int hang, const char *format, ...) YS_PRINTF(3, 4);
/** Appends `name`, cleaned, `indent` blanks from the left, and blanks up to `indent` + `width`, so that columns follow.
 * A longer one has a line of its own and is not cut: names are pasted. */
void ys_command_name(struct ys_buf *out, int indent, int width, const char *name);
/** Whether stdout is a terminal that wants colours: without NO_COLOR. */
bool ys_command_colour(void);
/** Writes `buf` to stdout and frees it: 0, or 7 when stdout cannot take it. A reader that has enough (`| head`) is no
 * failure. */
int ys_command_print(struct ys_buf *buf);
/** The same for a part of a result: `buf` is empty afterwards. YS_EIO; *left is set once the reader has gone. */
ys_status ys_command_write(struct ys_buf *buf, bool *left) YS_MUST_CHECK;
/** Prints `value` as indented JSON and frees it. */
int ys_command_print_json(ys_json *value);
#define YS_RESULTS_FOLDER "yardstick-results"
/** The results folder: --results, else YS_RESULTS_FOLDER. */
const char *ys_command_results(const struct ys_args *args);
/** Opens the store there, or where the flags give the key `results` another folder, to write. */
ys_status ys_command_open_store(const struct ys_args *args, struct ys_store **store) YS_MUST_CHECK;
/** YS_EINVAL: there are neither a study file nor flags, or the file is not there; "-" is one `on_stdin`. */
ys_status ys_command_need_study(const struct ys_args *args, bool on_stdin) YS_MUST_CHECK;

#endif
