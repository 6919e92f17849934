/* Making, finding and releasing executables. */
#include "daemon/executor/program/executables.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/program/buffers.h"
#include "daemon/executor/program/states.h"
#include "ir/base/arena.h"
#include "ir/printf/printer.h"
#include "proto/include/fusiond/status.h"
#include "proto/limits.h"

void executables_init(struct executables *x, struct states *states, device_finder *find_device, size_t most_printed)
{
    *x = (struct executables){.states = states, .find_device = find_device, .most_printed = most_printed};
    pthread_mutex_init(&x->lock, NULL);
}

static void free_code(struct launch_code *code)
{
    if (code) code->free(code);
}

static void destroy(struct executable *x)
{
    const struct program *p = x->program;
    for (uint32_t i = 0; x->launches && i < p->n_launches; i++) {
        free_code(x->launches[i].code);
        free_code(atomic_load(&x->launches[i].better));
    }
    for (uint32_t i = 0; x->spare && i < p->n_slots; i++) buffers_put(x->spare[i]);
    for (uint32_t i = 0; x->rings && i < p->n_slots; i++) buffers_put(x->rings[i]);
    for (uint32_t i = 0; x->states && i < p->n_states; i++) states_put(x->all_states, x->states[i]);
    if (p && p->device->unload) p->device->unload(x);
    ir_printer_free(x->printer);
    program_free(x->program); /* the arrays too: they lie in its arena */
    free(x);
}

void executables_put(struct executable *x)
{
    if (x && atomic_fetch_sub(&x->references, 1) == 1) destroy(x);
}

/* ---- objects ---- */

static void set_code(struct executable *x, uint32_t launch, struct launch_code *code)
{
    x->launches[launch].code = code;
    if (code->enter) code->enter(code, x, launch);
}

static int add_object(struct executable *x, uint64_t index, int *fd, struct error *e)
{
    const struct program *p = x->program;
    const struct device *device = p->device;
    if (!device->takes_objects || index >= p->n_launches || x->launches[index].code)
        return error_set_id(e, FUSION_INTERNAL, "executable", x->id,
                            "there is no launch %" PRIu64 " that needs an object", index);
    struct launch_code *code = device->load(x, (uint32_t)index, fd, e);
    if (!code) return -1;
    set_code(x, (uint32_t)index, code);
    if (atomic_load(&x->n_missing) == 1 && device->end_loading && device->end_loading(x, e) != 0) return -1;
    atomic_fetch_sub(&x->n_missing, 1);
    return 0;
}

static int add_objects(struct executable *x, uint64_t first, int *fds, uint32_t n_fds, struct error *e)
{
    for (uint32_t i = 0; i < n_fds; i++)
        if (add_object(x, first + i, &fds[i], e) != 0) return -1;
    return 0;
}

/* It is published, and taken by the thread that runs submissions when it comes to the launch. */
static int replace(struct executable *x, uint64_t index, int *fd, struct error *e)
{
    const struct device *device = x->program->device;
    if (!device->replace || index >= x->program->n_launches || atomic_load(&x->n_missing))
        return error_set_id(e, FUSION_INTERNAL, "executable", x->id,
                            "there is no launch %" PRIu64 " whose object can be replaced", index);
    struct launch_code *code = device->replace(x, (uint32_t)index, fd, e);
    if (!code) return -1;
    free_code(atomic_exchange(&x->launches[index].better, code));
    return 0;
}

bool executable_has_better(const struct executable *x, uint32_t launch)
{
    return atomic_load_explicit(&x->launches[launch].better, memory_order_relaxed);
}

struct launch_code *executable_code(struct executable *x, uint32_t launch)
{
    struct executable_launch *l = &x->launches[launch];
    if (!executable_has_better(x, launch)) return l->code;
    struct launch_code *better = atomic_exchange(&l->better, NULL);
    if (better) {
        free_code(l->code);
        set_code(x, launch, better);
    }
    return l->code;
}

struct buffer *executable_spare_memory(struct executable *x, uint32_t slot, struct error *e)
{
    const struct program *p = x->program;
    if (!x->spare) x->spare = arena_alloc(p->arena, p->n_slots * sizeof *x->spare);
    if (!x->spare[slot]) x->spare[slot] = buffers_private(p->slots[slot].bytes, e);
    if (x->spare[slot]) atomic_fetch_add(&x->spare[slot]->references, 1);
    return x->spare[slot];
}

