/* What the jobs that make a module share: module and link. */
#pragma once

#include "daemon/compiler/job.h"
#include "daemon/compiler/module_features.h"
#include "fuser/ahead/load.h"

/* The whole reply for a module that the client calls name: kernels, canonical bytes, the text where it is wanted, and
   the code that came with it (of all zeros: none). */
void job_reply_module(const struct proto_message *m, struct proto_writer *reply, struct ir_module *module,
                      struct module_units units, const struct ahead_load *code, const char *name);
