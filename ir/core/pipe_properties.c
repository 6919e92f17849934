/* Properties of pipes. */
#include "ir/core/pipe_properties.h"

#include <string.h>

#include "ir/base/strbuf.h"

static const char *const truth[] = {"false", "true"};
static const char *const protocols[IR_PIPE_PROTOCOL_COUNT] = {"avalon_streaming", "avalon_streaming_uses_ready",
                                                              "avalon_mm", "avalon_mm_uses_ready", "axi_streaming"};

static const struct {
    const char *name;
    uint32_t normal, protocols;
} properties[] = {
#define X(id, name, normal, protocols) {name, normal, protocols},
    IR_PIPE_PROPERTIES(X)
#undef X
};

const char *ir_pipe_property_name(unsigned what)
{
    return properties[what].name;
}

int ir_pipe_property_find(const char *name)
{
    for (int i = 0; i < IR_PIPE_PROPERTY_COUNT; i++)
        if (strcmp(properties[i].name, name) == 0) return i;
    return -1;
}

const char *const *ir_pipe_property_words(unsigned what, unsigned *n)
{
    switch (what) {
    case IR_PIPE_READY_LATENCY:
    case IR_PIPE_BITS_PER_SYMBOL: *n = 0; return NULL;
    case IR_PIPE_PROTOCOL: *n = IR_PIPE_PROTOCOL_COUNT; return protocols;
    default: *n = 2; return truth;
    }
}

static const struct ir_pipe_property *find(const struct ir_global *pipe, unsigned what)
{
    for (uint32_t i = 0; i < pipe->n_properties; i++)
        if (pipe->properties[i].what == what) return &pipe->properties[i];
    return NULL;
}

uint32_t ir_pipe_property(const struct ir_global *pipe, unsigned what)
{
    const struct ir_pipe_property *p = find(pipe, what);
    return p ? p->value : properties[what].normal;
}

bool ir_pipe_property_means(const struct ir_pipe_property *p, unsigned protocol)
{
    return p->value == properties[p->what].normal || properties[p->what].protocols >> protocol & 1;
}

bool ir_pipe_add_property(struct ir_module *m, struct ir_global *pipe, unsigned what, uint32_t value)
{
    uint32_t at = pipe->n_properties;
    if (find(pipe, what)) return false;
    struct ir_pipe_property *list = ir_alloc(m, (at + 1) * sizeof *list);
    if (at) memcpy(list, pipe->properties, at * sizeof *list);
    for (; at && list[at - 1].what > what; at--) list[at] = list[at - 1];
    list[at] = (struct ir_pipe_property){what, value};
    pipe->properties = list;
    pipe->n_properties++;
    return true;
}

bool ir_pipe_same_properties(const struct ir_global *a, const struct ir_global *b)
{
    if (a->n_properties != b->n_properties) return false;
    for (uint32_t i = 0; i < a->n_properties; i++)
        if (a->properties[i].what != b->properties[i].what || a->properties[i].value != b->properties[i].value)
            return false;
    return true;
}

void ir_pipe_print_property(struct strbuf *out, const struct ir_pipe_property *p)
{
    unsigned n;
    const char *const *words = ir_pipe_property_words(p->what, &n);
    if (words && p->value < n)
        strbuf_printf(out, "%s %s", properties[p->what].name, words[p->value]);
    else
        strbuf_printf(out, "%s %u", properties[p->what].name, p->value);
}
