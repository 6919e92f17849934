/* Memory of the session as kernels reach it. */
#include "daemon/executor/devices/vulkan/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/vulkan/queue.h"

static void free_shared(void *data)
{
    struct vulkan_shared *s = data;
    vulkan_memory_free(&s->own);
    vulkan_memory_free(&s->host);
    free(s);
}

static int copy_back(const struct vulkan_shared *s, struct error *e)
{
    static const char object[] = "copy from device";
    VkCommandBuffer commands = vulkan_begin(object, e);
    if (!commands) return -1;
    vulkan_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_TRANSFER_BIT);
    vulkan_shared_record(s, commands, 0, s->bytes, true);
    vulkan_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_PIPELINE_STAGE_HOST_BIT);
    int result = vulkan_end(commands, object, e);
    if (result == 0) result = vulkan_submit(commands, object, e);
    vulkan_forget(commands);
    return result;
}

static int fetch(void *data, struct error *e)
{
    struct vulkan_shared *s = data;
    vulkan_lock();
    int result = s->own.buffer ? copy_back(s, e) : 0;
    vulkan_unlock();
    if (result != 0) return -1;
    vulkan_shared_give(s, 0, s->bytes);
    return 0;
}
static int make(struct vulkan_shared *s, uint64_t bytes, const char *object, struct error *e)
{
    struct error ignored;
    s->imported = vulkan.import_alignment && (uintptr_t)s->session % vulkan.import_alignment == 0 &&
                  vulkan_memory_import(&s->host, s->session, bytes, object, &ignored) == 0;
    if (!s->imported && vulkan_memory_make(&s->host, bytes, VULKAN_STAGING, object, e) != 0) return -1;
    if (vulkan.description.shares_memory) return 0;
    return vulkan_memory_make(&s->own, bytes, VULKAN_DEVICE_ONLY, object, e);
}

/* Only the thread that runs submissions makes any. */
static uint64_t last_serial;

struct vulkan_shared *vulkan_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes, const char *object,
                                   struct error *e)
{
    if (kept->data) return kept->data;
    struct vulkan_shared *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->session = memory;
    s->bytes = bytes;
    s->serial = ++last_serial;
    if (make(s, bytes, object, e) != 0) {
        free_shared(s);
        return NULL;
    }
    *kept = (struct device_memory){s, free_shared, .fetch = s->own.buffer || !s->imported ? fetch : NULL};
    return s;
}

void vulkan_shared_take(struct vulkan_shared *s, uint64_t offset, uint64_t bytes)
{
    if (!s->imported) memcpy(s->host.host + offset, s->session + offset, bytes);
}

void vulkan_shared_give(struct vulkan_shared *s, uint64_t offset, uint64_t bytes)
{
    if (!s->imported) memcpy(s->session + offset, s->host.host + offset, bytes);
}

void vulkan_shared_record(const struct vulkan_shared *s, VkCommandBuffer commands, uint64_t offset, uint64_t bytes,
                          bool back)
{
    const VkBufferCopy region = {offset, offset, bytes};
    if (!s->own.buffer || !bytes) return;
    vk.CmdCopyBuffer(commands, back ? s->own.buffer : s->host.buffer, back ? s->host.buffer : s->own.buffer, 1,
                     &region);
}
