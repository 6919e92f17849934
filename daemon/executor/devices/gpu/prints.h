/* What kernels print: memory that they write and the host reads (fuser/spirv/abi/print.h). */
#pragma once

#include "fuser/spirv/abi/print.h"
#include "ir/printf/printer.h"

enum { GPU_PRINT_BYTES = 8 << 20 /* of a launch: records take several times the bytes of their text */ };

/* Before a launch. */
void gpu_prints_open(struct spirv_prints *p);
/* Behind it: the text of its messages, in order. Trusts nothing of what kernels wrote. */
void gpu_prints_take(const struct spirv_prints *p, struct ir_printer *printer);
