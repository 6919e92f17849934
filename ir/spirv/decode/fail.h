/* Findings about what is being read: the module as a whole, a variable of it, or a function. */
#pragma once

#include "ir/spirv/decode/reader.h"

/* From here on findings are about a function, or about a variable of the module; NULL: about the module as a whole. */
void spirv_begin_function(struct spirv_reader *r, struct spirv_function *f);
void spirv_begin_variable(struct spirv_reader *r, const struct spirv_inst *variable);

/* Reports that an instruction cannot be read. What is being read is refused. */
void spirv_fail(struct spirv_reader *r, const struct spirv_inst *inst, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* There was such a finding since reading it began. */
static inline bool spirv_failed(const struct spirv_reader *r)
{
    return r->subject.failed;
}
