/* Launches of compiled code, and of kernels in batches. */
#include "daemon/executor/devices/cpu/compiled.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/executor/devices/cpu/launch_records.h"
#include "daemon/executor/devices/cpu/objects.h"
#include "daemon/executor/devices/interpreter/interpreter.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/run/pool.h"
#include "fuser/cpu/batch/batch.h"
#include "fuser/cpu/runtime/runtime.h"
#include "proto/include/fusiond/status.h"

static const uint64_t max_local_bytes = (uint64_t)64 << 20; /* per thread */

/* A launch that writes more does not find it in the caches again. */
static uint64_t stream_bytes;

/* Work-group memory of each thread; only the thread that runs submissions touches this record. */
static struct {
    uint8_t *memory;
    uint64_t bytes;
} local;

struct compiled {
    struct launch_code code;
    struct object *object;
    const struct kernel_launch *record; /* where the launch is, and what it calls; read-only memory */
    struct launch_records own;          /* with it, where it is not one of the executable's */
    uint64_t local_bytes;               /* of work-group memory, with its margin or the frame of batches */
    uint64_t busy_ns;                   /* what it takes the threads together, of late; 0: not known */
};

/* What our threads can keep in the caches: the last level is shared with other processors of the machine
   that we may not run on, so it counts as no more than eight times our second level. */
void compiled_init(unsigned threads)
{
    long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE), l3 = sysconf(_SC_LEVEL3_CACHE_SIZE);
    uint64_t ours = (uint64_t)(l2 > 0 ? l2 : 1 << 20) * 8 * threads;
    stream_bytes = l3 > 0 && (uint64_t)l3 < ours ? (uint64_t)l3 : ours;
}

static uint64_t align64(uint64_t n)
{
    return (n + 63) & ~(uint64_t)63;
}

/* ---- running ---- */

struct job {
    const struct object *object;
    const struct kernel_launch *record;
    const void *args;
    uint64_t base; /* work-groups that have run already */
};

static void run_on(const struct object *object, const struct kernel_launch *record, const void *args, uint64_t first,
                   uint64_t end, void *memory)
{
    if (object->entry)
        object->entry(record, args, first, end, memory);
    else
        batch_run(object->batch, record, args, first, end, memory);
}

static void run_groups(void *data, uint64_t first, uint64_t end, unsigned thread)
{
    const struct job *j = data;
    run_on(j->object, j->record, j->args, j->base + first, j->base + end, local.memory + thread * local.bytes);
}

/* Until a launch has been measured, a work-item counts as a nanosecond. */
static uint64_t expected_ns(const struct compiled *c, const struct program_launch *p)
{
    return c->busy_ns ? c->busy_ns : p->n_groups * p->group_items;
}

/* A run that was disturbed, and took many times as long, is not to say how the next ones are shared out. */
static void learn(struct compiled *c, uint64_t busy_ns)
{
    uint64_t most = c->busy_ns ? 2 * c->busy_ns : busy_ns;
    if (busy_ns > most) busy_ns = most;
    c->busy_ns = c->busy_ns ? (3 * c->busy_ns + busy_ns) / 4 : busy_ns;
    if (!c->busy_ns) c->busy_ns = 1;
}

static int reserve_local(uint64_t bytes, unsigned threads, const struct program_launch *p, struct error *e)
{
    if (bytes <= local.bytes) return 0;
    free(local.memory);
    local.bytes = 0;
    local.memory = aligned_alloc(64, bytes * threads);
    if (!local.memory)
        return error_set(e, FUSION_OUT_OF_MEMORY, p->name, "%" PRIu64 " bytes of work-group memory for %u threads",
                         bytes, threads);
    local.bytes = bytes;
    return 0;
}

/* Of so many work-groups. */
static uint64_t part_of(uint64_t ns, uint64_t groups, const struct program_launch *p)
{
    return groups == p->n_groups ? ns : (uint64_t)((double)ns * (double)groups / (double)p->n_groups);
}

/* Work-groups of a batch that are run before it is looked again whether code has come, by how long `done` of them took.
   Of code all. */
static uint64_t slice_groups(const struct compiled *c, const struct program_launch *p, uint64_t done, uint64_t ns)
{
    enum { SLICE_NS = 2000000, FIRST_ITEMS = 1 << 14 };
    if (c->object->entry) return p->n_groups;
    double slice = done ? (double)done * SLICE_NS / (double)(ns + 1) : (double)FIRST_ITEMS / (double)p->group_items;
    return slice < 1 ? 1 : slice < (double)p->n_groups ? (uint64_t)slice : p->n_groups;
}

bool compiled_is_code(const struct launch_code *code)
{
    return ((const struct compiled *)code)->object->entry;
}

int compiled_reserve(const struct launch_code *code, const struct executable *x, uint32_t launch, unsigned threads,
                     struct error *e)
{
    return reserve_local(((const struct compiled *)code)->local_bytes, threads, &x->program->launches[launch], e);
}

void compiled_run_here(const struct launch_code *code, const struct executable *x, uint32_t launch, uint64_t first,
                       uint64_t end, unsigned thread)
{
    const struct compiled *c = (const struct compiled *)code;
    run_on(c->object, c->record, x->launches[launch].args, first, end, local.memory + thread * local.bytes);
}

uint64_t compiled_expected_ns(const struct launch_code *code, const struct executable *x, uint32_t launch)
{
    return expected_ns((const struct compiled *)code, &x->program->launches[launch]);
}

