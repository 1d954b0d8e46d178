/* Whether a run ended as it did for want of room on the disk, which no framework is to blame for. */
#ifndef YS_STUDY_DISK_FULL_H
#define YS_STUDY_DISK_FULL_H

#include "crew/facts.h"
#include "prepare/trial.h"

/** Judged by what the adapter said, and by what is free where `folder` lies before anything in it is removed. Only of a
 * run that failed, or of which a check that reads its files could not be made. */
bool ys_disk_stopped(const struct ys_trial *trial, const struct ys_facts *facts, const char *folder);

#endif
