/* Where the programs are that belong to this library. */
#pragma once

#include <limits.h>

struct client_program {
    const char *name;
    const char *variable; /* of the environment: its path, if set */
    const char *built;    /* from a folder of the build tree that programs or the library are in */
};

/* The private daemon, and the compiler of OpenCL C. */
extern const struct client_program client_daemon, client_clc;

void client_locate(const struct client_program *program, char path[PATH_MAX]);
