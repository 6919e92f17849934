/* Kernel nodes in the order in which they run: a part of the linear order, or of one that is tried. */
#pragma once

#include <stdint.h>

struct node_run {
    const uint32_t *nodes;
    uint32_t n;
};
