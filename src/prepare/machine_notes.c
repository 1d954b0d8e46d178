#include "prepare/machine_notes.h"

#include "base/files/fs.h"
#include "base/json/record.h"
#include "base/mem.h"

#include <string.h>
#include <sys/utsname.h>
#include <time.h>

static const double FRESH_S = 24 * 3600;

struct note_origin {
    char *date, *host;
};
static const struct ys_field fields[] = {
    YS_FIELD(struct note_origin, date, YS_FIELD_TEXT, NULL, 0, "when it was found out"),
    YS_FIELD(struct note_origin, host, YS_FIELD_TEXT, NULL, 0, "on which machine"),
};
static const struct ys_record places = YS_RECORD("kept", struct note_origin, fields);

char *ys_machine_note_date(void)
{
    char date[40];
    struct tm parts;
    time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    return ys_strdup(date);
}

char *ys_machine_note_host(void)
{
    struct utsname names;
    return ys_strdup(uname(&names) == 0 ? names.nodename : "?");
}

/* New; NULL with the status set. */
static ys_status path_of(const char *name, char **path)
{
    char *folder = NULL;
    YS_TRY(ys_cache_path("doctor", &folder));
    *path = ys_format("%s/%s.json", folder, name);
    ys_free(folder);
    return YS_OK;
}

ys_status ys_machine_note_write(const char *name, const ys_json *value)
{
    char *path = NULL;
    YS_TRY(path_of(name, &path));
    ys_status status = ys_json_write(path, value);
    ys_free(path);
    return status;
}

static bool is_from_here(const ys_json *value, const char *name)
{
    struct note_origin place;
    if (ys_record_read(&places, value, name, &place) != YS_OK)
        return false;
    char *here = ys_machine_note_host();
    bool same = here && strcmp(here, place.host) == 0;
    ys_free(here);
    ys_record_fini(&places, &place);
    return same;
}

ys_status ys_machine_note_keep(const char *name, const struct ys_record *record, const void *object)
{
    ys_json *json = ys_record_json(record, object);
    ys_status status = ys_machine_note_write(name, json);
    ys_json_free(json);
    return status;
}

ys_status ys_machine_note_read(const char *name, ys_json **value)
{
    char *path = NULL;
    ys_json *read = NULL;
    YS_TRY(path_of(name, &path));
    ys_status status = ys_fs_exists(path) ? ys_json_read(path, &read) : YS_ENOTFOUND;
    ys_free(path);
    if (status != YS_OK || !is_from_here(read, name)) {
        ys_json_free(read);
        return ys_fail(YS_ENOTFOUND, "doctor has kept no %s of this machine", name);
    }
    *value = read;
    return YS_OK;
}

bool ys_machine_note_is_fresh(const char *date)
{
    struct tm parts = {0};
    const char *end = strptime(date, "%Y-%m-%dT%H:%M:%SZ", &parts);
    double age_s = end ? difftime(time(NULL), timegm(&parts)) : FRESH_S;
    return age_s > -60 && age_s < FRESH_S; /* a clock that was set back a little makes nothing stale */
}
