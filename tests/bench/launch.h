/* Kernels and what they are given, in a form that the service and OpenCL devices take alike. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { LAUNCH_MOST_ARGS = 10 };

enum launch_arg_kind { ARG_NONE, ARG_READ, ARG_WRITE, ARG_UPDATE, ARG_INT, ARG_FLOAT, ARG_LOCAL };

struct launch_arg {
    enum launch_arg_kind kind;
    int32_t number; /* of the memory; the int; the bytes of work-group memory */
    float real;
};
#define READ(memory)                                                                                                   \
    {                                                                                                                  \
        ARG_READ, memory, 0                                                                                            \
    }
#define WRITE(memory)                                                                                                  \
    {                                                                                                                  \
        ARG_WRITE, memory, 0                                                                                           \
    }
#define UPDATE(memory)                                                                                                 \
    {                                                                                                                  \
        ARG_UPDATE, memory, 0                                                                                          \
    }
#define INT(value)                                                                                                     \
    {                                                                                                                  \
        ARG_INT, value, 0                                                                                              \
    }
#define FLOAT(value)                                                                                                   \
    {                                                                                                                  \
        ARG_FLOAT, 0, value                                                                                            \
    }
#define LOCAL(bytes)                                                                                                   \
    {                                                                                                                  \
        ARG_LOCAL, bytes, 0                                                                                            \
    }

struct launch {
    const char *kernel;
    unsigned dims;
    size_t global[3], local[3]; /* local 0: the device chooses */
    struct launch_arg args[LAUNCH_MOST_ARGS];
};
