/* Modules and functions as text. */
#include "ir/text/print/print.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/core/pipe_properties.h"
#include "ir/text/print/print_basic.h"
#include "ir/text/print/print_init.h"
#include "ir/text/print/print_inst.h"
#include "ir/text/print/value_numbers.h"
#include "ir/text/words.h"

/* ---- functions ---- */

static void print_param(struct printer *p, const struct ir_param *param)
{
    print_name(p, param->value);
    strbuf_add(&p->out, ": ");
    print_type(p, param->value ? param->value->type : IR_VOID);
    if (param->elem != IR_VOID) {
        strbuf_add(&p->out, " ");
        print_type(p, param->elem);
    }
    if (param->by_value) strbuf_add(&p->out, " by_value");
    if (param->access != IR_ACCESS_UNKNOWN && param->access < IR_ACCESS_COUNT)
        strbuf_printf(&p->out, " %s", ir_access_words[param->access]);
}

static void print_size(struct printer *p, const char *word, const uint32_t size[3])
{
    if (size[0] || size[1] || size[2]) strbuf_printf(&p->out, " %s(%u, %u, %u)", word, size[0], size[1], size[2]);
}

static void print_assumptions(struct printer *p, uint32_t set)
{
    const char *before = " assumes(";
    for (unsigned bit = 0; ir_assumption_name(bit); bit++) {
        if (!(set >> bit & 1)) continue;
        strbuf_printf(&p->out, "%s%s", before, ir_assumption_name(bit));
        before = ", ";
    }
    strbuf_add(&p->out, ")");
}

static void print_aspects(struct printer *p, const char *word, uint64_t set)
{
    uint8_t bits[IR_ASPECT_BITS];
    unsigned n = ir_aspects_in_order(p->m, set, bits);
    strbuf_printf(&p->out, " %s(", word);
    for (unsigned i = 0; i < n; i++)
        strbuf_printf(&p->out, "%s%s", i ? ", " : "", ir_module_aspect_name(p->m, bits[i]));
    strbuf_add(&p->out, ")");
}

static void print_targets(struct printer *p, const char *word, const char *const *names, uint32_t n)
{
    strbuf_printf(&p->out, " %s(", word);
    for (uint32_t i = 0; i < n; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_string(p, names[i]);
    }
    strbuf_add(&p->out, ")");
}

static void print_attributes(struct printer *p, const struct ir_function *f)
{
    print_size(p, "work_group_size", f->work_group_size);
    print_size(p, "work_group_size_hint", f->work_group_size_hint);
    if (f->sub_group_size == IR_SUB_GROUP_AUTOMATIC) {
        strbuf_add(&p->out, " sub_group_size(automatic)");
    } else if (f->sub_group_size == IR_SUB_GROUP_PRIMARY) {
        strbuf_add(&p->out, " sub_group_size(primary)");
    } else if (f->sub_group_size) {
        strbuf_printf(&p->out, " sub_group_size(%u)", f->sub_group_size);
    }
    if (f->sub_groups_per_work_group)
        strbuf_printf(&p->out, " sub_groups_per_work_group(%u)", f->sub_groups_per_work_group);
    if (f->has_declared) print_aspects(p, "aspects", f->aspects_declared);
    if (f->aspects_used) print_aspects(p, "uses", f->aspects_used);
    if (f->assumes) print_assumptions(p, f->assumes);
    if (f->has_targets) print_targets(p, "targets", f->targets, f->n_targets);
    if (f->has_compiled) print_targets(p, "compiled", f->compiled, f->n_compiled);
    if (f->refused) {
        strbuf_add(&p->out, " refused(");
        print_string(p, f->refused);
        strbuf_add(&p->out, ")");
    }
}

static void print_function(struct printer *p, const struct ir_function *f)
{
    static const char *const words[] = {"func", "export func", "import func", "kernel", "export once func"};
    print_number_function(p, f);
    strbuf_printf(&p->out, "%s @%s(", f->linkage < IR_LINKAGE_COUNT ? words[f->linkage] : "?", f->name);
    for (uint32_t i = 0; i < f->n_params; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_param(p, &f->params[i]);
    }
    strbuf_add(&p->out, ")");
    if (f->result != IR_VOID) {
        strbuf_add(&p->out, " -> ");
        print_type(p, f->result);
    }
    print_attributes(p, f);
    print_loc(p, f->loc);
    if (f->body && !f->refused) print_block(p, f->body);
    strbuf_add(&p->out, "\n");
}

/* ---- modules ---- */

static bool is_natural(const struct ir_module *m, const struct ir_struct *s)
{
    struct ir_struct natural = *s;
    natural.fields = arena_realloc(NULL, s->n_fields * sizeof *s->fields);
    memcpy(natural.fields, s->fields, s->n_fields * sizeof *s->fields);
    ir_struct_natural_layout(m, &natural);
    bool same = natural.size == s->size && natural.align == s->align;
    for (uint32_t i = 0; i < s->n_fields; i++) same = same && natural.fields[i].offset == s->fields[i].offset;
    free(natural.fields);
    return same;
}

