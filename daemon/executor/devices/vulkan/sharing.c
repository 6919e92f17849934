/* Memory of the session as kernels reach it. */
#include "daemon/executor/devices/vulkan/sharing.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/executor/devices/vulkan/queue.h"
#include "proto/lead.h"

static void free_shared(void *data)
{
    struct vulkan_shared *s = data;
    vulkan_memory_free(&s->own);
    vulkan_memory_free(&s->host);
    free(s);
}

/* ---- parts of it: before and behind what the device does with it; commands come between ---- */

static void take(struct vulkan_shared *s, const struct gpu_move *m)
{
    if (!s->imported) memcpy(s->host.host + m->offset, s->shared.session + m->offset, m->bytes);
}

static void give(struct vulkan_shared *s, const struct gpu_move *m)
{
    if (!s->imported) memcpy(s->shared.session + m->offset, s->host.host + m->offset, m->bytes);
}

static void record(const struct vulkan_shared *s, VkCommandBuffer commands, const struct gpu_move *m, bool back)
{
    const VkBufferCopy in = {s->lead + m->offset, m->offset, m->bytes},
                       out = {m->offset, s->lead + m->offset, m->bytes};
    if (!s->own.buffer || !m->bytes) return;
    vk.CmdCopyBuffer(commands, back ? s->own.buffer : s->host.buffer, back ? s->host.buffer : s->own.buffer, 1,
                     back ? &out : &in);
}

/* Ends and runs commands by themselves; the host sees what they leave. */
static int finish(VkCommandBuffer commands, const char *object, struct error *e)
{
    int result = vulkan_end(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, true, object, e);
    if (result == 0) result = vulkan_submit(commands, object, e);
    vulkan_forget(commands);
    return result;
}

static int copy_back(const struct vulkan_shared *s, const struct gpu_move *all, struct error *e)
{
    static const char object[] = "copy from device";
    VkCommandBuffer commands = vulkan_begin(object, e);
    if (!commands) return -1;
    record(s, commands, all, true);
    return finish(commands, object, e);
}

static int fetch(void *data, struct error *e)
{
    struct vulkan_shared *s = data;
    const struct gpu_move all = {0, s->shared.bytes};
    vulkan_lock();
    int result = s->own.buffer ? copy_back(s, &all, e) : 0;
    vulkan_unlock();
    if (result != 0) return -1;
    give(s, &all);
    return 0;
}

/* ---- all of it ---- */

static int make(struct vulkan_shared *s, uint64_t bytes, const char *object, struct error *e)
{
    struct error ignored;
    uint64_t page = vulkan.import_alignment, lead = page ? (uintptr_t)s->shared.session % page : 0;
    /* Kernels count on vectors being where those of the device's own memory are. */
    s->imported = page && lead % PROTO_LEAD_ALIGNMENT == 0 &&
                  vulkan_memory_import(&s->host, s->shared.session - lead, lead + bytes, object, &ignored) == 0;
    s->lead = s->imported ? lead : 0;
    if (!s->imported && vulkan_memory_make(&s->host, bytes, VULKAN_STAGING, object, e) != 0) return -1;
    if (vulkan.description.shares_memory) return 0;
    return vulkan_memory_make(&s->own, bytes, VULKAN_DEVICE_ONLY, object, e);
}

struct gpu_shared *vulkan_share(struct device_memory *kept, uint8_t *memory, uint64_t bytes, const char *object,
                                struct error *e)
{
    if (kept->data) return kept->data;
    struct vulkan_shared *s = calloc(1, sizeof *s);
    if (!s) abort();
    s->shared = (struct gpu_shared){memory, bytes, gpu_shared_serial()};
    if (make(s, bytes, object, e) != 0) {
        free_shared(s);
        return NULL;
    }
    *kept = (struct device_memory){s, free_shared, .fetch = s->own.buffer || !s->imported ? fetch : NULL};
    return &s->shared;
}

uint64_t vulkan_shared_address(const struct gpu_shared *shared)
{
    const struct vulkan_shared *s = (const struct vulkan_shared *)shared;
    return s->own.buffer ? s->own.address : s->host.address + s->lead;
}

bool vulkan_shared_is_direct(const struct gpu_shared *shared)
{
    return shared && !((const struct vulkan_shared *)shared)->own.buffer;
}

/* ---- what launches use ---- */

bool vulkan_moves(const struct gpu_used *used, uint32_t n, bool back)
{
    for (uint32_t i = 0; i < n; i++)
        if ((back ? used[i].back : used[i].in).bytes && !vulkan_shared_is_direct(used[i].shared)) return true;
    return false;
}

void vulkan_record_moves(const struct gpu_used *used, uint32_t n, VkCommandBuffer commands, bool back)
{
    for (uint32_t i = 0; i < n; i++)
        if (used[i].shared)
            record((const struct vulkan_shared *)used[i].shared, commands, back ? &used[i].back : &used[i].in, back);
}

void vulkan_move_in(const struct gpu_used *used, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (used[i].in.bytes) take((struct vulkan_shared *)used[i].shared, &used[i].in);
}

void vulkan_move_back(const struct gpu_used *used, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (used[i].back.bytes) give((struct vulkan_shared *)used[i].shared, &used[i].back);
}

/* ---- copies and fills of a graph ---- */

/* A pattern that is one word again and again; false: it is not, or what is filled is not of words. */
static bool pattern_word(const struct gpu_transfer *t, uint32_t *word)
{
    const struct program_step *step = t->step;
    uint8_t bytes[sizeof *word];
    for (uint32_t i = 0; i < sizeof bytes; i++) bytes[i] = step->pattern[i % step->pattern_size];
    for (uint32_t i = 0; i < step->pattern_size; i++)
        if (step->pattern[i] != bytes[i % sizeof bytes]) return false;
    memcpy(word, bytes, sizeof *word);
    uint64_t all = t->to_at | step->bytes | (step->rows ? step->to_pitch | step->to_slice_pitch : 0);
    return sizeof *word % (step->pattern_size < sizeof *word ? step->pattern_size : sizeof *word) == 0 &&
           all % sizeof *word == 0;
}

int vulkan_transfer(const struct gpu_transfer *t, const char *object, struct error *e)
{
    const struct vulkan_shared *to = (const struct vulkan_shared *)t->to, *from = (const struct vulkan_shared *)t->from;
    uint32_t word = 0;
    if (!to->own.buffer || (from && !from->own.buffer) || (!from && !pattern_word(t, &word))) return 0;
    vulkan_lock();
    VkCommandBuffer commands = vulkan_begin(object, e);
    if (commands) {
        for (uint32_t i = 0; i < t->n_rows; i++) {
            const VkBufferCopy region = {from ? gpu_row_from(t, i) : 0, gpu_row_to(t, i), t->step->bytes};
            if (from)
                vk.CmdCopyBuffer(commands, from->own.buffer, to->own.buffer, 1, &region);
            else
                vk.CmdFillBuffer(commands, to->own.buffer, region.dstOffset, region.size, word);
        }
    }
    int result = commands ? finish(commands, object, e) : -1;
    vulkan_unlock();
    return result == 0 ? 1 : -1;
}
