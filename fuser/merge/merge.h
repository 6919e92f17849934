/*
 * Merging: one kernel of several. In comes a request (request.h): kernels in order, the ND-range of the launch, and
 * which buffers lose their memory. Out comes a module with one kernel: each part is copied, fitted to the range of the
 * launch (part_range.h), its accesses to buffers without memory go to variables or to work-group memory
 * (one_variable.h, remap.h), and its body is put behind those of the parts before it. Uses access/, passes/ and ir/.
 */
#pragma once

#include "fuser/merge/request.h"

/* A new module with the one kernel, cleaned up and verified. kept (n_params entries) tells which of the
   request's parameters the kernel still has, in order: an unused or PRIVATE one is gone. NULL with a
   reason in `why` where it cannot be done. */
struct ir_module *fuse_kernels(const struct fuse_request *request, bool *kept, char *why, size_t why_size);
