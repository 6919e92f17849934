/* Device vulkan. */
#include "daemon/executor/devices/vulkan/vulkan.h"

#include "daemon/executor/devices/gpu/pipes.h"
#include "daemon/executor/devices/vulkan/binary.h"
#include "daemon/executor/devices/vulkan/commands.h"
#include "daemon/executor/devices/vulkan/launch.h"
#include "daemon/executor/devices/vulkan/queue.h"
#include "daemon/executor/devices/vulkan/self_test.h"
#include "daemon/executor/devices/vulkan/sharing.h"
#include "daemon/executor/program/executables.h"
#include "ir/base/arena.h"

const struct gpu_description *vulkan_device_init(const struct gpu_description *known, bool *tested, struct error *e)
{
    if (vulkan_open(e) != 0 || vulkan_queue_init(e) != 0) return NULL;
    *tested = !known || !gpu_description_learn(&vulkan.description, known);
    if (*tested && vulkan_self_test(&vulkan.description, e) != 0) return NULL;
    vulkan_binaries_init();
    return &vulkan.description;
}

static int begin_loading(struct executable *x, struct error *e)
{
    (void)e;
    x->of_device = arena_alloc(x->program->arena, sizeof(struct vulkan_executable));
    return 0;
}

static struct launch_code *load(struct executable *x, uint32_t launch, int *fd, struct error *e)
{
    return vulkan_launch_load(x, launch, *fd, e);
}

static int run_transfer(const struct program_step *step, const struct slot_memory *slots, struct error *e)
{
    return gpu_run_transfer(step, slots, vulkan_share, vulkan_transfer, e);
}

static void unload(struct executable *x)
{
    struct vulkan_executable *v = x->of_device;
    if (!v) return;
    vulkan_batches_free(v->batches);
    vulkan_chunks_free(v->chunks);
}

const struct device vulkan_device = {.name = "vulkan",
                                     .takes_objects = true,
                                     .load = load,
                                     .pipe_bytes = gpu_pipe_bytes,
                                     .pipe_init = gpu_pipe_init,
                                     .pipe_from_ring = gpu_pipe_from_ring,
                                     .pipe_to_ring = gpu_pipe_to_ring,
                                     .begin_loading = begin_loading,
                                     .unload = unload,
                                     .run_launches = vulkan_run_launches,
                                     .run_transfer = run_transfer};
