/*
 * Mutated modules through the SPIR-V reader: mutate_spirv FILE.spv... A case is a file; of each, many modules that
 * differ from it in a few places. None may crash the reader, take it more than a second, or more memory than 100
 * times its size. FUSIOND_TEST_CASES says how many modules there are in all, in hundreds.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ir/spirv/spirv.h"
#include "tests/support/cases.h"
#include "tests/support/measure.h"
#include "tests/support/rng.h"

enum { HEADER_WORDS = 5, BOUND = 3, HUNDRED = 100, USUAL = 200, STUCK_SECONDS = 60 };

/* ---- mutations ---- */

struct module {
    uint32_t *words;
    size_t size, room; /* bytes */
    struct rng rng;
};

static size_t n_words(const struct module *m)
{
    return m->size / 4;
}

static size_t any(struct module *m, size_t n)
{
    return rng_below(&m->rng, (uint32_t)n);
}

/* Numbers at the ends of ranges, and words that begin instructions. */
static uint32_t interesting(struct module *m)
{
    static const uint32_t words[] = {0, 1, 2, 3, 4, 8, 16, 31, 32, 64, 255, 1024, 0x7fff, 0xffff, 0x10000, 0x7fffffff};
    uint32_t word = words[any(m, sizeof words / sizeof *words)];
    switch (any(m, 6)) {
    case 0: return ~word;
    case 1: return 1u << any(m, 32);
    case 2: return m->words[BOUND] - 2 + (uint32_t)any(m, 4);
    case 3: return (uint32_t)(1 + any(m, 8)) << 16 | (uint32_t)any(m, 420);
    default: return word;
    }
}

static void remove_words(struct module *m, size_t at, size_t n)
{
    memmove(m->words + at, m->words + at + n, (n_words(m) - at - n) * 4);
    m->size -= n * 4;
}

/* A copy of n words goes to another place. */
static void copy_words(struct module *m, size_t from, size_t n, size_t to)
{
    if (m->size + n * 4 > m->room) return;
    uint32_t *copy = malloc(n * 4);
    memcpy(copy, m->words + from, n * 4);
    memmove(m->words + to + n, m->words + to, (n_words(m) - to) * 4);
    memcpy(m->words + to, copy, n * 4);
    m->size += n * 4;
    free(copy);
}

static void change_word(struct module *m)
{
    size_t at = any(m, n_words(m)), other = any(m, n_words(m));
    uint32_t *w = m->words + at, kept = *w;
    switch (any(m, 8)) {
    case 0: *w ^= 1u << any(m, 32); break;
    case 1: *w = interesting(m); break;
    case 2: *w = m->words[other]; break;
    case 3: *w += any(m, 2) ? 1u : UINT32_MAX; break;
    case 4: *w = (uint32_t)any(m, m->words[BOUND] % 65536 + 1); break;
    case 5: remove_words(m, at, 1); break;
    case 6: copy_words(m, at, 1, at); break;
    default:
        *w = m->words[other];
        m->words[other] = kept;
        break;
    }
}

/* Where an instruction begins, from the header on; the end where the module has none. */
static size_t any_instruction(struct module *m)
{
    size_t n = n_words(m), stop = HEADER_WORDS + any(m, n), at = HEADER_WORDS;
    while (at < n) {
        size_t length = m->words[at] >> 16;
        if (!length || length > n - at || at + length > stop) break;
        at += length;
    }
    return at < n ? at : n;
}

static void change_instruction(struct module *m)
{
    size_t at = any_instruction(m), other = any_instruction(m), n = n_words(m);
    size_t length = at < n ? m->words[at] >> 16 : 0;
    if (!length || length > n - at) return;
    size_t operand = at + any(m, length);
    switch (any(m, 8)) {
    case 0: remove_words(m, at, length); break;
    case 1: copy_words(m, at, length, at); break;
    case 2: copy_words(m, at, length, other); break;
    case 3:
        copy_words(m, at, length, other);
        remove_words(m, at < other ? at : at + (n_words(m) - n), length);
        break;
    case 4: m->words[at] = (m->words[at] & 0xffff) | (uint32_t)any(m, 2 * length + 2) << 16; break;
    case 5: m->words[at] = (m->words[at] & 0xffff0000) | (uint32_t)any(m, 420); break;
    case 6: m->words[operand] = (uint32_t)any(m, m->words[BOUND] % 65536 + 1); break;
    default: m->words[operand] = interesting(m); break;
    }
}

/* At any byte, at a word's end, at an instruction's end, inside of one. */
static void truncate_module(struct module *m)
{
    switch (any(m, 4)) {
    case 0: m->size = any(m, m->size); break;
    case 1: m->size = any(m, n_words(m)) * 4; break;
    case 2: m->size = any_instruction(m) * 4; break;
    default: {
        size_t at = any_instruction(m) * 4 + any(m, 8);
        if (at < m->size) m->size = at;
        break;
    }
    }
}

