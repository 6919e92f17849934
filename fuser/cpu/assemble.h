/* From a libgccjit context to the bytes of a shared object. */
#pragma once

#include <libgccjit.h>

#include "fuser/cpu/gccjit.h"

/* 0, or -1 with a finding in the words of gcc, as or ld. */
int assemble_object(gcc_jit_context *gcc, const char *function, bool keep_assembly,
                    struct gccjit_object *object, struct diag_list *list);
