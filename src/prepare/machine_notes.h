/* What `doctor` found out about this machine and keeps, with date and host, in the cache's folder doctor/. */
#ifndef YS_PREPARE_MACHINE_NOTES_H
#define YS_PREPARE_MACHINE_NOTES_H

#include "base/json/json.h"
#include "base/json/record.h"
#include "base/status.h"
#include <stdbool.h>

/** New texts (ys_free): now as 2026-11-22T23:14:41Z; this machine's name, "?" where it has none.
 */
char *ys_machine_note_date(void);
char *ys_machine_note_host(void);

/** Writes doctor/`name`.json. YS_EIO. */
ys_status ys_machine_note_write(const char *name, const ys_json *value) YS_MUST_CHECK;
/** The same, of a struct by its table. */
ys_status ys_machine_note_keep(const char *name, const struct ys_record *record, const void *object) YS_MUST_CHECK;
/** Reads it. YS_ENOTFOUND: there is none that can be read, or it is another machine's. */
ys_status ys_machine_note_read(const char *name, ys_json **value) YS_MUST_CHECK;
/** Whether a date as of ys_machine_note_date() is less than a day past. */
bool ys_machine_note_is_fresh(const char *date);

#endif
