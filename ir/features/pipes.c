/* Warnings about properties of pipes. */
#include "ir/features/pipes.h"

#include <stdlib.h>

#include "ir/base/strbuf.h"
#include "ir/core/pipe_properties.h"

/* What a pipe with this property does here that it would not do elsewhere; NULL: nothing. Latency and the order of
   symbols are of wires, and do not change a packet. */
static const char *difference(const struct ir_pipe_property *p)
{
    bool no = !p->value;
    switch (p->what) {
    case IR_PIPE_USES_VALID: return no ? "who reads it still waits until there is a packet" : NULL;
    case IR_PIPE_USES_READY: return no ? "who writes it still waits until there is room" : NULL;
    case IR_PIPE_PROTOCOL:
        return p->value == IR_PIPE_AVALON_MM || p->value == IR_PIPE_AVALON_MM_READY
                   ? "it is no register, but keeps packets in their order until they are read"
                   : NULL;
    default: return NULL;
    }
}

void ir_warn_pipes(const struct ir_module *m, ir_warn *warn, void *data)
{
    bool more = true;
    for (uint32_t i = 0; more && i < m->n_globals; i++) {
        const struct ir_global *g = m->globals[i];
        for (uint32_t k = 0; more && g->linkage != IR_LINKAGE_IMPORT && k < g->n_properties; k++) {
            const char *why = difference(&g->properties[k]);
            struct strbuf out = {0};
            if (!why) continue;
            strbuf_printf(&out, "warning: pipe '%s' has ", g->name);
            ir_pipe_print_property(&out, &g->properties[k]);
            strbuf_printf(&out, "; %s", why);
            char *text = strbuf_take(&out);
            more = warn(data, text);
            free(text);
        }
    }
}