struct buffer *executable_ring_memory(struct executable *x, uint32_t slot, struct error *e)
{
    const struct program *p = x->program;
    if (!x->rings) x->rings = arena_alloc(p->arena, p->n_slots * sizeof *x->rings);
    if (!x->rings[slot]) x->rings[slot] = buffers_ring(p->slots[slot].bytes, p->slots[slot].ring, e);
    return x->rings[slot];
}

/* ---- making ---- */

static int set_bindings(struct executable *x, const struct executable_source *s, struct error *e)
{
    if (s->n_bindings != x->program->n_slots)
        return error_set_id(e, FUSION_INVALID, "executable", x->id, "has %u slots, but %u bindings",
                            x->program->n_slots, s->n_bindings);
    x->bindings = arena_alloc(x->program->arena, s->n_bindings * sizeof *x->bindings);
    if (s->n_bindings) memcpy(x->bindings, s->bindings, s->n_bindings * sizeof *x->bindings);
    return 0;
}

static int set_values(struct executable *x, const struct executable_source *s, struct error *e)
{
    const struct program *p = x->program;
    if (s->n_values != p->n_values)
        return error_set_id(e, FUSION_INVALID, "executable", x->id, "has %u values, but %u were given", p->n_values,
                            s->n_values);
    x->values = arena_alloc(p->arena, s->n_values * sizeof *x->values);
    for (uint32_t i = 0; i < s->n_values; i++) {
        if (s->values[i].size != p->value_sizes[i])
            return error_set_id(e, FUSION_INVALID, "value", i, "has %u bytes, but %zu were given", p->value_sizes[i],
                                s->values[i].size);
        x->values[i] = arena_alloc(p->arena, s->values[i].size);
        if (s->values[i].size) memcpy(x->values[i], s->values[i].data, s->values[i].size);
    }
    return 0;
}

static void set_images(const struct executable *x, const struct program_launch *from, struct executable_launch *to)
{
    to->images = arena_alloc(x->program->arena, from->n_params * sizeof *to->images);
    for (uint32_t i = 0; i < from->n_params; i++) to->images[i] = from->params[i].image;
}

/* The number of the buffer with the ring of a host pipe; 0: there is none. */
static uint64_t ring_of(const struct executable_source *s, uint64_t module, uint32_t variable)
{
    for (uint32_t i = 0; i + 2 < s->n_pipes; i += 3)
        if (s->pipes[i] == module && s->pipes[i + 1] == variable) return s->pipes[i + 2];
    return 0;
}

static int set_states(struct executable *x, const struct executable_source *s, struct error *e)
{
    const struct program *p = x->program;
    x->states = arena_alloc(p->arena, p->n_states * sizeof *x->states);
    for (uint32_t i = 0; i < p->n_states; i++) {
        const struct program_state *what = &p->states[i];
        if (what->module >= s->n_modules)
            return error_set_id(e, FUSION_INVALID, "executable", x->id, "@%s lies in module %u of %u", what->name,
                                what->module, s->n_modules);
        uint64_t module = s->modules[what->module];
        x->states[i] = states_get(x->all_states, module, p->device, what, ring_of(s, module, what->variable), e);
        if (!x->states[i]) return -1;
        for (uint32_t k = 0; k < i; k++)
            if (x->states[k] == x->states[i])
                return error_set_id(e, FUSION_INVALID, "executable", x->id, "its graph has the module of @%s twice",
                                    what->name);
    }
    return 0;
}

/* Where they are does not change: the arguments hold it from now on. */
static void set_state_args(const struct executable *x, const struct program_launch *launch, uint8_t *args)
{
    for (uint32_t i = 0; i < launch->n_params; i++) {
        const struct program_param *param = &launch->params[i];
        if (param->kind == PROGRAM_PARAM_STATE)
            memcpy(args + param->at, &x->states[param->index]->memory, sizeof x->states[0]->memory);
    }
}

static void set_launches(struct executable *x)
{
    const struct program *p = x->program;
    x->launches = arena_alloc(p->arena, p->n_launches * sizeof *x->launches);
    for (uint32_t i = 0; i < p->n_launches; i++) {
        x->launches[i].args = arena_alloc(p->arena, p->launches[i].args_size);
        set_images(x, &p->launches[i], &x->launches[i]);
        set_state_args(x, &p->launches[i], x->launches[i].args);
    }
}

