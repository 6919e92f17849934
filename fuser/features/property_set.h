/*
 * The property set "SYCL/device requirements": what a device must have to use an image, as files of properties have it.
 * Such a file has lines `[set]` and `name=type|value`; the type of all of ours is 2, bytes: their number of bits as 64
 * bits and they themselves, six bits a character from the lowest on (A to Z, a to z, 0 to 9, + and /), without padding.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/error.h"

struct arena;

struct property_list {
    uint32_t n;
    uint32_t *items;
};

struct property_work_group {
    uint32_t n_dims, dims[3];
};

struct property_set {
    struct property_list aspects, sub_group_sizes; /* numbers; none: the property is not there */
    uint32_t n_work_groups;
    struct property_work_group *work_groups;
    bool fixed;
    struct property_list fixed_targets; /* numbers of aspects, with `fixed` */
};

/* To be freed by the caller. */
char *property_set_write(const struct property_set *s);
/* 1: found; 0: the file has no such set; -1: the error. Other sets and properties are passed over. Lists are the
 * arena's. */
int property_set_read(struct property_set *s, struct arena *a, const char *text, const char *name, struct error *e);
