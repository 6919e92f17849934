/* Instructions as text. */
#pragma once

#include "ir/text/print/printer.h"

/* The line of an instruction, without its location and its blocks. */
void print_inst_head(struct printer *p, const struct ir_inst *inst);
/* A block in braces. */
void print_block(struct printer *p, const struct ir_block *block);
