/* Running a launch in the reference interpreter. */
#include "daemon/executor/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/buffers.h"
#include "daemon/executor/running.h"
#include "daemon/executor/states.h"
#include "ir/base/arena.h"
#include "ir/msgpack/codec.h"
#include "ir/interp/interp.h"
#include "fuser/assertions/assertions.h"
#include "proto/include/fusiond/status.h"

static bool is_variable(const struct executable_launch *launch, const struct program_param *param)
{
    return param->kind == PROGRAM_PARAM_STATE && !launch->states[param->index]->is_pipe;
}

static bool is_pipe(const struct executable_launch *launch, const struct program_param *param)
{
    return param->kind == PROGRAM_PARAM_STATE && launch->states[param->index]->is_pipe;
}

/* Each parameter gets an argument that fits it, so that a run can rely on it. */
static bool fits(const struct program_launch *program, const struct executable_launch *launch, uint32_t *offsets)
{
    const struct ir_function *kernel = launch->kernel;
    if (kernel->n_params != program->n_params || ir_param_layout(kernel, offsets) != program->args_size) return false;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        const struct program_param *param = &program->params[i];
        ir_type type = kernel->params[i].value->type;
        bool pointer = ir_type_is_ptr(type) && !kernel->params[i].by_value;
        bool local = pointer && ir_type_space(type) == IR_SPACE_LOCAL;
        bool pipe = ir_type_kind(type) == IR_KIND_PIPE;
        if (pipe && !is_pipe(launch, param)) return false;
        bool state = pipe || (pointer && !local && is_variable(launch, param));
        enum program_param_kind kind = state                                 ? PROGRAM_PARAM_STATE
                                       : local                               ? PROGRAM_PARAM_LOCAL
                                       : pointer                             ? PROGRAM_PARAM_SLOT
                                       : ir_type_kind(type) == IR_KIND_IMAGE ? PROGRAM_PARAM_IMAGE
                                                                             : PROGRAM_PARAM_VALUE;
        uint64_t size = kernel->params[i].by_value ? ir_type_size(kernel->module, kernel->params[i].elem)
                                                   : ir_type_size(kernel->module, type);
        if (param->kind != kind || param->at != offsets[i] || param->size != size) return false;
    }
    return true;
}

const struct ir_function *reference_decode(const void *bytes, size_t size, const char *name, struct ir_module **module,
                                           struct error *e)
{
    struct diag_list findings = {0};
    *module = ir_decode(bytes, size, &findings);
    const struct ir_function *kernel = *module ? ir_module_only_kernel(*module) : NULL;
    if (!*module)
        error_set(e, FUSION_INTERNAL, name, "its code cannot be read: %s",
                  findings.n ? findings.items[0].text : "no reason given");
    else if (!kernel)
        error_set(e, FUSION_INTERNAL, name, "its module does not hold one kernel");
    diag_clear(&findings);
    return kernel;
}

int reference_take(const struct program_launch *program, struct executable_launch *launch,
                   const struct ir_function *kernel, struct error *e)
{
    char object[320];
    snprintf(object, sizeof object, "kernel %s", program->name);
    launch->kernel = kernel;
    uint32_t *offsets = arena_realloc(NULL, (kernel->n_params + 1) * sizeof *offsets);
    bool good = fits(program, launch, offsets);
    free(offsets);
    return good ? 0 : error_set(e, FUSION_INTERNAL, object, "its arguments do not fit its parameters");
}

int reference_load(const struct program_launch *program, struct executable_launch *launch, struct error *e)
{
    char object[320];
    snprintf(object, sizeof object, "kernel %s", program->name);
    const struct ir_function *kernel = reference_decode(program->ir, program->ir_size, object, &launch->module, e);
    return kernel ? reference_take(program, launch, kernel, e) : -1;
}

void reference_unload(struct ir_module *module)
{
    ir_module_free(module);
}

/* Pipes of device cpu have another record than the interpreter's: `pipe` stands for it while the kernel runs. */
static struct interp_arg pipe_argument(const struct executable_launch *launch, const struct state *state,
                                       struct interp_pipe *pipe)
{
    struct kernel_pipe *own = (struct kernel_pipe *)state->memory;
    if (!launch->object) return (struct interp_arg){INTERP_ARG_PIPE, state->memory, state->bytes, NULL};
    *pipe = (struct interp_pipe){own->packets, own->packet_size, own->capacity, own->read.done, own->write.done};
    return (struct interp_arg){INTERP_ARG_PIPE, pipe, sizeof *pipe, NULL};
}

static void put_back(const struct program_launch *program, const struct executable_launch *launch,
                     const struct interp_pipe *pipes)
{
    for (uint32_t i = 0; i < program->n_params; i++) {
        if (!launch->object || !is_pipe(launch, &program->params[i])) continue;
        struct kernel_pipe *own = (struct kernel_pipe *)launch->states[program->params[i].index]->memory;
        own->read.done = own->read.reserved = pipes[i].read;
        own->write.done = own->write.reserved = pipes[i].written;
    }
}

