/* What extensions say of pipes, which the validator does not know. */
#pragma once

#include "ir/spirv/base/words.h"

/* Host accesses are noted in the module's pipes, and their decorations and capabilities go. Reads and writes that wait
   become reads and writes, and are noted too. */
void spirv_take_pipe_extensions(struct spirv_words *m);
