/* What the driver's arithmetic is worth. */
#include "daemon/executor/devices/vulkan/self_test.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/executor/devices/vulkan/commands.h"
#include "daemon/executor/devices/vulkan/memory.h"
#include "daemon/executor/devices/vulkan/pipeline.h"
#include "proto/include/fusiond/status.h"

enum { CASES = 64 };                  /* as self_test.sh has it */
enum { TABLE = 96, LOOP_ITEMS = 32 }; /* as self_test_loop.spvasm has them */
enum { A, B, C, SUM, PRODUCT, QUOTIENT, ROOT, FUSED, NUMBERS };

static const uint32_t words32[] = {
#include "self_test32.inc"
};
static const uint32_t words64[] = {
#include "self_test64.inc"
};
static const uint32_t words_loop[] = {
#include "self_test_loop.inc"
};

/* What was right for all cases. */
struct verdict {
    bool basics, division, root, fused, denormals;
};

/* ---- cases ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 11;
}

/* In [1, 2). */
static double mantissa(uint64_t *state, int bits)
{
    return 1 + ldexp((double)(next_random(state) & ((1ull << bits) - 1)), -bits);
}

/* The first needs the product's last bit, of which the others need some; the second has small operands. */
static void make_case(double n[3], uint32_t i, int bits, uint64_t *state)
{
    int smallest = bits == 23 ? -126 : -1022;
    n[A] = mantissa(state, bits);
    n[B] = mantissa(state, bits);
    n[C] = -(n[A] * n[B]);
    if (bits == 23) n[C] = (float)n[C];
    if (i == 0) {
        n[A] = n[B] = 1 + ldexp(1, -bits);
        n[C] = -(1 + ldexp(1, 1 - bits));
    } else if (i == 1) {
        n[A] = ldexp(1, smallest - 4);
        n[B] = ldexp(3, smallest - 6);
        n[C] = 0;
    } else if (i == 2) {
        n[A] = ldexp(mantissa(state, bits), smallest / 2 - 1);
        n[B] = ldexp(1, smallest / 2 - 3);
        n[C] = 0;
    }
}

static void put(uint8_t *at, bool wide, uint32_t number, double value)
{
    float narrow = (float)value;
    if (wide)
        memcpy(at + number * 8, &value, 8);
    else
        memcpy(at + number * 4, &narrow, 4);
}

static double get(const uint8_t *at, bool wide, uint32_t number)
{
    double value;
    float narrow;
    memcpy(&narrow, at + number * 4, 4);
    if (!wide) return narrow;
    memcpy(&value, at + number * 8, 8);
    return value;
}

static void write_cases(uint8_t *memory, bool wide)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < CASES; i++) {
        double n[3];
        make_case(n, i, wide ? 52 : 23, &state);
        for (uint32_t k = 0; k < NUMBERS; k++)
            put(memory + (size_t)i * NUMBERS * (wide ? 8 : 4), wide, k, k < 3 ? n[k] : -1);
    }
}

/* ---- the verdict ---- */

static void expect(double n[NUMBERS], bool wide)
{
    float a = (float)n[A], b = (float)n[B], c = (float)n[C];
    n[SUM] = wide ? n[A] + n[B] : a + b;
    n[PRODUCT] = wide ? n[A] * n[B] : a * b;
    n[QUOTIENT] = wide ? n[A] / n[B] : a / b;
    n[ROOT] = wide ? sqrt(n[A]) : sqrtf(a);
    n[FUSED] = wide ? fma(n[A], n[B], n[C]) : fmaf(a, b, c);
}

static struct verdict judge(const uint8_t *memory, bool wide)
{
    struct verdict v = {true, true, true, true, true};
    for (uint32_t i = 0; i < CASES; i++) {
        const uint8_t *at = memory + (size_t)i * NUMBERS * (wide ? 8 : 4);
        double right[NUMBERS];
        bool same[NUMBERS];
        for (uint32_t k = 0; k < NUMBERS; k++) right[k] = get(at, wide, k);
        expect(right, wide);
        for (uint32_t k = 0; k < NUMBERS; k++) same[k] = get(at, wide, k) == right[k];
        if (i == 1 || i == 2) {
            v.denormals &= same[SUM] && same[PRODUCT];
            continue;
        }
        v.basics &= same[SUM] && same[PRODUCT];
        v.division &= same[QUOTIENT];
        v.root &= same[ROOT];
        v.fused &= same[FUSED];
    }
    return v;
}

/* ---- running ---- */

static int run(VkPipeline pipeline, uint64_t address, uint32_t groups, struct error *e)
{
    VkCommandBuffer commands = vulkan_begin("the driver's self-test", e);
    const uint64_t push[VULKAN_PUSH_BYTES / 8] = {address};
    if (!commands) return -1;
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk.CmdPushConstants(commands, vulkan.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    vk.CmdDispatch(commands, groups, 1, 1);
    vulkan_barrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, VK_PIPELINE_STAGE_HOST_BIT);
    vk.EndCommandBuffer(commands);
    return vulkan_submit(commands, "the driver's self-test", e);
}

