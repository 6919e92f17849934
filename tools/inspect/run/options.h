/* Arguments of fusion-inspect run, explain, tune and compile. */
#pragma once

#include "tools/inspect/run/compile.h"

enum { MAX_FILES = 256 };

struct binding { /* --in NAME=FILE, --out NAME=FILE */
    char *name;
    const char *file;
};

struct options {
    const char *graph;
    fusion_finalize_options finalize;
    struct binding in[MAX_FILES], out[MAX_FILES];
    uint32_t n_in, n_out;
    bool json, ir, assembly;
    uint32_t repeat;        /* 0: not given */
    uint32_t rounds;        /* of each submission */
    uint32_t time_limit_ms; /* 0: not given */
    bool profile, compare, interpreted;
    const char *trace; /* NULL: none */
    uint64_t began_ns; /* when the command connected; CLOCK_MONOTONIC */
    const char *dot, *svg;
    const char *save;  /* where the executable goes; NULL: nowhere */
    bool has_finalize; /* something of how to finalize was given */
    struct compile_request compile;
};

void options_usage(const char *command);
/* argv[0] is the command. False with a message, or with usage. */
bool options_parse(int argc, char **argv, struct options *o);
