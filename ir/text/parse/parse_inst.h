/* Instructions without blocks. */
#pragma once

#include "ir/text/parse/parser.h"

bool parse_ordinary(struct parser *p, struct ir_block *block, enum ir_op op, struct ir_inst **inst);
