/* Records: C structs that become JSON objects and are read back, by a table of their fields.
 *
 * A module declares its struct, one table, and a pair of functions that name the table:
 *
 *     struct usage { int64_t user_ns; double busy; };
 *     static const struct ys_field fields[] = {
 *         YS_FIELD(struct usage, user_ns, YS_FIELD_INT, "ns", 0, "CPU time in user mode"),
 *         YS_FIELD(struct usage, busy, YS_FIELD_REAL, "1", YS_FIELD_NULL, "threads that shared the work"),
 *     };
 *     const struct ys_record usage_record = YS_RECORD("usage", struct usage, fields);
 *
 * What a C value cannot say is null in JSON: NaN of a real, NULL of a text or value, YS_FIELD_NONE of an integer, 0 of
 * a time, YS_NAME_NONE of a name or a truth. A table is also the list that documents and schemas are checked against.
 */
#ifndef YS_BASE_JSON_RECORD_H
#define YS_BASE_JSON_RECORD_H

#include "base/json/json.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ys_field_kind {                        /* C type of the member */
                     YS_FIELD_FLAG,         /* bool */
                     YS_FIELD_TRUTH,        /* int, 0 or 1; YS_NAME_NONE is null */
                     YS_FIELD_INT,          /* int64_t; YS_FIELD_NONE is null */
                     YS_FIELD_TIME,         /* uint64_t, nanoseconds or bytes; 0, which means never reached, is null */
                     YS_FIELD_REAL,         /* double; NaN is null */
                     YS_FIELD_TEXT,         /* char *, owned; NULL is null */
                     YS_FIELD_ENUM,         /* int, a place in `names`; YS_NAME_NONE is null */
                     YS_FIELD_JSON,         /* ys_json *, owned: what others say in words of their own; NULL is null */
                     YS_FIELD_OBJECT,       /* struct of `record`, inside */
                     YS_FIELD_OBJECT_OWNED, /* struct of `record` *, owned; NULL is null */
                     YS_FIELD_LIST,         /* struct ys_list of structs of `record`, owned */
                     YS_FIELD_TEXTS,        /* struct ys_list of char *, owned */
                     YS_FIELD_INTS,         /* struct ys_list of int64_t, owned */
                     YS_FIELD_REALS,        /* struct ys_list of double, owned; NaN is null */
};

#define YS_FIELD_NONE INT64_MIN
#define YS_NAME_NONE  (-1)

enum ys_field_flags {
    YS_FIELD_NULL = 1,     /* null is a value of it */
    YS_FIELD_MAY_LACK = 2, /* not written when it is null, false or an empty list; absent is read as that */
    YS_FIELD_LATER = 4,    /* written always; absent is read as nothing: what was written without it stays readable */
    YS_FIELD_EMPTY = 8,    /* of a list that null is a value of: empty is written as null */
    YS_FIELD_OTHER = 16,   /* of an enum that null is a value of: a word that is none of its names is read as null */
};

/** The words of an enum, by its values from 0; one table for each enum. */
struct ys_names {
    const char *what; /* "verdict" */
    const char *const *names;
    size_t count;
};
#define YS_NAMES(what, array)                                                                                          \
    {                                                                                                                  \
        (what), (array), sizeof(array) / sizeof((array)[0])                                                            \
    }
/** NULL for YS_NAME_NONE. */
const char *ys_name_of(const struct ys_names *names, int value);
/** YS_NAME_NONE when `text` is none of them, or NULL. */
int ys_name_find(const struct ys_names *names, const char *text);

struct ys_list {
    void *items; /* of the type that the field's kind says; owned */
    size_t count;
};

