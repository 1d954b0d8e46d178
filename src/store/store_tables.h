/* The tables, as text. docs/store.md says what is in them. Of this room alone. */
#ifndef YS_STORE_STORE_TABLES_H
#define YS_STORE_STORE_TABLES_H

#include "store/database.h"
#include "store/store.h"

#define YS_STORE_TEXT_OF(value)       YS_STORE_TEXT_OF_VALUE(value)
#define YS_STORE_TEXT_OF_VALUE(value) #value
#define YS_STORE_VERSION_TEXT         YS_STORE_TEXT_OF(YS_STORE_VERSION)

/** Makes the tables in an empty database; checks the version of one that is not, and makes this version of an earlier
 * one. `may_write` false: makes nothing, and an earlier version is read as it is. */
ys_status ys_schema_ensure(struct ys_store *store, bool may_write);

#endif
