/* Making, finding and releasing executables. */
#include "daemon/executor/executables.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/executor/objects.h"
#include "daemon/executor/reference.h"
#include "daemon/executor/states.h"
#include "daemon/executor/watched.h"
#include "fuser/cpu/runtime/runtime.h"
#include "ir/base/arena.h"
#include "proto/limits.h"
#include "proto/include/fusiond/status.h"

static const uint64_t max_local_bytes = (uint64_t)64 << 20; /* per thread */

static uint64_t align64(uint64_t n)
{
    return (n + 63) & ~(uint64_t)63;
}

static struct executable **find(struct executables *x, uint64_t id)
{
    struct executable **link = &x->buckets[id % EXECUTABLES_BUCKETS];
    while (*link && (*link)->id != id) link = &(*link)->next;
    return link;
}

void executables_init(struct executables *x, struct states *states, struct ir_printer *printer, uint64_t stream_bytes)
{
    *x = (struct executables){.states = states, .printer = printer, .stream_bytes = stream_bytes};
    pthread_mutex_init(&x->lock, NULL);
}

static void destroy(struct executable *x)
{
    if (x->program) {
        for (uint32_t i = 0; i < x->program->n_launches; i++) {
            objects_release(x->launches[i].object);
            reference_unload(x->launches[i].module);
        }
        for (uint32_t i = 0; x->states && i < x->program->n_states; i++) states_put(x->all_states, x->states[i]);
    }
    frozen_free(&x->frozen);
    watched_free(x->watched);
    program_free(x->program); /* the arrays too: they lie in its arena */
    free(x);
}

void executables_put(struct executable *x)
{
    if (x && atomic_fetch_sub(&x->references, 1) == 1) destroy(x);
}

/* ---- objects ---- */

/* Places the parts of the work-group's memory (fuser/cpu/abi/kernel_abi.h) and writes the offsets into the arguments. */
static int lay_out_local(const struct program_launch *p, struct executable_launch *l, const char *name,
                         struct error *e)
{
    const struct kernel_object_info *info = l->object->info;
    uint64_t size = align64(info->static_local_size) + align64(info->scratch_per_item * p->group_items);
    for (uint32_t i = 0; i < p->n_params; i++) {
        const struct program_param *param = &p->params[i];
        if (param->kind != PROGRAM_PARAM_LOCAL) continue;
        memcpy(l->args + param->at, &size, sizeof size);
        size += align64(param->offset);
        if (size > max_local_bytes) break;
    }
    l->local_bytes = size;
    if (size <= max_local_bytes) return 0;
    return error_set(e, FUSION_OUT_OF_MEMORY, name,
                     "a work-group needs more than %" PRIu64 " bytes of work-group memory, the limit", max_local_bytes);
}

static int take_code(const struct program_launch *p, struct executable_launch *l, const char *name,
                     struct error *e)
{
    if (l->object->info->args_size == p->args_size) return lay_out_local(p, l, name, e);
    return error_set(e, FUSION_INTERNAL, name, "its object takes %u bytes of arguments, the program has %u",
                     l->object->info->args_size, p->args_size);
}

/* The last one makes all of them read-only. */
static int write_record(struct executable *x, uint64_t index, const char *name, struct error *e)
{
    const struct program_launch *p = &x->program->launches[index];
    struct kernel_launch *record = &x->frozen.launches[index];
    *record = p->geometry;
    record->local_bytes = x->launches[index].local_bytes;
    record->functions = &kernel_runtime;
    record->printer = x->printer;
    if (p->written_bytes > x->stream_bytes) record->flags |= KERNEL_LAUNCH_STREAM;
    x->launches[index].record = record;
    if (atomic_load(&x->n_missing) == 1 && frozen_protect(&x->frozen) != 0)
        return error_set(e, FUSION_OUT_OF_MEMORY, name, "its launch cannot be protected: %s", strerror(errno));
    atomic_fetch_sub(&x->n_missing, 1);
    return 0;
}

