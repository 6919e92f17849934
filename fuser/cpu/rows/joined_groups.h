/* Work-groups that run as one, for a kernel that is checked and may become more code. */
#pragma once

#include "fuser/passes/pass.h"

/* A kernel that it changes runs for two groups that follow one another in x: ids are the first one's. */
extern const struct pass pass_joined_groups;

enum { JOINED_GROUPS = 2 };
