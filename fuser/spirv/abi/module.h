/* What is written of a kernel, and what who launches it must know. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct spirv_module {
    uint32_t *words;
    size_t n_words;
    uint32_t args_size;      /* bytes of the arguments */
    uint32_t local_bytes;    /* of the kernel's own local variables: a multiple of SPIRV_BLOCK_ALIGN */
    uint32_t item_bytes;     /* of work-group memory besides, for each work-item */
    bool whole_groups;       /* no dispatch may have work-items outside of the ND-range: incomplete work-groups are
                                dispatched by themselves, in their own size. Else surplus work-items do nothing. */
    uint32_t items;          /* that follow each other in x and one may do, together faster (SPIRV_SPEC_ITEMS); or 1 */
    bool prints;             /* it does, into what the launch has for that */
    uint32_t sub_group_size; /* that the pipeline must ask for, with full sub-groups; 0: any */
    uint8_t *constants;      /* Vulkan: what lies at struct spirv_launch's constants */
    size_t constants_size;
    uint64_t *relocations; /* offsets in them at which 8 bytes get the address of the constants added */
    size_t n_relocations;
};
