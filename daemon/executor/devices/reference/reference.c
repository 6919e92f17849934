/* Device reference. */
#include "daemon/executor/devices/reference/reference.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/executor/devices/interpreter/interpreter.h"
#include "daemon/executor/devices/reference/debug.h"
#include "daemon/executor/program/executables.h"

struct checked {
    struct launch_code code;
    struct ir_module *module;
    const struct ir_function *kernel;
};

static int checked_run(struct launch_code *code, struct executable *x, uint32_t launch, uint64_t *next,
                       const struct launch_context *context, struct error *e)
{
    *next = x->program->launches[launch].n_groups;
    struct interpreter_launch run = {
        .kernel = ((struct checked *)code)->kernel,
        .options = {.check_races = true, .check_unwritten = true, .check_shuffles = true},
        .watch = reference_debug_watch(x),
    };
    return interpreter_run(&run, x, launch, context, e);
}

static void checked_free(struct launch_code *code)
{
    ir_module_free(((struct checked *)code)->module);
    free(code);
}

static struct launch_code *load(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    const struct program_launch *p = &x->program->launches[launch];
    struct checked *c = calloc(1, sizeof *c);
    char name[320];
    (void)fd;
    if (!c) abort();
    snprintf(name, sizeof name, "kernel %s", p->name);
    c->code = (struct launch_code){checked_run, checked_free};
    c->kernel = interpreter_decode(p->ir, p->ir_size, name, &c->module, e);
    if (c->kernel && interpreter_check_args(c->kernel, x, launch, e) == 0) return &c->code;
    checked_free(&c->code);
    return NULL;
}

static uint64_t pipe_bytes(uint32_t packet_size, uint32_t capacity)
{
    return sizeof(struct interp_pipe) + (uint64_t)packet_size * capacity;
}

static void pipe_init(void *record, uint32_t packet_size, uint32_t capacity)
{
    struct interp_pipe *pipe = record;
    *pipe = (struct interp_pipe){(uint8_t *)(pipe + 1), packet_size, capacity, 0, 0};
}

const struct device reference_device = {.name = "reference",
                                        .load = load,
                                        .pipe_bytes = pipe_bytes,
                                        .pipe_init = pipe_init,
                                        .unload = reference_debug_free,
                                        .debug_begin = reference_debug_begin,
                                        .debug_transfer = reference_debug_transfer};
