/* Device level_zero. */
#include "daemon/executor/devices/level_zero/level_zero.h"

#include "daemon/executor/devices/gpu/pipes.h"
#include "daemon/executor/devices/level_zero/commands.h"
#include "daemon/executor/devices/level_zero/launch.h"
#include "daemon/executor/devices/level_zero/memory.h"
#include "daemon/executor/program/executables.h"
#include "ir/base/arena.h"

const struct gpu_description *level_zero_device_init(const struct gpu_description *known, bool *tested, struct error *e)
{
    (void)known;
    *tested = false;
    return level_zero_open(e) == 0 ? &level_zero.description : NULL;
}

static int begin_loading(struct executable *x, struct error *e)
{
    (void)e;
    x->of_device = arena_alloc(x->program->arena, sizeof(struct level_zero_executable));
    return 0;
}

static struct launch_code *load(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    return level_zero_launch_load(x, launch, *fd, e);
}

static int run_transfer(const struct program_step *step, const struct slot_memory *slots, struct error *e)
{
    return gpu_run_transfer(step, slots, level_zero_share, level_zero_transfer, e);
}

static void unload(struct executable *x)
{
    struct level_zero_executable *l = x->of_device;
    if (l) level_zero_batches_free(l->batches);
}

const struct device level_zero_device = {.name = "level_zero",
                                         .takes_objects = true,
                                         .load = load,
                                         .pipe_bytes = gpu_pipe_bytes,
                                         .pipe_init = gpu_pipe_init,
                                         .pipe_from_ring = gpu_pipe_from_ring,
                                         .pipe_to_ring = gpu_pipe_to_ring,
                                         .begin_loading = begin_loading,
                                         .unload = unload,
                                         .run_launches = level_zero_run_launches,
                                         .run_transfer = run_transfer};