static struct interp_arg argument(const struct program_param *param, const struct executable_launch *launch,
                                  const struct running_slot *slots, struct interp_pipe *pipe)
{
    switch (param->kind) {
    case PROGRAM_PARAM_SLOT: {
        const struct running_slot *slot = &slots[param->index];
        return (struct interp_arg){INTERP_ARG_BUFFER, slot->memory + param->offset, slot->bytes - param->offset, NULL};
    }
    case PROGRAM_PARAM_IMAGE: {
        struct ir_image *image;
        memcpy(&image, launch->args + param->at, sizeof image);
        return (struct interp_arg){INTERP_ARG_IMAGE, image, 0, NULL};
    }
    case PROGRAM_PARAM_STATE: {
        const struct state *state = launch->states[param->index];
        if (state->is_pipe) return pipe_argument(launch, state, pipe);
        return (struct interp_arg){INTERP_ARG_BUFFER, state->memory, state->bytes, NULL};
    }
    case PROGRAM_PARAM_LOCAL: return (struct interp_arg){INTERP_ARG_LOCAL, NULL, param->offset, NULL};
    default: return (struct interp_arg){INTERP_ARG_BYTES, launch->args + param->at, param->size, NULL};
    }
}

static int report(const struct program_launch *program, const struct interp_result *result, struct error *e)
{
    if (!result->n_findings && result->completed) return 0;
    char object[320];
    snprintf(object, sizeof object, "kernel %s", program->name);
    if (!result->n_findings) return error_set(e, FUSION_INTERNAL, object, "stopped without a finding");
    const struct interp_finding *first = &result->findings[0];
    fusion_status status = first->kind == INTERP_LIMIT     ? FUSION_TIMEOUT
                           : first->kind == INTERP_INVALID ? FUSION_INVALID
                                                           : FUSION_KERNEL_FAULT;
    char number[32] = "", place[320] = "";
    if (result->n_findings > 1) snprintf(number, sizeof number, "(1 of %u) ", result->n_findings);
    if (first->line) snprintf(place, sizeof place, "%.250s, line %u: ", first->function, first->line);
    return error_set(e, status, object, "%s%s%s", number, place, first->text);
}

static int report_broken(const struct watch *watch, struct error *e)
{
    char object[320];
    snprintf(object, sizeof object, "node %s", watch_broken_kernel(watch));
    return error_set(e, FUSION_INVALID, object, "%s", watch_broken(watch));
}

/* Memory that addresses in memory led to, kept while the kernel runs. */
struct found {
    struct buffers *buffers;
    uint32_t n;
    struct buffer **list;
};

static bool find_memory(void *data, uint64_t address, void **memory, uint64_t *bytes)
{
    struct found *found = data;
    struct buffer *buffer = buffers_find(found->buffers, address);
    if (!buffer) return false;
    found->list = arena_realloc(found->list, (found->n + 1) * sizeof(struct buffer *));
    found->list[found->n++] = buffer;
    *memory = buffer->memory;
    *bytes = buffer->bytes;
    return true;
}

/* On device cpu no more ends a kernel than ends its code, and the time limit is the only one. */
static struct interp_options options_of(const struct executable_launch *launch)
{
    if (launch->object) return (struct interp_options){.tolerant = true, .max_steps = UINT64_MAX};
    return (struct interp_options){.check_races = true, .check_unwritten = true, .check_shuffles = true};
}

static struct nd_range range_of(const struct kernel_launch *g)
{
    struct nd_range range = {.dims = g->dims};
    memcpy(range.global, g->global_size, sizeof range.global);
    memcpy(range.offset, g->global_offset, sizeof range.offset);
    memcpy(range.local, g->local_size, sizeof range.local);
    return range;
}

int reference_run(const struct program_launch *program, const struct executable_launch *launch,
                  const struct running_slot *slots, struct buffers *buffers, struct watch *watch,
                  struct ir_printer *printer, struct error *e)
{
    struct found found = {.buffers = buffers};
    const struct interp_finder finder = {&found, find_memory};
    struct nd_range range = range_of(&program->geometry);
    struct interp_arg *args = arena_realloc(NULL, (program->n_params + 1) * sizeof *args);
    struct interp_pipe *pipes = arena_realloc(NULL, (program->n_params + 1) * sizeof *pipes);
    for (uint32_t i = 0; i < program->n_params; i++) args[i] = argument(&program->params[i], launch, slots, &pipes[i]);
    struct interp_options options = options_of(launch);
    options.finder = &finder;
    options.printer = printer;
    struct interp_result result = {0};
    if (watch)
        watch_run(watch, program->watched, launch->kernel, &range, args, &options, &result);
    else
        interp_run(launch->kernel, &range, args, &options, &result);
    put_back(program, launch, pipes);
    int outcome = watch && watch_broken(watch) ? report_broken(watch, e) : report(program, &result, e);
    interp_result_clear(&result);
    for (uint32_t i = 0; i < found.n; i++) buffers_put(found.list[i]);
    free(found.list);
    free(pipes);
    free(args);
    return outcome;
}
