/* What the memory gives: the same bytes in and out as a work moves, and nothing computed. */
#pragma once

#include "tests/bench/forms/form.h"

struct traffic {
    const struct form *form;
    void *const *memory; /* inputs are read, results written past the cache; the rest is left out */
};

bool traffic_run(void *traffic, unsigned repeat, double *ms);
size_t form_bytes(const struct form_memory *m);