/* The same module for the same number. */
static void mutate(struct module *m, const uint8_t *bytes, size_t size, uint32_t number)
{
    memcpy(m->words, bytes, size);
    m->size = size;
    m->rng = (struct rng){number};
    for (size_t steps = 1 + any(m, 4) * any(m, 2); steps && n_words(m) > HEADER_WORDS; steps--) {
        size_t kind = any(m, 16);
        if (kind == 0)
            truncate_module(m);
        else if (kind < 7)
            change_word(m);
        else
            change_instruction(m);
    }
}

/* ---- one file ---- */

/* What the process that reads tells the one that waits for it. */
struct report {
    uint32_t number;        /* of the module at hand */
    uint32_t read;          /* how many were read and not refused */
    double seconds, memory; /* the worst; memory in module sizes */
    uint32_t slowest, largest;
    char failed[200];
};

static char **files;
static uint32_t n_files;
static struct report worst;
static uint32_t n_modules, n_read;

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, f), *size);
    fclose(f);
    return bytes;
}

/* From memory of exactly its size, so that a sanitizer sees what is read beyond its end. */
static void read_one(const struct module *m, struct report *r)
{
    uint8_t *bytes = malloc(m->size);
    memcpy(bytes, m->words, m->size);
    struct diag_list list = {0};
    struct measure cost;
    measure_begin(&cost);
    struct ir_module *ir = ir_read_spirv(bytes, m->size, "mutated", &list);
    measure_end(&cost);
    if (!ir && !list.n) snprintf(r->failed, sizeof r->failed, "it is refused without a word");
    r->read += ir != NULL;
    ir_module_free(ir);
    diag_clear(&list);
    free(bytes);
    double over = cost.peak > MEASURE_EMPTY_MODULE ? (double)(cost.peak - MEASURE_EMPTY_MODULE) / (double)m->size : 0;
    if (cost.seconds > r->seconds) {
        r->seconds = cost.seconds;
        r->slowest = r->number;
    }
    if (over > r->memory) {
        r->memory = over;
        r->largest = r->number;
    }
    if (measure_is_plain && cost.seconds > 1) snprintf(r->failed, sizeof r->failed, "it takes %.2f s", cost.seconds);
    if (over > 100) snprintf(r->failed, sizeof r->failed, "it takes %zu bytes of memory", cost.peak);
}

static void read_all(struct module *m, const uint8_t *bytes, size_t size, uint32_t count, struct report *r)
{
    for (r->number = 0; r->number < count && !*r->failed; r->number += !*r->failed) {
        alarm(STUCK_SECONDS);
        mutate(m, bytes, size, r->number);
        if (m->size) read_one(m, r);
    }
}

static void keep_finding(const struct module *m)
{
    FILE *f = fopen("mutate_spirv-finding.spv", "wb");
    if (!f) return;
    fwrite(m->words, 1, m->size, f);
    fclose(f);
}

/* The reader has a process of its own, so that the module is known that it dies of. */
static void test_file(void **state)
{
    const char *path = *state;
    size_t size;
    uint8_t *bytes = read_file(path, &size);
    struct module m = {.room = size + 4096};
    m.words = malloc(m.room);
    uint32_t count = test_cases(USUAL) * HUNDRED / n_files + 1;
    struct report *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(r != MAP_FAILED);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        static const int caught[] = {SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGSYS, SIGABRT};
        if (measure_is_plain)
            for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], SIG_DFL);
        read_all(&m, bytes, size, count, r);
        _exit(0);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (status && !*r->failed) snprintf(r->failed, sizeof r->failed, "the reader dies of it, status 0x%x", status);
    if (*r->failed) {
        mutate(&m, bytes, size, r->number);
        keep_finding(&m);
        fail_msg("module %u of %s: %s; it is kept in mutate_spirv-finding.spv", r->number, path, r->failed);
    }
    n_modules += count;
    n_read += r->read;
    if (r->seconds > worst.seconds) worst.seconds = r->seconds;
    if (r->memory > worst.memory) worst.memory = r->memory;
    fprintf(stderr, "# %s: %u modules, %u read; at most %.1f ms (module %u), %.1f times its size (module %u)\n", path,
            count, r->read, r->seconds * 1e3, r->slowest, r->memory, r->largest);
    munmap(r, sizeof *r);
    free(m.words);
    free(bytes);
}

static int tell_worst(void **state)
{
    (void)state;
    fprintf(stderr, "# %u modules, %u read; at most %.1f ms and %.1f times the module's size\n", n_modules, n_read,
            worst.seconds * 1e3, worst.memory);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: mutate_spirv FILE.spv...\n");
        return 2;
    }
    files = argv + 1;
    n_files = (uint32_t)argc - 1;
    struct CMUnitTest *tests = calloc(n_files, sizeof *tests);
    for (uint32_t k = 0; k < n_files; k++) {
        const char *slash = strrchr(files[k], '/');
        tests[k] = (struct CMUnitTest){.name = slash ? slash + 1 : files[k], .test_func = test_file};
        tests[k].initial_state = files[k];
    }
    int failed = _cmocka_run_group_tests("mutate_spirv", tests, n_files, NULL, tell_worst);
    free(tests);
    return failed;
}
