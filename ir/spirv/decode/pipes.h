/* Pipes of the module. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* Before any of them is read. */
void spirv_begin_pipes(struct spirv_reader *r);
/* Makes the pipe that a variable of pipe storage is. */
void spirv_read_pipe_variable(struct spirv_reader *r, const struct spirv_inst *i);
/* And those that are storage alone, in no variable. */
void spirv_read_pipe_constants(struct spirv_reader *r);
bool spirv_is_pipe_storage(const struct spirv_reader *r, uint32_t type);
