/* What each device makes of a kernel: the queries of SYCL_INTEL_sub_group, and those of work-groups and memory. */
#pragma once

#include "fuser/access/access.h"
#include "proto/writer.h"

/* Packs the key `devices` with a map for each device: docs/protocol.md, "Queries of kernels". a: of the kernel. */
void kernel_query_pack(struct proto_writer *w, const struct ir_function *kernel, const struct access_analysis *a);
