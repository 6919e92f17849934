/* Memory for the run: it is freed at the end. */
#include "ir/interp/shadow.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ir/interp/report.h"

void *interp_shadow(struct machine *m, uint64_t n, uint64_t size)
{
    void *memory = calloc(n ? n : 1, size);
    if (!memory) {
        interp_report(m, INTERP_LIMIT, NULL, NULL, "no memory for %" PRIu64 " times %" PRIu64 " bytes", n, size);
        m->stopped = true;
        return NULL;
    }
    m->shadows = arena_grow(m->arena, m->shadows, m->n_shadows, sizeof *m->shadows);
    m->shadows[m->n_shadows++] = memory;
    return memory;
}

void interp_shadow_free(struct machine *m)
{
    for (uint32_t i = 0; i < m->n_shadows; i++) free(m->shadows[i]);
}
