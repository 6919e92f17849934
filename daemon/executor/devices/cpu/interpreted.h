/* Launches of kernels that are too large for code: the interpreter, with no checks that code would not make. */
#pragma once

#include <stdint.h>

struct error;
struct executable;
struct launch_code;
struct object;

/* The code of a launch, which takes the object over in any case. NULL with the error. */
struct launch_code *interpreted_code(struct executable *x, uint32_t launch, struct object *object, struct error *e);
