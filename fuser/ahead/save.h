/* Executables as bundles (docs/bundles.md, "Saved executables"): what they are made of, with the code of launches. */
#pragma once

#include "fuser/ahead/load.h"

struct ahead_bytes {
    const void *bytes;
    size_t size;
};

struct ahead_saved {
    struct ahead_bytes graph, options;
    uint32_t n_modules;                /* 1 or more */
    const struct ahead_bytes *modules; /* in the msgpack form */
    const char *target;                /* what the code is for */
    uint32_t n_code;
    const struct ahead_code *code;
};

/* The file, to be freed. */
uint8_t *ahead_save(const struct ahead_saved *x, size_t *size);
