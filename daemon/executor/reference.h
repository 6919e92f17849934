/* Device reference: launches run in the interpreter, with all its checks. */
#pragma once

#include "daemon/executor/error.h"
#include "daemon/executor/executables.h"

struct buffers;
struct ir_printer;
struct running_slot;
struct watch;

/* Decodes the launch's kernel and checks that it takes the program's arguments. 0, or -1 with the error. */
int reference_load(const struct program_launch *program, struct executable_launch *launch, struct exec_error *e);
void reference_unload(struct ir_module *module); /* NULL is fine */
/* Runs it on the argument block; a finding is an error. buffers: all of the session, for addresses found in memory. watch:
   of a program for debugging; else NULL. */
int reference_run(const struct program_launch *program, const struct executable_launch *launch,
                  const struct running_slot *slots, struct buffers *buffers, struct watch *watch,
                  struct ir_printer *printer, struct exec_error *e);
