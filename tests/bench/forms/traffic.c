/* Goes along all arrays at the same time, a few lines of each at once: that is faster than pages. */
#include "tests/bench/forms/traffic.h"

#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "tests/bench/measure.h"

enum { STEP = 4 << 10 /* bytes of all arrays together */, LINE = 64 };

size_t form_bytes(const struct form_memory *m)
{
    static const size_t sizes[] = {[FORM_F32] = 4, [FORM_I32] = 4, [FORM_U8] = 1};
    return m->count * sizes[m->type];
}

static uint64_t read_all(const uint64_t *p, size_t bytes)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes / sizeof *p; i++) sum += p[i];
    return sum;
}

static void write_all(char *p, size_t bytes)
{
#ifdef __AVX512F__
    for (size_t i = 0; i + LINE <= bytes; i += LINE) _mm512_stream_si512((void *)(p + i), _mm512_setzero_si512());
#elif defined __SSE2__
    const __m128i zero = _mm_setzero_si128();
    for (size_t i = 0; i + LINE <= bytes; i += LINE)
        for (int k = 0; k < LINE; k += 16) _mm_stream_si128((void *)(p + i + k), zero);
#else
    memset(p, 0, bytes);
#endif
}

static uint64_t move_part(const struct traffic *t, size_t part, size_t parts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->form->n_memory; i++) {
        const struct form_memory *m = &t->form->memory[i];
        size_t lines = form_bytes(m) / LINE, from = lines * part / parts * LINE, to = lines * (part + 1) / parts * LINE;
        if (m->role == FORM_INPUT) sum += read_all((const void *)((const char *)t->memory[i] + from), to - from);
        if (m->role == FORM_RESULT) write_all((char *)t->memory[i] + from, to - from);
    }
    return sum;
}

bool traffic_run(void *self, unsigned repeat, double *ms)
{
    const struct traffic *t = self;
    volatile uint64_t kept; /* so that reading is not for nothing */
    size_t bytes = 0;
    for (unsigned i = 0; i < t->form->n_memory; i++)
        if (t->form->memory[i].role != FORM_BETWEEN) bytes += form_bytes(&t->form->memory[i]);
    size_t parts = bytes / STEP + 1;
    double start = measure_now_ms();
    for (unsigned k = 0; k < repeat; k++) {
        uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
        for (size_t part = 0; part < parts; part++) sum += move_part(t, part, parts);
        kept = sum;
        (void)kept;
    }
    *ms = (measure_now_ms() - start) / repeat;
    return true;
}
