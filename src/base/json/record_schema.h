/* JSON Schema, printed by tables of fields. */
#ifndef YS_BASE_JSON_RECORD_SCHEMA_H
#define YS_BASE_JSON_RECORD_SCHEMA_H

#include "base/json/record.h"

/** What documents of `record` are: its members with their types and words, those inside too, and which are always
 * there. A new value; NULL: no memory. */
ys_json *ys_record_schema(const struct ys_record *record);
/** The words, in an array; likewise. */
ys_json *ys_names_json(const struct ys_names *names);

#endif
