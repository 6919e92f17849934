/* Device cpu. */
#include "daemon/executor/devices/cpu/cpu.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "daemon/executor/devices/cpu/bands.h"
#include "daemon/executor/devices/cpu/compiled.h"
#include "daemon/executor/devices/cpu/launch_records.h"
#include "daemon/executor/devices/cpu/objects.h"
#include "daemon/executor/devices/cpu/together.h"
#include "daemon/executor/program/executables.h"
#include "fuser/cpu/runtime/pipe.h"
#include "ir/base/arena.h"
#include "proto/include/fusiond/status.h"

int cpu_device_start(void)
{
    return together_start();
}

void cpu_device_explain(struct running *r, char *out, size_t room)
{
    together_explain(r, out, room);
}

void cpu_device_init(unsigned threads)
{
    compiled_init(threads);
}

static struct launch_code *load_code(struct executable *x, uint32_t launch, int *fd, bool replaces, struct error *e)
{
    char name[320];
    snprintf(name, sizeof name, "kernel %s", x->program->launches[launch].name);
    struct object *object = objects_load(fd, name, e);
    if (!object) return NULL;
    return compiled_code(x, launch, object, replaces, e);
}

static struct launch_code *load(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    return load_code(x, launch, fd, false, e);
}

static struct launch_code *replace(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    return load_code(x, launch, fd, true, e);
}

static uint64_t pipe_bytes(uint32_t packet_size, uint32_t capacity)
{
    return kernel_pipe_bytes(packet_size, capacity);
}

static void pipe_init(void *record, uint32_t packet_size, uint32_t capacity)
{
    kernel_pipe_init(record, packet_size, capacity);
}

static bool pipe_is_empty(const void *record)
{
    return kernel_pipe_is_empty(record);
}

static bool pipe_set_ring(void *record, struct pipe_ring *ring, enum pipe_ring_end end)
{
    return kernel_pipe_set_ring(record, ring, end);
}

static int begin_loading(struct executable *x, struct error *e)
{
    struct launch_records *records = arena_alloc(x->program->arena, sizeof *records);
    if (launch_records_make(records, x->program->n_launches) != 0)
        return error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", x->id, "no memory for its launches");
    x->of_device = records;
    return 0;
}

static int end_loading(struct executable *x, struct error *e)
{
    if (launch_records_protect(x->of_device) == 0) return 0;
    return error_set_id(e, FUSION_OUT_OF_MEMORY, "executable", x->id, "its launches cannot be protected: %s",
                        strerror(errno));
}

static void unload(struct executable *x)
{
    launch_records_free(x->of_device);
}

const struct device cpu_device = {.name = "cpu",
                                  .takes_objects = true,
                                  .load = load,
                                  .pipe_bytes = pipe_bytes,
                                  .pipe_init = pipe_init,
                                  .pipe_set_ring = pipe_set_ring,
                                  .pipe_is_empty = pipe_is_empty,
                                  .run_beside = together_begin,
                                  .end_beside = together_end,
                                  .sleeps_for = together_sleeps_for,
                                  .run_bands = bands_run,
                                  .begin_loading = begin_loading,
                                  .end_loading = end_loading,
                                  .replace = replace,
                                  .unload = unload};
