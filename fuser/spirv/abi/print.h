/* What the kernels of a launch print, as they leave it: records in memory, which the host reads behind the launch. */
#pragma once

#include <stdint.h>

/* Work-items take room by adding to `used`. The first record that found none begins at `end`; those behind it found
   none either. */
struct spirv_prints {
    uint32_t used, end, room; /* in words of 8 bytes; the host sets 0, room, room */
    uint32_t dropped;         /* records that found no room */
    uint32_t lost, unused;    /* findings among them */
    uint64_t records[];
};

/* Behind it the arguments as ir/printf/format.h has them, then the format, then strings, each with its 0. The address
   of a string among the arguments is how many bytes behind the record's beginning it lies. */
enum { SPIRV_PRINT_FINDING = UINT32_MAX };

/* Of a finding: the offset stands for the arguments, the site for the format. */
struct spirv_print {
    uint32_t words;      /* of 8 bytes, with this */
    uint32_t args_bytes; /* or SPIRV_PRINT_FINDING */
    uint64_t item;       /* in whose place it is printed */
};
