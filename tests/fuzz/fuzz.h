/* How a fuzz target says that something does not hold: libFuzzer takes the abort as a finding. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/base/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void fuzz_check(bool holds, const char *text)
{
    if (holds) return;
    fprintf(stderr, "fuzz: %s\n", text);
    abort();
}

/* made: what a reader gave for something that must be readable; input: that, as text. */
static inline void fuzz_check_list(const void *made, const struct diag_list *list, const char *input)
{
    if (made) return;
    fprintf(stderr, "fuzz: refused what was written here:\n%s%s", diag_format(list), input);
    abort();
}
