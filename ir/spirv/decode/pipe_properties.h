/* Properties of pipes, which producers leave as strings, as they do attributes of functions: UserSemantic decorations
   ("sycl-ready-latency=2"), and OpModuleProcessed ("ready_latency(2) of p"), which is how our writer has them. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* When all pipes are there. */
void spirv_read_pipe_properties(struct spirv_reader *r);
