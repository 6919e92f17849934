/* What a run of the interpreter is given, and what it gives back. */
#pragma once

#include "ir/base/diag.h"
#include "ir/base/nd_range.h"
#include "ir/core/ir.h"
#include "ir/image/image.h"

struct pipe_ring_port;

/* What a pipe holds: packets number read to written - 1, each at its number modulo capacity. */
struct interp_pipe {
    uint8_t *packets; /* capacity * packet_size bytes */
    uint32_t packet_size, capacity;
    uint64_t read, written;      /* packets taken and put so far */
    struct pipe_ring_port *port; /* of a host pipe: the kernel's end, and where the packets are; else NULL */
};

enum interp_arg_kind { INTERP_ARG_BUFFER, INTERP_ARG_BYTES, INTERP_ARG_LOCAL, INTERP_ARG_IMAGE, INTERP_ARG_PIPE };

struct interp_arg {
    enum interp_arg_kind kind;
    void *data;    /* BUFFER: the memory; BYTES: the scalar's or struct's value, of a sampler 4 or 8 bytes with enum
                      ir_sampler; IMAGE: struct ir_image; PIPE: struct interp_pipe */
    uint64_t size; /* bytes of data, or of LOCAL memory */
    const uint8_t *written; /* BUFFER: one byte per byte, 0 where the memory is not initialized; NULL: all is */
};

enum interp_finding_kind {
    INTERP_OUT_OF_BOUNDS,
    INTERP_UNWRITTEN,
    INTERP_RACE,
    INTERP_BARRIER,
    INTERP_DIVISION,
    INTERP_LIMIT,
    INTERP_INVALID
};

struct interp_finding {
    enum interp_finding_kind kind;
    uint64_t item[3], other[3]; /* global ids; other: the second work-item of a race */
    const char *function;       /* of the module */
    uint32_t line;
    char text[240]; /* one sentence with the numbers */
    /* OUT_OF_BOUNDS: the first work-item by linear id, of whose accesses there this was the first */
    uint64_t linear, step;
    int64_t offset;
    uint64_t bytes; /* of the access; 0: it is not one at an offset of memory */
};

/* An access to the memory of a buffer argument, just before it happens. */
struct interp_access {
    uint32_t param;
    uint64_t offset, size; /* bytes of the argument */
    bool reads, writes;
    enum ir_op op;
    const uint64_t *item; /* global ids */
    bool after_barrier;   /* a barrier that fences global memory lies behind the work-item */
    uint32_t line;
};

/* Sees each access to an argument. */
struct interp_observer {
    void *data;
    bool (*access)(void *data, const struct interp_access *access); /* false: the run stops there */
};

/* Memory that no argument is, for addresses that a kernel finds in memory: what lies there, of how many bytes from
   where on. It stays until the run ends. False: nothing does. */
struct interp_finder {
    void *data;
    bool (*find)(void *data, uint64_t address, void **memory, uint64_t *bytes);
};

struct interp_options {
    uint32_t sub_group_size; /* 0: 8 */
    uint64_t max_steps;      /* instructions in all; 0: 2^32; UINT64_MAX: any. INTERP_LIMIT beyond. */
    bool check_races, check_unwritten;
    bool last_group_waits; /* the last work-group begins when what all others did to memory is done */
    bool check_shuffles;   /* sub_group_shuffle and its xor: ids that the sub-group has no work-item of are reported */
    bool tolerant;         /* what compiled code goes on after is not reported: only what cannot be done is */
    uint32_t max_findings; /* 0: 16 */
    const struct interp_observer *observer; /* NULL: none */
    const struct interp_finder *finder;     /* NULL: addresses in memory are those of arguments and variables */
    struct ir_printer *printer;             /* what takes what is printed; NULL: it is dropped */
};

struct interp_result {
    bool completed; /* false: stopped by a finding that leaves no way on */
    uint32_t n_findings;
    struct interp_finding *findings;
    uint64_t steps, bytes_read, bytes_written; /* in global memory */
};
