/* An executable explained: each buffer, each cut, each kernel. */
#pragma once

#include "tools/inspect/graph/load.h"

/* The report, "buffers", "cuts" and "kernels": docs/graph-file.md. */
void explain_json(const struct loaded *l, const fusion_exec *exec);
/* The same for people; ir: with the kernel of each launch. */
void explain_print(const struct loaded *l, const fusion_exec *exec, bool ir);
