/* What the driver's arithmetic is worth. */
#include "daemon/executor/devices/vulkan/self_test.h"

#include <math.h>
#include <spirv/unified1/spirv.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "daemon/executor/devices/vulkan/memory.h"
#include "daemon/executor/devices/vulkan/pipeline.h"
#include "daemon/executor/devices/vulkan/queue.h"
#include "proto/include/fusiond/status.h"

enum {
    CASES = 64,
    LOOP_ITEMS = 32,
    FENCE_ITEMS = 128,
    KNOWN_ITEMS = 32,
    KNOWN_RESULTS = 10
};                                                          /* as self_test.sh and self_test_loop.spvasm have it */
enum { DIGITS_X = 512, DIGITS_Y = 256, DIGITS_WORDS = 16 }; /* work-groups, as self_test_digits.spvasm has it */
enum { SHORT_TABLE = 96, LONG_TABLE = 70 * 1000 };          /* more than the 65,535 rounds that llvmpipe does */
enum { A, B, C, SUM, PRODUCT, QUOTIENT, ROOT, FUSED, NUMBERS };

static const uint32_t words32[] = {
#include "self_test32.inc"
};
static const uint32_t words64[] = {
#include "self_test64.inc"
};
static const uint32_t words_fence[] = {
#include "self_test_fence.inc"
};
static const uint32_t words_known[] = {
#include "self_test_known.inc"
};
static const uint32_t words_digits[] = {
#include "self_test_digits.inc"
};
static const uint32_t words_loop[] = {
#include "self_test_loop.inc"
};

