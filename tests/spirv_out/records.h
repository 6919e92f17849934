/* Images and pipes among the arguments of kernels, as kernels for devices without any take them: records in memory. */
#pragma once

#include "ir/interp/interp.h"

/* Bytes of an argument's record; 0: it has none. */
uint64_t record_bytes(const struct interp_arg *a);
/* data: where the device finds the texels of an image. */
void record_fill(const struct interp_arg *a, uint64_t data, void *record);
/* What the kernel left in it, of pipes. */
void record_give_back(const struct interp_arg *a, const void *record);
/* From its first texel to behind its last. */
uint64_t record_image_bytes(const struct ir_image *image);

/* The interpreter's own, for a kernel that was written and read again. */
enum { RECORDS_MAX_ARGS = 16 };
struct records {
    struct interp_arg args[RECORDS_MAX_ARGS];
    const struct interp_arg *from;
    uint32_t n;
    uint64_t samplers[RECORDS_MAX_ARGS]; /* of 8 bytes */
    struct interp_finder finder;         /* for the interpreter's options */
};
/* f: the kernel that was read. */
void records_open(struct records *r, const struct interp_arg *from, const struct ir_function *f);
void records_close(struct records *r); /* gives back what the kernel left */
