/* Any bytes as SPIR-V: refused with a finding, or read to a module that text can say again. */
#include <stdlib.h>
#include <string.h>

#include "ir/core/equal.h"
#include "ir/spirv/spirv.h"
#include "ir/text/parse/parse.h"
#include "ir/text/print/print.h"
#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* The validator allocates much and often; what it frees must not fill the memory that a run may take. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "quarantine_size_mb=64";
}

enum { HEADER_WORDS = 5 };

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525 + 1013904223;
    return *state >> 8;
}

/* Changes that leave instructions whole: one word becomes another one of the module or one next to what it was, or
   an instruction goes, comes twice, or changes places with the one behind it. */
static size_t mutate_words(uint32_t *words, size_t n, size_t most, uint32_t *state)
{
    size_t at = HEADER_WORDS, length = 0, steps = next(state) % n;
    for (size_t k = 0; k < steps && at < n; k++) {
        length = words[at] >> 16;
        if (!length || length > n - at || at + length >= n || k + length > steps) break;
        at += length;
    }
    length = words[at] >> 16;
    if (!length || length > n - at) return n;
    size_t word = at + (length > 1 ? 1 + next(state) % (length - 1) : 0);
    switch (next(state) % 6) {
    case 0: memmove(words + at, words + at + length, (n - at - length) * sizeof *words); return n - length;
    case 1:
        if (n + length > most) return n;
        memmove(words + at + length, words + at, (n - at) * sizeof *words);
        return n + length;
    case 2: words[word] += next(state) % 2 ? 1u : UINT32_MAX; return n;
    case 3: words[word] = next(state) % 20; return n;
    default: words[word] = words[HEADER_WORDS + next(state) % (n - HEADER_WORDS)]; return n;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    uint32_t state = seed;
    size_t n = size / 4;
    if (n <= HEADER_WORDS || next(&state) % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
    uint32_t *words = malloc(max_size + 4);
    memcpy(words, data, n * 4);
    for (unsigned k = 1 + next(&state) % 3; k && n > HEADER_WORDS; k--)
        n = mutate_words(words, n, max_size / 4, &state);
    memcpy(data, words, n * 4);
    free(words);
    return n * 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diag_list list = {0};
    struct ir_module *m = ir_read_spirv(data, size, "fuzz", &list);
    fuzz_check(m || list.n > 0, "refused without a finding");
    diag_clear(&list);
    if (!m) return 0;

    char *text = ir_print(m);
    struct ir_module *again = ir_parse(text, strlen(text), "other.fk", &list);
    fuzz_check_list(again, &list, text);
    fuzz_check(ir_module_equal(m, again), "not equal after print and parse");
    ir_module_free(again);
    free(text);
    ir_module_free(m);
    return 0;
}