/* What was right for all cases; those with denormals are by themselves. */
struct verdict {
    bool basics, division, root, fused, denormals, denormal_division, denormal_root;
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

/* Quotients near the ends of what is normal, of divisors there, too. */
static void make_far_case(double n[3], uint32_t i, int smallest)
{
    const int far[][2] = {{0, 0},
                          {-smallest, -smallest},
                          {smallest, smallest + 6},
                          {-smallest * 3 / 4, smallest / 5},
                          {smallest / 2, -smallest / 2}};
    n[A] = ldexp(n[A], far[i][0]);
    n[B] = ldexp(n[B], far[i][1]);
    n[C] = 0;
}

/* The first needs the product's last bit, of which the others need some; the second has small operands. */
static void make_case(double n[3], uint32_t i, int bits, uint64_t *state)
{
    enum { FAR = 3, LAST_FAR = 6 };
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
    } else if (i >= FAR && i <= LAST_FAR) {
        make_far_case(n, i - FAR + 1, smallest);
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
    struct verdict v = {true, true, true, true, true, true, true};
    for (uint32_t i = 0; i < CASES; i++) {
        const uint8_t *at = memory + (size_t)i * NUMBERS * (wide ? 8 : 4);
        double right[NUMBERS];
        bool same[NUMBERS];
        for (uint32_t k = 0; k < NUMBERS; k++) right[k] = get(at, wide, k);
        expect(right, wide);
        for (uint32_t k = 0; k < NUMBERS; k++) same[k] = get(at, wide, k) == right[k];
        if (i == 1 || i == 2) {
            v.denormals &= same[SUM] && same[PRODUCT] && same[FUSED];
            v.denormal_division &= same[QUOTIENT];
            v.denormal_root &= same[ROOT];
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

static int run(VkPipeline pipeline, uint64_t address, uint32_t groups, uint32_t rows, struct error *e)
{
    VkCommandBuffer commands = vulkan_begin("the driver's self-test", e);
    const uint64_t push[VULKAN_PUSH_BYTES / 8] = {address};
    if (!commands) return -1;
    vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    vk.CmdPushConstants(commands, vulkan.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof push, push);
    vk.CmdDispatch(commands, groups, rows, 1);
    if (vulkan_end(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, true, "the driver's self-test", e) != 0) return -1;
    return vulkan_submit(commands, "the driver's self-test", e);
}

/* Is it a mode that the writer does not ask this driver for, or what that needs? */
static bool is_foreign(const uint32_t *instruction)
{
    static const struct {
        uint32_t capability, mode;
        uint64_t features[2]; /* for 32 bits, and 64 */
    } modes[] = {
        {SpvCapabilityDenormPreserve,
         SpvExecutionModeDenormPreserve,
         {SPIRV_KEEPS_DENORMALS32, SPIRV_KEEPS_DENORMALS64}},
        {SpvCapabilitySignedZeroInfNanPreserve,
         SpvExecutionModeSignedZeroInfNanPreserve,
         {SPIRV_KEEPS_SPECIALS, SPIRV_KEEPS_SPECIALS}},
        {SpvCapabilityRoundingModeRTE, SpvExecutionModeRoundingModeRTE, {SPIRV_ROUNDS_TO_EVEN, SPIRV_ROUNDS_TO_EVEN}}};
    const uint64_t has = vulkan.description.target.features;
    uint32_t op = instruction[0] & SpvOpCodeMask;
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (op == SpvOpCapability && instruction[1] == modes[i].capability)
            return !(has & (modes[i].features[0] | modes[i].features[1]));
        if (op == SpvOpExecutionMode && instruction[2] == modes[i].mode)
            return !(has & modes[i].features[instruction[3] == 64]);
    }
    return false;
}

/* Gives the bytes of a copy: drivers compute as the modes say that kernels are written with. */
static size_t without_foreign_modes(uint32_t *to, const uint32_t *words, size_t bytes)
{
    enum { HEADER = 5 };
    size_t n = HEADER;
    memcpy(to, words, HEADER * sizeof *to);
    for (size_t at = HEADER; at < bytes / sizeof *words; at += words[at] >> SpvWordCountShift) {
        uint32_t size = words[at] >> SpvWordCountShift;
        if (is_foreign(&words[at])) continue;
        memcpy(&to[n], &words[at], size * sizeof *to);
        n += size;
    }
    return n * sizeof *to;
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

static int run_rows(const uint32_t *words, size_t bytes, const struct vulkan_memory *memory, uint32_t groups,
                    uint32_t rows, struct error *e)
{
    VkPipeline pipeline;
    uint32_t *copy = malloc(bytes);
    if (!copy) abort();
    VkResult made = make_pipeline(copy, without_foreign_modes(copy, words, bytes), &pipeline);
    free(copy);
    if (made != VK_SUCCESS) return vulkan_fail(e, NULL, "the driver's self-test cannot be compiled", made);
    int result = run(pipeline, memory->address, groups, rows, e);
    vk.DestroyPipeline(vulkan.device, pipeline, NULL);
    return result;
}

static int run_words(const uint32_t *words, size_t bytes, const struct vulkan_memory *memory, uint32_t groups,
                     struct error *e)
{
    return run_rows(words, bytes, memory, groups, 1, e);
}

static int test_numbers(const uint32_t *words, size_t bytes, bool wide, struct verdict *v, struct error *e)
{
    struct vulkan_memory memory;
    if (vulkan_memory_make(&memory, (uint64_t)CASES * NUMBERS * (wide ? 8 : 4), VULKAN_STAGING, NULL, e) != 0)
        return -1;
    write_cases(memory.host, wide);
    int result = run_words(words, bytes, &memory, CASES, e);
    if (result == 0) *v = judge(memory.host, wide);
    vulkan_memory_free(&memory);
    return result;
}

/* Whether quotients of normal numbers, and roots in few steps, are right for all digits. */
static int test_digits(bool *division, bool *root, struct error *e)
{
    struct vulkan_memory memory;
    if (vulkan_memory_make(&memory, DIGITS_WORDS * sizeof(uint32_t), VULKAN_STAGING, NULL, e) != 0) return -1;
    memset(memory.host, 0, DIGITS_WORDS * sizeof(uint32_t));
    int result = run_rows(words_digits, sizeof words_digits, &memory, DIGITS_X, DIGITS_Y, e);
    const uint32_t *wrong = (const uint32_t *)memory.host;
    *division = !wrong[0];
    *root = !wrong[1];
    vulkan_memory_free(&memory);
    return result;
}

/* ---- loops ---- */

/* Where loops end is by chance, or the table's end. */
static void write_table(uint32_t *table, uint32_t n)
{
    uint64_t state = 2;
    for (uint32_t i = 0; i < n; i++) table[i] = (uint32_t)next_random(&state) | (n == LONG_TABLE);
    table[n - 1] = 8;
}

static uint32_t right_sum(const uint32_t *table, uint32_t from)
{
    uint32_t sum = 0;
    do sum = sum * 31 + table[from++];
    while (table[from] & 7);
    return sum;
}

/* How many work-items, the first ones, have their sums. */
static int test_loop(uint32_t n, uint32_t *right, struct error *e)
{
    struct vulkan_memory memory;
    if (vulkan_memory_make(&memory, (LOOP_ITEMS + n) * sizeof(uint32_t), VULKAN_STAGING, NULL, e) != 0) return -1;
    uint32_t *sums = (uint32_t *)memory.host, *table = sums + LOOP_ITEMS;
    memset(sums, 0, LOOP_ITEMS * sizeof *sums);
    write_table(table, n);
    int result = run_words(words_loop, sizeof words_loop, &memory, 1, e);
    for (*right = 0; *right < LOOP_ITEMS && sums[*right] == right_sum(table, *right);) ++*right;
    vulkan_memory_free(&memory);
    return result;
}

/* Whether work-items keep what they leave a loop with; and the first one, which goes on for longest, gets to its end.
 */
static int test_loops(struct spirv_target *target, struct error *e)
{
    uint32_t of_short, of_long;
    if (test_loop(SHORT_TABLE, &of_short, e) != 0 || test_loop(LONG_TABLE, &of_long, e) != 0) return -1;
    if (of_short == LOOP_ITEMS) target->features |= SPIRV_KEEPS_LOOP_VALUES;
    if (of_long > 0) target->features |= SPIRV_LONG_LOOPS;
    return 0;
}

/* ---- fences ---- */

static int test_fences(struct spirv_target *target, struct error *e)
{
    struct vulkan_memory memory;
    uint32_t marks = 0;
    if (vulkan_memory_make(&memory, FENCE_ITEMS * sizeof(uint32_t), true, NULL, e) != 0) return -1;
    memset(memory.host, 0, FENCE_ITEMS * sizeof(uint32_t));
    int result = run_words(words_fence, sizeof words_fence, &memory, 1, e);
    for (uint32_t i = 0; i < FENCE_ITEMS; i++) marks += ((const uint32_t *)memory.host)[i];
    if (marks == FENCE_ITEMS) target->features |= SPIRV_LONE_FENCES;
    vulkan_memory_free(&memory);
    return result;
}

/* ---- zeros and infinities that are known ---- */

static float float_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* As self_test_known.spvasm has them. Nobody here may know them either. */
static bool is_right_of_known(float x, const uint32_t *results)
{
    const volatile float zero = 0, minus = -0.0f, infinity = INFINITY;
    const float right[KNOWN_RESULTS] = {x / zero,  zero / x,  x * zero,     x + zero,     zero - x,
                                        minus + x, x / minus, x * infinity, x / infinity, infinity - x};
    for (uint32_t i = 0; i < KNOWN_RESULTS; i++) {
        bool same = bits_of(right[i]) == results[i];
        if (!same && !(isnan(right[i]) && isnan(float_of(results[i])))) return false;
    }
    return true;
}

/* Compilers of drivers have shortcuts for them that no other number needs. */
static int test_known(struct spirv_target *target, struct error *e)
{
    static const uint32_t numbers[] = {0, 0x80000000, 0x3f800000, 0xc0490fdb, 0x7f800000, 0xff800000, 0x7fc00000};
    enum { N = sizeof numbers / sizeof *numbers };
    struct vulkan_memory memory;
    bool right = true;
    uint64_t bytes = KNOWN_ITEMS * (1 + KNOWN_RESULTS) * sizeof(uint32_t);
    if (vulkan_memory_make(&memory, bytes, VULKAN_STAGING, NULL, e) != 0) return -1;
    uint32_t *words = (uint32_t *)memory.host, *results = words + KNOWN_ITEMS;
    for (uint32_t i = 0; i < KNOWN_ITEMS; i++) words[i] = numbers[i % N];
    int result = run_words(words_known, sizeof words_known, &memory, 1, e);
    for (uint32_t i = 0; i < KNOWN_ITEMS; i++)
        right &= is_right_of_known(float_of(numbers[i % N]), results + (size_t)i * KNOWN_RESULTS);
    if (right) target->features |= SPIRV_KNOWS_SPECIALS;
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

/* All that the writer knows of floats of 32 bits. */
static int judge_narrow(const struct verdict *v, struct spirv_target *target, struct error *e)
{
    bool division = false, root = false;
    uint64_t found = v->fused ? SPIRV_FMA32 : 0;
    bool divides = v->division && v->denormal_division, takes_roots = v->root && v->denormal_root;
    if (divides) found |= SPIRV_EXACT_DIVISION32;
    if (takes_roots) found |= SPIRV_EXACT_SQRT32;
    target->features |= found;
    if (!v->fused || (divides && takes_roots)) return 0;
    if (test_digits(&division, &root, e) != 0) return -1;
    if (division && v->division) target->features |= SPIRV_NORMAL_DIVISION32;
    if (root) target->features |= SPIRV_QUICK_SQRT32;
    return 0;
}

static void judge_wide(const struct verdict *v, struct spirv_target *target)
{
    if (v->fused) target->features |= SPIRV_FMA64;
    if (v->division) target->features |= SPIRV_EXACT_DIVISION64;
    if (v->root) target->features |= SPIRV_EXACT_SQRT64;
}

int vulkan_self_test(struct gpu_description *d, struct error *e)
{
    struct spirv_target *target = &d->target;
    struct verdict narrow = {0}, wide = {0};
    bool has_wide = target->features & SPIRV_FLOAT64;
    if (test_numbers(words32, sizeof words32, false, &narrow, e) != 0) return -1;
    if (has_wide && test_numbers(words64, sizeof words64, true, &wide, e) != 0) return -1;
    if (test_loops(target, e) != 0 || test_fences(target, e) != 0 || test_known(target, e) != 0) return -1;
    if (!narrow.basics || (has_wide && !wide.basics))
        return error_set(e, FUSION_NOT_FOUND, NULL, "its sums and products of floats are not rounded as IEEE 754 says");
    d->same_addresses = d->shares_memory && keeps_addresses();
    d->flushes_denormals32 = !narrow.denormals;
    d->flushes_denormals64 = has_wide && !wide.denormals;
    if (has_wide) judge_wide(&wide, target);
    return judge_narrow(&narrow, target, e);
}