/* On the caller's thread, beside others: all work-groups in their order. */
static int run_alone(const struct compiled *c, const struct executable *x, uint32_t launch, uint64_t *next,
                     uint64_t end, struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    void *memory = aligned_alloc(64, align64(c->local_bytes));
    if (!memory)
        return error_set(e, FUSION_OUT_OF_MEMORY, p->name, "%" PRIu64 " bytes of work-group memory", c->local_bytes);
    run_on(c->object, c->record, x->launches[launch].args, *next, end, memory);
    free(memory);
    *next = end;
    return 0;
}

static int compiled_run(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next, uint64_t end,
                        const struct launch_context *context, struct error *e)
{
    struct compiled *c = (struct compiled *)code;
    const struct program_launch *p = &x->program->launches[launch];
    if (!context->pool) return run_alone(c, x, launch, next, end, e);
    unsigned threads = pool_threads(context->pool);
    if (reserve_local(c->local_bytes, threads, p, e) != 0) return -1;
    struct job job = {c->object, c->record, x->launches[launch].args, *next};
    uint64_t expected = expected_ns(c, p), ns = 0;
    do {
        uint64_t left = end - job.base, groups = slice_groups(c, p, job.base - *next, ns / threads);
        if (groups > left) groups = left;
        ns += pool_run(context->pool, run_groups, &job, groups, part_of(expected, groups, p));
        job.base += groups;
    } while (job.base < end && !executable_has_better(x, launch));
    bool is_last = p->last && *next == p->n_groups - 1; /* it is not like the others */
    if (job.base == end && !is_last) learn(c, (uint64_t)((double)ns * (double)p->n_groups / (double)(end - *next)));
    *next = job.base;
    return 0;
}

/* ---- loading ---- */

/* The parts of the work-group's memory (fuser/cpu/abi/kernel_abi.h): its size. args NULL, or gets their offsets. */
static uint64_t lay_out_local(const struct compiled *c, const struct program_launch *p, uint8_t *args)
{
    const struct kernel_object_info *info = c->object->info;
    uint64_t size = align64(info->static_local_size) + align64(info->scratch_per_item * p->group_items);
    for (uint32_t i = 0; i < p->n_params; i++) {
        const struct program_param *param = &p->params[i];
        if (param->kind != PROGRAM_PARAM_LOCAL) continue;
        if (args) memcpy(args + param->at, &size, sizeof size);
        size += align64(param->offset);
        if (size > max_local_bytes) break;
    }
    return size;
}

static void compiled_enter(struct launch_code *code, struct executable *x, uint32_t launch)
{
    lay_out_local((struct compiled *)code, &x->program->launches[launch], x->launches[launch].args);
}

static int check_local(struct compiled *c, const struct program_launch *p, struct error *e)
{
    uint64_t bytes = lay_out_local(c, p, NULL);
    c->local_bytes =
        bytes + (c->object->batch ? batch_frame_bytes(c->object->batch, p->group_items) : KERNEL_LOCAL_MARGIN);
    if (bytes <= max_local_bytes) return 0;
    return error_set(e, FUSION_OUT_OF_MEMORY, NULL,
                     "a work-group needs more than %" PRIu64 " bytes of work-group memory, the limit", max_local_bytes);
}

static void write_record(struct compiled *c, const struct executable *x, uint32_t launch, struct kernel_launch *record)
{
    const struct program_launch *p = &x->program->launches[launch];
    memcpy(record->global_size, p->range.global, sizeof record->global_size);
    memcpy(record->global_offset, p->range.offset, sizeof record->global_offset);
    memcpy(record->local_size, p->range.local, sizeof record->local_size);
    memcpy(record->num_groups, p->num_groups, sizeof record->num_groups);
    record->dims = p->range.dims;
    if (p->written_bytes > stream_bytes) record->flags |= KERNEL_LAUNCH_STREAM;
    record->local_bytes = c->local_bytes;
    record->functions = &kernel_runtime;
    record->printer = x->printer;
    c->record = record;
}

/* Those of the executable are complete, and are read by the code that runs until this takes over. */
static int write_own_record(struct compiled *c, const struct executable *x, uint32_t launch, struct error *e)
{
    if (launch_records_make(&c->own, 1) != 0)
        return error_set(e, FUSION_OUT_OF_MEMORY, NULL, "no memory for what its launch is");
    write_record(c, x, launch, c->own.launches);
    if (launch_records_protect(&c->own) == 0) return 0;
    return error_set(e, FUSION_OUT_OF_MEMORY, NULL, "what its launch is cannot be protected");
}

static int make_record(struct compiled *c, const struct executable *x, uint32_t launch, bool replaces, struct error *e)
{
    if (replaces) return write_own_record(c, x, launch, e);
    write_record(c, x, launch, &((struct launch_records *)x->of_device)->launches[launch]);
    return 0;
}

static void compiled_free(struct launch_code *code)
{
    struct compiled *c = (struct compiled *)code;
    objects_release(c->object);
    launch_records_free(&c->own);
    free(c);
}

static int check_args(const struct compiled *c, const struct executable *x, uint32_t launch, struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    if (c->object->kernel) return interpreter_check_args(c->object->kernel, x, launch, e);
    if (c->object->info->args_size == p->args_size) return 0;
    return error_set(e, FUSION_INTERNAL, NULL, "its object takes %u bytes of arguments, the program has %u",
                     c->object->info->args_size, p->args_size);
}

struct launch_code *compiled_code(struct executable *x, uint32_t launch, struct object *object, bool replaces,
                                  struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    struct compiled *c = calloc(1, sizeof *c);
    if (!c) abort();
    c->code = (struct launch_code){compiled_run, compiled_free, compiled_enter};
    c->object = object;
    if (check_args(c, x, launch, e) == 0 && check_local(c, p, e) == 0 && make_record(c, x, launch, replaces, e) == 0)
        return &c->code;
    error_about(e, "kernel %s", p->name);
    compiled_free(&c->code);
    return NULL;
}