static VkResult make_pipeline(const uint32_t *words, size_t bytes, VkPipeline *pipeline)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VkComputePipelineCreateInfo pipeline_info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                                 .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                           .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                           .pName = "main"},
                                                 .layout = vulkan.layout};
    VkResult result = vk.CreateShaderModule(vulkan.device, &info, NULL, &pipeline_info.stage.module);
    if (result != VK_SUCCESS) return result;
    result = vk.CreateComputePipelines(vulkan.device, vulkan.cache, 1, &pipeline_info, NULL, pipeline);
    vk.DestroyShaderModule(vulkan.device, pipeline_info.stage.module, NULL);
    return result;
}

static int run_words(const uint32_t *words, size_t bytes, const struct vulkan_memory *memory, uint32_t groups,
                     struct error *e)
{
    VkPipeline pipeline;
    VkResult made = make_pipeline(words, bytes, &pipeline);
    if (made != VK_SUCCESS) return vulkan_fail(e, NULL, "the driver's self-test cannot be compiled", made);
    int result = run(pipeline, memory->address, groups, e);
    vk.DestroyPipeline(vulkan.device, pipeline, NULL);
    return result;
}

static int test_numbers(const uint32_t *words, size_t bytes, bool wide, struct verdict *v, struct error *e)
{
    struct vulkan_memory memory;
    if (vulkan_memory_make(&memory, (uint64_t)CASES * NUMBERS * (wide ? 8 : 4), true, NULL, e) != 0) return -1;
    write_cases(memory.host, wide);
    int result = run_words(words, bytes, &memory, CASES, e);
    if (result == 0) *v = judge(memory.host, wide);
    vulkan_memory_free(&memory);
    return result;
}

/* ---- loops ---- */

static void write_table(uint32_t *words)
{
    uint64_t state = 2;
    for (uint32_t i = 0; i < TABLE; i++) words[i] = (uint32_t)next_random(&state);
    words[TABLE - 1] = 8; /* where the last loops end */
}

static bool has_sums(const uint32_t *words)
{
    for (uint32_t i = 0; i < LOOP_ITEMS; i++) {
        uint32_t sum = 0, n = i;
        do sum = sum * 31 + words[n++];
        while (words[n] & 7);
        if (words[TABLE + i] != sum) return false;
    }
    return true;
}

/* Whether work-items keep what they leave a loop with. */
static int test_loop(bool *keeps, struct error *e)
{
    struct vulkan_memory memory;
    if (vulkan_memory_make(&memory, (TABLE + LOOP_ITEMS) * sizeof(uint32_t), true, NULL, e) != 0) return -1;
    write_table((uint32_t *)memory.host);
    int result = run_words(words_loop, sizeof words_loop, &memory, 1, e);
    *keeps = result == 0 && has_sums((const uint32_t *)memory.host);
    vulkan_memory_free(&memory);
    return result;
}

/* ---- addresses ---- */

/* Whether memory of this process that is imported has its addresses there, too. */
static bool keeps_addresses(void)
{
    struct vulkan_memory memory;
    struct error ignored;
    uint64_t bytes = vulkan.import_alignment;
    void *page = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    if (page == MAP_FAILED) return false;
    bool imported = vulkan_memory_import(&memory, page, bytes, NULL, &ignored) == 0;
    bool same = imported && memory.address == (uintptr_t)page;
    if (imported) vulkan_memory_free(&memory);
    munmap(page, bytes);
    return same;
}

int vulkan_self_test(struct gpu_description *d, struct error *e)
{
    struct spirv_target *target = &d->target;
    struct verdict narrow, wide = {true, true, true, true, true};
    bool has_wide = target->features & SPIRV_FLOAT64, keeps_loop_values;
    if (test_numbers(words32, sizeof words32, false, &narrow, e) != 0) return -1;
    if (has_wide && test_numbers(words64, sizeof words64, true, &wide, e) != 0) return -1;
    if (test_loop(&keeps_loop_values, e) != 0) return -1;
    if (!narrow.basics || !wide.basics)
        return error_set(e, FUSION_NOT_FOUND, NULL, "its sums and products of floats are not rounded as IEEE 754 says");
    d->same_addresses = d->shares_memory && keeps_addresses();
    d->flushes_denormals32 = !narrow.denormals;
    d->flushes_denormals64 = !wide.denormals;
    if (keeps_loop_values) target->features |= SPIRV_KEEPS_LOOP_VALUES;
    if (narrow.fused) target->features |= SPIRV_FMA32;
    if (narrow.division) target->features |= SPIRV_EXACT_DIVISION32;
    if (narrow.root) target->features |= SPIRV_EXACT_SQRT32;
    if (!has_wide) return 0;
    if (wide.fused) target->features |= SPIRV_FMA64;
    if (wide.division) target->features |= SPIRV_EXACT_DIVISION64;
    if (wide.root) target->features |= SPIRV_EXACT_SQRT64;
    return 0;
}
