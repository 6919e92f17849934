/* Running a launch in the interpreter. */
#include "daemon/executor/devices/interpreter/interpreter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/executables.h"
#include "daemon/executor/program/slot_memory.h"
#include "daemon/executor/program/states.h"
#include "fuser/assertions/assertion_check.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/msgpack/codec.h"
#include "ir/printf/finding.h"
#include "proto/include/fusiond/status.h"

const struct ir_function *interpreter_decode(const void *bytes, size_t size, const char *name,
                                             struct ir_module **module, struct error *e)
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

/* ---- arguments ---- */

static bool is_variable(const struct executable *x, const struct program_param *param)
{
    return param->kind == PROGRAM_PARAM_STATE && !x->states[param->index]->is_pipe;
}

static bool is_pipe(const struct executable *x, const struct program_param *param)
{
    return param->kind == PROGRAM_PARAM_STATE && x->states[param->index]->is_pipe;
}

/* What the program must give for the parameter. */
static enum program_param_kind kind_for(const struct ir_param *param, bool is_state)
{
    ir_type type = param->value->type;
    bool pointer = ir_type_is_ptr(type) && !param->by_value;
    if (ir_type_kind(type) == IR_KIND_PIPE) return PROGRAM_PARAM_STATE;
    if (ir_type_kind(type) == IR_KIND_IMAGE) return PROGRAM_PARAM_IMAGE;
    if (!pointer) return PROGRAM_PARAM_VALUE;
    if (ir_type_space(type) == IR_SPACE_LOCAL) return PROGRAM_PARAM_LOCAL;
    return is_state ? PROGRAM_PARAM_STATE : PROGRAM_PARAM_SLOT;
}

static bool args_fit(const struct ir_function *kernel, const struct executable *x, const struct program_launch *launch,
                     uint32_t *offsets)
{
    if (kernel->n_params != launch->n_params || ir_param_layout(kernel, offsets) != launch->args_size) return false;
    for (uint32_t i = 0; i < kernel->n_params; i++) {
        const struct program_param *param = &launch->params[i];
        const struct ir_param *wanted = &kernel->params[i];
        ir_type type = wanted->value->type;
        uint64_t size = ir_type_size(kernel->module, wanted->by_value ? wanted->elem : type);
        if (ir_type_kind(type) == IR_KIND_PIPE && !is_pipe(x, param)) return false;
        if (param->kind != kind_for(wanted, is_variable(x, param))) return false;
        if (param->at != offsets[i] || param->size != size) return false;
    }
    return true;
}

int interpreter_check_args(const struct ir_function *kernel, const struct executable *x, uint32_t launch,
                           struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    uint32_t *offsets = arena_realloc(NULL, (kernel->n_params + 1) * sizeof *offsets);
    bool good = args_fit(kernel, x, p, offsets);
    free(offsets);
    if (good) return 0;
    error_set(e, FUSION_INTERNAL, NULL, "its arguments do not fit its parameters");
    return error_about(e, "kernel %s", p->name);
}

static struct interp_arg argument(const struct executable *x, const struct program_param *param, uint8_t *at,
                                  const struct slot_memory *slots)
{
    switch (param->kind) {
    case PROGRAM_PARAM_SLOT: {
        const struct slot_memory *slot = &slots[param->index];
        return (struct interp_arg){INTERP_ARG_BUFFER, slot->memory + param->offset, slot->bytes - param->offset, NULL};
    }
    case PROGRAM_PARAM_IMAGE: {
        struct ir_image *image;
        memcpy(&image, at, sizeof image);
        return (struct interp_arg){INTERP_ARG_IMAGE, image, 0, NULL};
    }
    case PROGRAM_PARAM_STATE: {
        const struct state *state = x->states[param->index];
        return (struct interp_arg){state->is_pipe ? INTERP_ARG_PIPE : INTERP_ARG_BUFFER, state->memory, state->bytes,
                                   NULL};
    }
    case PROGRAM_PARAM_LOCAL: return (struct interp_arg){INTERP_ARG_LOCAL, NULL, param->offset, NULL};
    default: return (struct interp_arg){INTERP_ARG_BYTES, at, param->size, NULL};
    }
}

