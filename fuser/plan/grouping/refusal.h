/* Why a kernel does not join a group. */
#pragma once

#include <stdbool.h>

struct refusal {
    const char *code;
    const char *buffer;
    char text[640];
};

/* False, for returning. */
bool refuse(struct refusal *r, const char *code, const char *format, ...) __attribute__((format(printf, 3, 4)));
