/*
 * Memory of the session as kernels reach it: where it is, if the device reaches all memory of the process; else a copy
 * of the device's own, which commands fill before kernels run and give back afterwards.
 */
#pragma once

#include <stdint.h>

#include "daemon/executor/devices/level_zero/driver.h"
#include "daemon/executor/program/device.h"

struct level_zero_shared {
    uint8_t *session; /* the session's memory */
    void *own;        /* the device's; NULL: kernels use the session's */
};

/* What is kept of memory from a page's start on, made where it is not there yet. NULL with the error. */
struct level_zero_shared *level_zero_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes,
                                           const char *object, struct error *e);
/* Where kernels find it. */
static inline uint64_t level_zero_shared_address(const struct level_zero_shared *s)
{
    return (uintptr_t)(s->own ? s->own : s->session);
}
/* Appends the copy of a part of it, to the device or back. */
ze_result_t level_zero_shared_record(const struct level_zero_shared *s, ze_command_list_handle_t list, uint64_t offset,
                                     uint64_t bytes, bool back);