static void print_struct(struct printer *p, const struct ir_struct *s)
{
    bool natural = is_natural(p->m, s);
    strbuf_printf(&p->out, "struct %s", s->name);
    if (s->aspects_used) print_aspects(p, "uses", s->aspects_used);
    strbuf_add(&p->out, " {");
    for (uint32_t i = 0; i < s->n_fields; i++) {
        strbuf_add(&p->out, i ? ", " : " ");
        if (s->fields[i].name) strbuf_printf(&p->out, "%s: ", s->fields[i].name);
        print_type(p, s->fields[i].type);
        if (!natural) strbuf_printf(&p->out, " @ %u", s->fields[i].offset);
    }
    strbuf_add(&p->out, s->n_fields ? " }" : "}");
    if (!natural) strbuf_printf(&p->out, " size %u align %u", s->size, s->align);
    strbuf_add(&p->out, "\n");
}

static void print_linkage(struct printer *p, enum ir_linkage linkage)
{
    if (linkage == IR_LINKAGE_EXPORT) strbuf_add(&p->out, "export ");
    if (linkage == IR_LINKAGE_EXPORT_ONCE) strbuf_add(&p->out, "export once ");
    if (linkage == IR_LINKAGE_IMPORT) strbuf_add(&p->out, "import ");
}

static void print_pipe(struct printer *p, const struct ir_global *g)
{
    print_type(p, g->type);
    strbuf_printf(&p->out, " @%s: packet ", g->name);
    print_type(p, g->packet);
    strbuf_printf(&p->out, " capacity %u", g->capacity);
    if (g->host_access) {
        strbuf_add(&p->out, " host_access ");
        print_string(p, g->host_access);
    }
    for (uint32_t i = 0; i < g->n_properties; i++) {
        strbuf_add(&p->out, " ");
        ir_pipe_print_property(&p->out, &g->properties[i]);
    }
}

static void print_variable(struct printer *p, const struct ir_global *g)
{
    strbuf_printf(&p->out, "%s @%s: ", g->space < IR_SPACE_COUNT ? ir_space_words[g->space] : "?", g->name);
    print_type(p, g->type);
}

static void print_global(struct printer *p, const struct ir_global *g)
{
    print_linkage(p, g->linkage);
    if (ir_type_kind(g->type) == IR_KIND_PIPE) {
        print_pipe(p, g);
    } else {
        print_variable(p, g);
    }
    if (g->align != ir_type_align(p->m, g->type)) strbuf_printf(&p->out, " align %u", g->align);
    if (g->init) {
        strbuf_add(&p->out, " = ");
        ir_print_init(&p->out, p->m, g);
    }
    strbuf_add(&p->out, "\n");
}

/* The file of most interest: that of the first function that has one. */
static void print_source(struct printer *p)
{
    for (uint32_t i = 0; i < p->m->n_functions && !p->loc.file; i++) p->loc.file = p->m->functions[i]->loc.file;
    strbuf_add(&p->out, "source ");
    print_file(p, p->loc.file);
    strbuf_add(&p->out, "\n");
}

static void print_aspect_numbers(struct printer *p)
{
    const struct ir_module *m = p->m;
    for (uint32_t i = 0; i < m->n_aspect_numbers; i++)
        strbuf_printf(&p->out, "%s%s = %u", i ? ", " : "aspects { ", m->aspect_numbers[i].name,
                      m->aspect_numbers[i].number);
    if (m->n_aspect_numbers) strbuf_add(&p->out, " }\n");
}

static char *finish_text(struct printer *p)
{
    print_forget_numbers(p);
    return strbuf_take(&p->out);
}

char *ir_print(const struct ir_module *m)
{
    struct printer p = {.m = m};
    if (m->name) {
        strbuf_add(&p.out, "module ");
        print_string(&p, m->name);
        strbuf_add(&p.out, "\n");
    }
    print_source(&p);
    print_aspect_numbers(&p);
    for (uint32_t i = 0; i < m->n_structs; i++) print_struct(&p, m->structs[i]);
    for (uint32_t i = 0; i < m->n_globals; i++) print_global(&p, m->globals[i]);
    for (uint32_t i = 0; i < m->n_functions; i++) {
        strbuf_add(&p.out, "\n");
        print_function(&p, m->functions[i]);
    }
    return finish_text(&p);
}

char *ir_print_function(const struct ir_function *f)
{
    struct printer p = {.m = f->module, .no_locations = true};
    print_function(&p, f);
    return finish_text(&p);
}

char *ir_print_inst(const struct ir_inst *inst)
{
    struct printer p = {.no_locations = true};
    const struct ir_function *f = inst->parent ? inst->parent->function : NULL;
    if (f) {
        p.m = f->module;
        print_number_function(&p, f);
    }
    print_inst_head(&p, inst);
    return finish_text(&p);
}
