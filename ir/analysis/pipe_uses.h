/* What is done with pipes: which end functions have, and where. */
#pragma once

#include "ir/core/ir.h"

struct ir_pipe_uses {
    bool reads, writes;             /* packets are taken, are put */
    uint32_t read_line, write_line; /* the first place where that is; 0: not known */
    bool waits;                     /* some of it waits */
    bool polls;                     /* some of it does not, so that it matters what is in the pipe when */
};

/* Of a pipe of the module, by all its functions. A pipe that is handed on to where it cannot be followed counts as read
   and written. */
struct ir_pipe_uses ir_pipe_uses_of_global(const struct ir_module *m, const struct ir_global *pipe);
/* Of a parameter. */
struct ir_pipe_uses ir_pipe_uses_of_param(const struct ir_function *f, uint32_t param);
/* Does the function itself wait for pipes? */
bool ir_waits_for_pipes(const struct ir_function *f);
