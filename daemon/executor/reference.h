/* Launches that run in the interpreter: all of device reference, with all its checks; and of device cpu those whose
   kernel is too large for code, with none that code would not make. */
#pragma once

#include "ir/base/error.h"
#include "daemon/executor/executables.h"

struct buffers;
struct ir_printer;
struct running_slot;
struct watch;

/* The kernel of an encoded module, and the module; NULL with the error. name is what that is about: "kernel add". */
const struct ir_function *reference_decode(const void *bytes, size_t size, const char *name, struct ir_module **module,
                                           struct error *e);
/* What the launch runs from now on, where it takes the program's arguments. 0, or -1 with the error. */
int reference_take(const struct program_launch *program, struct executable_launch *launch,
                   const struct ir_function *kernel, struct error *e);
/* Device reference: the kernel comes with the program. 0, or -1 with the error. */
int reference_load(const struct program_launch *program, struct executable_launch *launch, struct error *e);
void reference_unload(struct ir_module *module); /* NULL is fine */
/* Runs it on the argument block; a finding is an error. buffers: all of the session, for addresses found in memory. watch:
   of a program for debugging; else NULL. */
int reference_run(const struct program_launch *program, const struct executable_launch *launch,
                  const struct running_slot *slots, struct buffers *buffers, struct watch *watch,
                  struct ir_printer *printer, struct error *e);
