/* One time line of client, service and executor, for Perfetto and Chrome's about:tracing. */
#pragma once

#include <stdint.h>

#include "tools/inspect/run/runs.h"

/* What was done before the runs. */
struct trace_spans {
    uint64_t load_ns, finalize_ns, finalized_ns; /* CLOCK_MONOTONIC */
};

/* Writes the file; false with a message. */
bool trace_write(const char *path, const struct runs *r, const struct trace_spans *before, const char *device);
