/* An executor under test: the real program, with a ring, buffers and objects made by the test. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/ring_wait.h"
#include "tests/support/child.h"

struct executor {
    struct child child;
    struct ring *ring;
    int ring_fd, event_fd;
    uint64_t sequence; /* of the last submission */
    uint64_t next_executable;
    uint32_t part; /* of an executable with host tasks: what submissions name */
};

/* threads NULL: as many as there are cores. */
void executor_start(struct executor *x, const char *threads);
/* Ends it and checks that it went in peace. */
void executor_stop(struct executor *x);
/* After it died by itself: its exit code. */
int executor_exit_code(struct executor *x);

/* A sealed memfd, and its memory in this process. */
struct memory {
    int fd;
    void *data;
    size_t bytes;
    uint64_t offset; /* of what is attached */
};
struct memory memory_new(size_t bytes);
void memory_free(struct memory *m);
fusion_status executor_attach(struct executor *x, uint64_t id, const struct memory *m, uint64_t address);

/* A program as docs/protocol.md has it, in the test's words. */
struct test_param {
    unsigned kind, index; /* 0 slot, 1 value, 2 local */
    uint64_t offset;
    unsigned at, size;
    bool writes;
};
struct test_launch {
    const char *name;
    uint64_t global, local; /* one dimension */
    unsigned args_size, n_params;
    struct test_param params[6];
    const void *ir;
    size_t ir_size;
};
struct test_step {
    unsigned kind; /* 0 launch: a; 1 copy: a to b; 2 fill of a with f32 pattern; 3 host task */
    unsigned a, b;
    uint64_t a_offset, b_offset, bytes;
    float pattern;
};
struct test_slot {
    const char *name;
    uint64_t bytes;
    bool absent; /* not needed: internalized */
    bool has_ring;
    uint64_t ring;
};
struct test_bands {
    unsigned first, steps, at_once, n_ends;
    uint64_t ends[32];
    unsigned n_condition; /* numbers of one condition; 0: there is none */
    uint64_t condition[3];
};
struct test_program {
    const char *device; /* NULL: cpu */
    unsigned n_launches, n_steps, n_slots, n_values;
    struct test_launch launches[4];
    struct test_step steps[4]; /* n_steps 0: each launch once */
    struct test_slot slots[6];
    unsigned value_sizes[4];
    unsigned n_bands; /* 0: the key is left out */
    struct test_bands bands[2];
};
/* msgpack bytes; to be cleared by msgpack_sbuffer_destroy(). */
void program_pack(const struct test_program *p, msgpack_sbuffer *out);

/* Loads it with these objects (one per launch), default bindings by slot and values. Gives the executable's
   number in *id (may be NULL) and the reply's status. */
fusion_status executor_load(struct executor *x, const struct test_program *p, const int *objects,
                            const uint64_t *bindings, const void *const *values, uint64_t *id);

/* Another object for a launch. */
fusion_status executor_replace(struct executor *x, uint64_t id, uint64_t launch, int object);

/* One rebinding or value of a submission. */
struct test_bind {
    uint32_t slot;
    uint64_t buffer, offset;
};
struct test_value {
    uint32_t value, size;
    uint64_t data;
};
/* Submits and waits: the completion's status. */
fusion_status executor_submit(struct executor *x, uint64_t executable, const struct test_bind *binds, uint32_t n_binds,
                              const struct test_value *values, uint32_t n_values);
/* Rounds of one executable, behind such of another one where that is not 0, within time_limit_ms (0: the session's). */
struct test_rounds {
    uint64_t executable, first;
    uint32_t rounds, first_rounds, time_limit_ms;
};
fusion_status executor_submit_rounds(struct executor *x, const struct test_rounds *r);
/* What the last submission's completion said. */
const struct ring_completion *executor_completion(const struct executor *x);
const struct ring_failure *executor_failure(const struct executor *x);

/* Compiles C source that defines fusion_kernel and fusion_kernel_info into a sealed memfd, by the system's
   compiler: the ABI is judged by something that is not ours. */
int object_compile(const char *source);
