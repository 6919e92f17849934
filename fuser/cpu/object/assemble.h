/* From a libgccjit context to the bytes of a shared object. */
#pragma once

#include <libgccjit.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/diag.h"

struct object_file {
    uint8_t *elf;
    size_t elf_size;
    char *assembly; /* where it is kept */
};

/* option: for as, or NULL. 0, or -1 with a finding in the words of gcc, as or ld. */
int assemble_object(gcc_jit_context *gcc, const char *function, const char *option, bool keep_assembly,
                    struct object_file *object, struct diag_list *list);