/* What comes with the program; objects come with it too, or later. */
static int load_code(struct executable *x, struct error *e)
{
    const struct program *p = x->program;
    const struct device *device = p->device;
    if (device->begin_loading && device->begin_loading(x, e) != 0) return -1;
    if (device->takes_objects) {
        atomic_store(&x->n_missing, p->n_launches);
        return 0;
    }
    for (uint32_t i = 0; i < p->n_launches; i++) {
        struct launch_code *code = device->load(x, i, NULL, e);
        if (!code) return -1;
        set_code(x, i, code);
    }
    return device->end_loading ? device->end_loading(x, e) : 0;
}

static int make_parts(struct executable *x, const struct executable_source *s, struct error *e)
{
    if (set_bindings(x, s, e) != 0 || set_values(x, s, e) != 0 || set_states(x, s, e) != 0) return -1;
    set_launches(x);
    return load_code(x, e) == 0 ? add_objects(x, 0, s->fds, s->n_fds, e) : -1;
}

static struct executable *make(const struct executables *all, const struct executable_source *s, struct error *e)
{
    struct executable *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->id = s->id;
    x->all_states = all->states;
    x->printer = ir_printer_new(all->most_printed);
    atomic_init(&x->references, 1);
    x->program = program_decode(s->program.data, s->program.size, all->find_device, e);
    if (!x->program)
        error_set_id(e, FUSION_INTERNAL, "executable", s->id, "its program is not valid: %s", e->reason);
    else if (make_parts(x, s, e) == 0)
        return x;
    destroy(x);
    return NULL;
}

static int insert(struct executables *x, struct executable *executable, struct error *e)
{
    int result = 0;
    pthread_mutex_lock(&x->lock);
    if (map_find(&x->by_id, executable->id))
        result = error_set_id(e, FUSION_INVALID, "executable", executable->id, "this number is in use already");
    else if (x->by_id.count == PROTO_MAX_EXECUTABLES)
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", executable->id,
                              "%d executables are loaded, the limit", PROTO_MAX_EXECUTABLES);
    else if (!map_put(&x->by_id, executable->id, executable))
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", executable->id, "no memory in the executor");
    pthread_mutex_unlock(&x->lock);
    return result;
}

int executables_load(struct executables *x, const struct executable_source *source, struct error *e)
{
    struct executable *executable = make(x, source, e);
    if (!executable) return -1;
    if (insert(x, executable, e) == 0) return 0;
    destroy(executable);
    return -1;
}

/* ---- the table ---- */

static struct executable *get(struct executables *x, uint64_t id)
{
    pthread_mutex_lock(&x->lock);
    struct executable *executable = map_get(&x->by_id, id);
    if (executable) atomic_fetch_add(&executable->references, 1);
    pthread_mutex_unlock(&x->lock);
    return executable;
}

static int not_found(uint64_t id, struct error *e)
{
    return error_set_id(e, FUSION_NOT_FOUND, "executable", id, "no such executable in this session");
}

int executables_add_objects(struct executables *x, uint64_t id, uint64_t first, int *fds, uint32_t n_fds,
                            struct error *e)
{
    struct executable *executable = get(x, id);
    if (!executable) return not_found(id, e);
    int result = add_objects(executable, first, fds, n_fds, e);
    executables_put(executable);
    return result;
}

int executables_replace(struct executables *x, uint64_t id, uint64_t launch, int *fd, struct error *e)
{
    struct executable *executable = get(x, id);
    if (!executable) return not_found(id, e);
    int result = replace(executable, launch, fd, e);
    executables_put(executable);
    return result;
}

int executables_unload(struct executables *x, uint64_t id, struct error *e)
{
    pthread_mutex_lock(&x->lock);
    struct executable *executable = map_remove(&x->by_id, id);
    pthread_mutex_unlock(&x->lock);
    if (!executable) return not_found(id, e);
    executables_put(executable);
    return 0;
}

struct executable *executables_get(struct executables *x, uint64_t id, struct error *e)
{
    struct executable *executable = get(x, id);
    if (!executable) {
        not_found(id, e);
        return NULL;
    }
    uint32_t missing = atomic_load(&executable->n_missing);
    if (!missing) return executable;
    error_set_id(e, FUSION_BUSY, "executable", id, "%u of its %u objects have not come yet", missing,
                 executable->program->n_launches);
    executables_put(executable);
    return NULL;
}