struct ys_record;
struct ys_field {
    const char *name; /* of the member in JSON */
    enum ys_field_kind kind;
    size_t offset;
    const char *unit; /* SI, as of metrics; NULL where it has none */
    unsigned flags;
    const char *what;               /* what it says, and why it may be null, for documents */
    const struct ys_record *record; /* of OBJECT, OBJECT_OWNED and LIST */
    const struct ys_names *names;   /* of ENUM */
};
#define YS_FIELD(type, member, kind, unit, flags, what)                                                                \
    {                                                                                                                  \
#member, (kind), offsetof(type, member), (unit), (flags), (what), NULL, NULL                                   \
    }
#define YS_FIELD_OF(type, member, kind, record, flags, what)                                                           \
    {                                                                                                                  \
#member, (kind), offsetof(type, member), NULL, (flags), (what), (record), NULL                                 \
    }
#define YS_FIELD_NAMED(type, member, names, flags, what)                                                               \
    {                                                                                                                  \
#member, YS_FIELD_ENUM, offsetof(type, member), NULL, (flags), (what), NULL, (names)                           \
    }

struct ys_record {
    const char *name; /* "usage" */
    size_t size;      /* of the struct */
    const struct ys_field *fields;
    size_t count;
};
#define YS_RECORD(name, type, fields)                                                                                  \
    {                                                                                                                  \
        (name), sizeof(type), (fields), sizeof(fields) / sizeof((fields)[0])                                           \
    }

/** Every field set to "nothing": null where it can be, else 0, false, an empty list. */
void ys_record_init(const struct ys_record *record, void *item);
/** Frees what the fields own; the struct is as after ys_record_init(). */
void ys_record_fini(const struct ys_record *record, void *item);
/** The same of one that was allocated, and frees it; NULL is fine. */
void ys_record_free(const struct ys_record *record, void *item);
/** A new object with the fields in the order of the table; JSON values are shared, not copied. NULL: no memory. */
ys_json *ys_record_json(const struct ys_record *record, const void *item);
/** Lists of structs of `record`: one more, at the end and as after ys_record_init(), NULL without memory; and as for
 * one of them. */
void *ys_list_add(const struct ys_record *record, struct ys_list *list);
ys_json *ys_list_json(const struct ys_record *record, const struct ys_list *list);
void ys_list_fini(const struct ys_record *record, struct ys_list *list);
/** A copy of a list of int64_t. YS_ENOMEM. */
ys_status ys_list_copy_ints(const struct ys_list *list, struct ys_list *copy);
/** One more text, copied, of a list of texts. YS_ENOMEM. */
ys_status ys_list_add_text(struct ys_list *list, const char *text);
/** Reads `object` into `item`, which is overwritten. Members that the table does not know are passed over: a newer
 * yardstick wrote them. On failure `item` is as after ys_record_init().
 *   YS_EFORMAT  a member is missing, of another type, or no word of its names: "`label`: usage.user_ns is ..." */
ys_status ys_record_read(const struct ys_record *record, const ys_json *object, const char *label,
                         void *item) YS_MUST_CHECK;
/** The same from the text of an object, where it stands in thousands of rows: no values are made in between. Of members
 * that the table does not know only where they end is looked at: names in them may come twice.
 *   YS_EFORMAT  also what is no JSON: "`label`: line 1, column 5: ..." */
ys_status ys_record_parse(const struct ys_record *record, const char *text, size_t size, const char *label,
                          void *item) YS_MUST_CHECK;
/** What of `object`, which may be anything, is there and of its kind; the rest is nothing. Texts and JSON values are
 * borrowed from it, so that such an item is never passed to ys_record_fini(). Of the kinds FLAG, TRUTH, INT, REAL,
 * TEXT, ENUM, JSON and OBJECT. */
void ys_record_glance(const struct ys_record *record, const ys_json *object, void *item);
/** One member, into its place in an item that ys_record_init() was called for; as for ys_record_read(). */
ys_status ys_record_read_field(const struct ys_field *field, ys_json *value, void *place) YS_MUST_CHECK;
/** A copy with owners of its own; `copy` is overwritten. */
ys_status ys_record_copy(const struct ys_record *record, const void *item, void *copy) YS_MUST_CHECK;

#endif
