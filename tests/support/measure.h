/* What a piece of work in this process costs: CPU time, and how far allocated memory rises above what it was. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct measure {
    double seconds; /* of the process, on all cores */
    size_t peak;    /* bytes, from C and C++; 0 in builds with a sanitizer, which has an allocator of its own */
};

/* Reading SPIR-V: tables and first pages that a module takes however small it is, which is no part of what grows. */
enum { MEASURE_EMPTY_MODULE = 65536 };

/* Sanitizers make the work slower and larger: limits hold in plain builds. */
extern const bool measure_is_plain;

void measure_begin(struct measure *m);
void measure_end(struct measure *m);
