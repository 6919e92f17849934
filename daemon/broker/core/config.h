/*
 * The configuration file: "name = value" lines, and sections [user NAME] with the most that one user may
 * have, [user *] for those who have no such limit of their own.
 */
#pragma once

#include "daemon/broker/core/user.h"

/* What a file is read into. */
struct config_target {
    int (*set)(void *data, const char *name, const char *text, struct error *e); /* a line before the sections */
    void *data;
    struct user_caps *caps; /* of the sections; to be freed in any case. NULL at first */
    uint32_t n_caps;
};

/* 0, or -1 with the error: "FILE:LINE: what is wrong". A file that is not there is one only where `needed`. */
int config_read(struct config_target *target, const char *path, bool needed, struct error *e);
