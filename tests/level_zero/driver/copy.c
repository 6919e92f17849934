/* Appends copies and fills, and hints about memory, which change nothing here. */
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/driver/calls.h"
#include "tests/level_zero/driver/command.h"
#include "tests/level_zero/driver/limits.h"

/* Rows in slices; one of each is a plain copy. */
struct copy {
    struct command command;
    char *to;
    const char *from;
    size_t width, height, depth, to_pitch, to_slice, from_pitch, from_slice;
};

static bool run_copy(struct command *command)
{
    const struct copy *c = (struct copy *)command;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++)
            memmove(c->to + z * c->to_slice + y * c->to_pitch, c->from + z * c->from_slice + y * c->from_pitch,
                    c->width);
    return true;
}

ze_result_t ZE_APICALL level_append_memory_copy(ze_command_list_handle_t list, void *to, const void *from, size_t size,
                                                ze_event_handle_t signal, uint32_t n_waits, ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!to || !from) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct copy *c = command_new(sizeof *c, run_copy, NULL);
    if (!c) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    c->to = to;
    c->from = from;
    c->width = size;
    c->height = c->depth = 1;
    return command_append(list, &c->command, signal, n_waits, waits);
}

ze_result_t ZE_APICALL level_append_memory_copy_from_context(ze_command_list_handle_t list, void *to,
                                                             ze_context_handle_t context, const void *from, size_t size,
                                                             ze_event_handle_t signal, uint32_t n_waits,
                                                             ze_event_handle_t *waits)
{
    if (!context) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return level_append_memory_copy(list, to, from, size, signal, n_waits, waits);
}

static size_t offset_of(const ze_copy_region_t *r, size_t pitch, size_t slice)
{
    return r->originZ * slice + r->originY * pitch + r->originX;
}

static bool overlap(const struct copy *c)
{
    size_t to_bytes = (c->depth - 1) * c->to_slice + (c->height - 1) * c->to_pitch + c->width;
    size_t from_bytes = (c->depth - 1) * c->from_slice + (c->height - 1) * c->from_pitch + c->width;
    bool same_rows = c->to_pitch == c->from_pitch && c->to_slice == c->from_slice;
    if (c->to >= c->from + from_bytes || c->from >= c->to + to_bytes) return false;
    if (!same_rows || c->to_pitch == 0) return true;
    size_t apart = c->to > c->from ? (size_t)(c->to - c->from) : (size_t)(c->from - c->to);
    size_t x = apart % c->to_pitch; /* columns beside each other do not overlap, nor do rows below each other */
    bool beside = x >= c->width && c->to_pitch - x >= c->width;
    return !beside && apart / c->to_pitch < c->height;
}

ze_result_t ZE_APICALL level_append_memory_copy_region(ze_command_list_handle_t list, void *to,
                                                       const ze_copy_region_t *to_region, uint32_t to_pitch,
                                                       uint32_t to_slice, const void *from,
                                                       const ze_copy_region_t *from_region, uint32_t from_pitch,
                                                       uint32_t from_slice, ze_event_handle_t signal, uint32_t n_waits,
                                                       ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!to || !from || !to_region || !from_region) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    struct copy *c = command_new(sizeof *c, run_copy, NULL);
    if (!c) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    c->to = (char *)to + offset_of(to_region, to_pitch, to_slice);
    c->from = (const char *)from + offset_of(from_region, from_pitch, from_slice);
    c->width = to_region->width;
    c->height = to_region->height ? to_region->height : 1;
    c->depth = to_region->depth ? to_region->depth : 1;
    c->to_pitch = to_pitch, c->to_slice = to_slice, c->from_pitch = from_pitch, c->from_slice = from_slice;
    if (overlap(c)) {
        command_free(&c->command);
        return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
    }
    return command_append(list, &c->command, signal, n_waits, waits);
}

struct fill {
    struct command command;
    char *to;
    size_t size, pattern_size;
    char pattern[LIMIT_PATTERN_BYTES];
};

static bool run_fill(struct command *command)
{
    const struct fill *f = (struct fill *)command;
    for (size_t at = 0; at < f->size; at += f->pattern_size) {
        size_t rest = f->size - at;
        memcpy(f->to + at, f->pattern, rest < f->pattern_size ? rest : f->pattern_size);
    }
    return true;
}

ze_result_t ZE_APICALL level_append_memory_fill(ze_command_list_handle_t list, void *to, const void *pattern,
                                                size_t pattern_size, size_t size, ze_event_handle_t signal,
                                                uint32_t n_waits, ze_event_handle_t *waits)
{
    ze_result_t result = command_check(list, n_waits, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!to || !pattern) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    bool fits = pattern_size > 0 && pattern_size <= LIMIT_PATTERN_BYTES && (pattern_size & (pattern_size - 1)) == 0;
    if (!fits) return ZE_RESULT_ERROR_INVALID_SIZE;
    struct fill *f = command_new(sizeof *f, run_fill, NULL);
    if (!f) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    f->to = to;
    f->size = size;
    f->pattern_size = pattern_size;
    memcpy(f->pattern, pattern, pattern_size);
    return command_append(list, &f->command, signal, n_waits, waits);
}

ze_result_t ZE_APICALL level_append_memory_prefetch(ze_command_list_handle_t list, const void *p, size_t size)
{
    (void)size;
    if (!list) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    return p ? command_check(list, 0, NULL) : ZE_RESULT_ERROR_INVALID_NULL_POINTER;
}

ze_result_t ZE_APICALL level_append_mem_advise(ze_command_list_handle_t list, ze_device_handle_t device, const void *p,
                                               size_t size, ze_memory_advice_t advice)
{
    (void)size;
    if (!list || !device) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (!p) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (advice > ZE_MEMORY_ADVICE_BIAS_UNCACHED) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return command_check(list, 0, NULL);
}