static int add_object(struct executable *x, uint64_t index, int *fd, struct error *e)
{
    const struct program *p = x->program;
    if (p->reference || index >= p->n_launches || x->launches[index].object)
        return error_set_id(e, FUSION_INTERNAL, "executable", x->id,
                            "there is no launch %" PRIu64 " that needs an object", index);
    const struct program_launch *launch = &p->launches[index];
    char name[320];
    snprintf(name, sizeof name, "kernel %s", launch->name);
    struct object *object = objects_load(fd, name, e);
    if (!object) return -1;
    struct executable_launch *l = &x->launches[index];
    l->object = object;
    if ((object->kernel ? reference_take(launch, l, object->kernel, e) : take_code(launch, l, name, e)) != 0) return -1;
    return write_record(x, index, name, e);
}

static int add_objects(struct executable *x, uint64_t first, int *fds, uint32_t n_fds, struct error *e)
{
    for (uint32_t i = 0; i < n_fds; i++)
        if (add_object(x, first + i, &fds[i], e) != 0) return -1;
    return 0;
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

static int set_states(struct executable *x, const struct executable_source *s, struct error *e)
{
    const struct program *p = x->program;
    x->states = arena_alloc(p->arena, p->n_states * sizeof *x->states);
    for (uint32_t i = 0; i < p->n_states; i++) {
        const struct program_state *what = &p->states[i];
        if (what->module >= s->n_modules)
            return error_set_id(e, FUSION_INVALID, "executable", x->id, "@%s lies in module %u of %u", what->name,
                                what->module, s->n_modules);
        x->states[i] = states_get(x->all_states, s->modules[what->module], p->reference, what, e);
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

static int set_launches(struct executable *x, struct error *e)
{
    const struct program *p = x->program;
    if (!p->reference && frozen_make(&x->frozen, p->n_launches) != 0)
        return error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", x->id, "no memory for its launches");
    if (!p->reference) atomic_store(&x->n_missing, p->n_launches);
    for (uint32_t i = 0; i < p->n_launches; i++) {
        x->launches[i].args = arena_alloc(p->arena, p->launches[i].args_size);
        x->launches[i].states = x->states;
        set_images(x, &p->launches[i], &x->launches[i]);
        set_state_args(x, &p->launches[i], x->launches[i].args);
        if (p->reference && reference_load(&p->launches[i], &x->launches[i], e) != 0) return -1;
    }
    return 0;
}

static struct executable *make(const struct executables *all, const struct executable_source *s, struct error *e)
{
    struct executable *x = calloc(1, sizeof *x);
    if (!x) abort();
    x->id = s->id;
    x->all_states = all->states;
    x->stream_bytes = all->stream_bytes;
    x->printer = all->printer;
    atomic_init(&x->references, 1);
    x->program = program_decode(s->program.data, s->program.size, e);
    if (!x->program) {
        error_set_id(e, FUSION_INTERNAL, "executable", s->id, "its program is not valid: %s", e->reason);
        goto failed;
    }
    x->launches = arena_alloc(x->program->arena, x->program->n_launches * sizeof *x->launches);
    if (set_bindings(x, s, e) == 0 && set_values(x, s, e) == 0 && set_states(x, s, e) == 0 && set_launches(x, e) == 0 &&
        add_objects(x, 0, s->fds, s->n_fds, e) == 0)
        return x;
failed:
    destroy(x);
    return NULL;
}

static int insert(struct executables *x, struct executable *executable, struct error *e)
{
    int result = 0;
    pthread_mutex_lock(&x->lock);
    struct executable **link = find(x, executable->id);
    if (*link) {
        result = error_set_id(e, FUSION_INVALID, "executable", executable->id, "this number is in use already");
    } else if (x->n == PROTO_MAX_EXECUTABLES) {
        result = error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", executable->id,
                              "%d executables are loaded, the limit", PROTO_MAX_EXECUTABLES);
    } else {
        *link = executable;
        x->n++;
    }
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
    struct executable *executable = *find(x, id);
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

int executables_unload(struct executables *x, uint64_t id, struct error *e)
{
    pthread_mutex_lock(&x->lock);
    struct executable **link = find(x, id), *executable = *link;
    if (executable) {
        *link = executable->next;
        x->n--;
    }
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