/* ---- findings ---- */

/* Of accesses outside of their memory the first work-item's first one, as code says it that checks them. */
static int report_outside(const struct program_launch *launch, const struct interp_result *result, struct error *e)
{
    const struct interp_finding *f = &result->findings[0];
    for (uint32_t i = 1; i < result->n_findings; i++) {
        const struct interp_finding *g = &result->findings[i];
        bool before = g->linear < f->linear || (g->linear == f->linear && g->step < f->step);
        if (g->kind == INTERP_OUT_OF_BOUNDS && before) f = g;
    }
    struct strbuf text = {0};
    char place[300];
    if (f->line)
        snprintf(place, sizeof place, "%.250s, line %u", f->function, f->line);
    else
        snprintf(place, sizeof place, "%.250s", f->function);
    ir_finding_begin(&text, place, &launch->range, f->item);
    strbuf_add(&text, f->text);
    if (f->bytes) ir_finding_end(&text, f->offset, f->bytes);
    error_set(e, FUSION_KERNEL_FAULT, NULL, "%s", text.text);
    free(text.text);
    return error_about(e, "kernel %s", launch->name);
}

static int report(const struct program_launch *launch, const struct interp_result *result, struct error *e)
{
    if (result->n_findings && result->findings[0].kind == INTERP_OUT_OF_BOUNDS)
        return report_outside(launch, result, e);
    if (!result->n_findings && result->completed) return 0;
    char number[32] = "", line[320] = "";
    if (!result->n_findings) {
        error_set(e, FUSION_INTERNAL, NULL, "stopped without a finding");
        return error_about(e, "kernel %s", launch->name);
    }
    const struct interp_finding *first = &result->findings[0];
    fusion_status status = first->kind == INTERP_LIMIT     ? FUSION_TIMEOUT
                           : first->kind == INTERP_INVALID ? FUSION_INVALID
                                                           : FUSION_KERNEL_FAULT;
    if (result->n_findings > 1) snprintf(number, sizeof number, "(1 of %u) ", result->n_findings);
    if (first->line) snprintf(line, sizeof line, "%.250s, line %u: ", first->function, first->line);
    error_set(e, status, NULL, "%s%s%s", number, line, first->text);
    return error_about(e, "kernel %s", launch->name);
}

static int report_broken(const struct assertion_check *watch, struct error *e)
{
    error_set(e, FUSION_INVALID, NULL, "%s", assertion_check_broken(watch));
    return error_about(e, "node %s", assertion_check_broken_kernel(watch));
}

/* ---- running ---- */

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

int interpreter_run(const struct interpreter_launch *run, const struct executable *x, uint32_t launch,
                    const struct launch_context *context, struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    struct found found = {.buffers = context->buffers};
    const struct interp_finder finder = {&found, find_memory};
    struct interp_arg *args = arena_realloc(NULL, (p->n_params + 1) * sizeof *args);
    for (uint32_t i = 0; i < p->n_params; i++)
        args[i] = argument(x, &p->params[i], x->launches[launch].args + p->params[i].at, context->slots);
    struct interp_options options = run->options;
    options.finder = &finder;
    options.printer = context->printer;
    struct interp_result result = {0};
    if (run->watch)
        assertion_check_run(run->watch, p->debug, run->kernel, &p->range, args, &options, &result);
    else
        interp_run(run->kernel, &p->range, args, &options, &result);
    int outcome =
        run->watch && assertion_check_broken(run->watch) ? report_broken(run->watch, e) : report(p, &result, e);
    interp_result_clear(&result);
    for (uint32_t i = 0; i < found.n; i++) buffers_put(found.list[i]);
    free(found.list);
    free(args);
    return outcome;
}
