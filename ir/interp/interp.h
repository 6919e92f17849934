/* The reference interpreter: slow, obvious, the oracle for everything else. Runs an ND-range and
   reports out-of-bounds accesses, reads of unwritten memory, data races and misplaced barriers by
   work-item. */
#pragma once

#include "ir/base/diag.h"
#include "ir/base/nd_range.h"
#include "ir/image/image.h"
#include "ir/core/ir.h"

/* What a pipe holds: packets number read to written - 1, each at its number modulo capacity. */
struct interp_pipe {
    uint8_t *packets; /* capacity * packet_size bytes */
    uint32_t packet_size, capacity;
    uint64_t read, written; /* packets taken and put so far */
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
};

/* An access to the memory of a buffer argument, just before it happens. */
struct interp_access {
    uint32_t param;
    uint64_t offset, size; /* bytes of the argument */
    bool reads, writes;
    enum ir_op op;
    const uint64_t *item; /* global ids */
    bool met;             /* a barrier that fences global memory lies behind the work-item */
    uint32_t line;
};

struct interp_watcher {
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
    bool check_shuffles;   /* sub_group_shuffle and its xor: ids that the sub-group has no work-item of are reported */
    bool tolerant;         /* what compiled code goes on after is not reported: only what cannot be done is */
    uint32_t max_findings; /* 0: 16 */
    const struct interp_watcher *watcher; /* NULL: none */
    const struct interp_finder *finder;   /* NULL: addresses in memory are those of arguments and variables */
    struct ir_printer *printer;           /* what takes what is printed; NULL: it is dropped */
};

struct interp_result {
    bool completed; /* false: stopped by a finding that leaves no way on */
    uint32_t n_findings;
    struct interp_finding *findings;
    uint64_t steps, bytes_read, bytes_written; /* in global memory */
};

/* Runs kernel over range. args as many as it has parameters. Returns 0, or -1 where the call itself is
   wrong (then findings[0] says how). Free the result with interp_result_clear(). options may be NULL.
   Uses ir_value.scratch: two runs on one module must not overlap.

   The order is fixed: groups by linear id, in a group work-items by linear id, each until it is done or
   waits for others. A finding is made once per instruction (a race once per pair); after most of them the
   run goes on: an access that cannot be is left out and reads as 0.

   Operations of a work-group, and barriers and group_... of a sub-group, need all work-items at the same
   place in the same rounds of the loops around it. sub_group_ballot, elect, all_equal, shuffle... and rotate
   take the work-items of the sub-group that are there when none of it can come to an earlier place any
   more: the two sides of an if are apart inside and together again behind it.

   A race is two accesses to a byte by different work-items, one of them a write, not both atomic in a scope that has
   both, with no barrier of a group of both between them that fences that space. Fences and the memory orders of atomics
   do not count: passing data by flags is reported.

   Pointers in global memory, and integers made of pointers, are addresses in this process: what a kernel or the host
   left there, another one can follow. */
int interp_run(const struct ir_function *kernel, const struct nd_range *range, const struct interp_arg *args,
               const struct interp_options *options, struct interp_result *result);
void interp_result_clear(struct interp_result *result);
