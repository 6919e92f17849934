/*
 * The table of all memory that the driver has given out, in the order of addresses: parts of the memory that the
 * machine has, too. Between them lie pages that are nobody's, so that kernels fault there.
 */
#pragma once

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allocation {
    void *base;
    size_t size, alignment;
    ze_memory_type_t type;
    ze_context_handle_t context;
    ze_device_handle_t device; /* NULL: of none */
    uint64_t id;
    int file;      /* its memory, as others can have it; -1: nobody else's */
    bool imported; /* the file was the application's; else it is made where the file is to be exported */
};

/* Fills in base and what is found out; size, type, context and so on are set. */
ze_result_t allocations_add(struct allocation *a, bool exported);
/* In whatever context: many programs mix them up, and drivers let them. */
bool allocations_find(const void *p, struct allocation *found);
bool allocations_remove(const void *base);
void allocations_free_all(ze_context_handle_t context);
