/* The text form: modules, functions and instructions as text. docs/ir.md is its reference. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/text/print_internal.h"
#include "ir/base/strbuf.h"
#include "ir/text/text.h"
#include "ir/text/words.h"

/* Numbers of a function's unnamed values, in an open hash table: scratch belongs to the running pass. */
struct numbers {
    const struct ir_value **values;
    uint32_t *number;
    size_t n, capacity; /* a power of two */
};

struct printer {
    struct strbuf out;
    const struct ir_module *m;
    struct numbers numbers;
    struct ir_loc loc; /* what an instruction without a mark has */
    bool no_locations; /* for single functions and instructions */
    unsigned depth;
};

/* ---- numbers of unnamed values ---- */

static size_t slot_of(const struct numbers *n, const struct ir_value *v)
{
    size_t i = ((uintptr_t)v >> 4) * 0x9e3779b97f4a7c15u >> 20;
    for (i &= n->capacity - 1; n->values[i] && n->values[i] != v; i = (i + 1) & (n->capacity - 1)) continue;
    return i;
}

static void resize(struct numbers *n)
{
    struct numbers larger = {.n = n->n, .capacity = n->capacity ? 2 * n->capacity : 64};
    larger.values = arena_realloc(NULL, larger.capacity * sizeof *larger.values);
    larger.number = arena_realloc(NULL, larger.capacity * sizeof *larger.number);
    memset(larger.values, 0, larger.capacity * sizeof *larger.values);
    for (size_t i = 0; i < n->capacity; i++) {
        if (!n->values[i]) continue;
        size_t to = slot_of(&larger, n->values[i]);
        larger.values[to] = n->values[i];
        larger.number[to] = n->number[i];
    }
    free(n->values);
    free(n->number);
    *n = larger;
}

static void number_value(struct numbers *n, const struct ir_value *v)
{
    if (!v || v->name) return;
    if (2 * n->n >= n->capacity) resize(n);
    size_t i = slot_of(n, v);
    if (n->values[i]) return;
    n->values[i] = v;
    n->number[i] = (uint32_t)n->n++;
}

static void number_inst(struct ir_inst *inst, void *data)
{
    for (uint32_t i = 0; i < inst->n_results; i++) number_value(data, inst->results[i]);
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; inst->blocks[k] && i < inst->blocks[k]->n_args; i++)
            number_value(data, inst->blocks[k]->args[i]);
}

static void number_function(struct printer *p, const struct ir_function *f)
{
    free(p->numbers.values);
    free(p->numbers.number);
    p->numbers = (struct numbers){0};
    for (uint32_t i = 0; i < f->n_params; i++) number_value(&p->numbers, f->params[i].value);
    if (f->body && !f->refused) ir_walk(f->body, number_inst, &p->numbers);
}

static char *finish(struct printer *p)
{
    free(p->numbers.values);
    free(p->numbers.number);
    return strbuf_take(&p->out);
}

/* ---- types, strings, locations ---- */

void ir_print_type_to(struct strbuf *b, const struct ir_module *m, ir_type t)
{
    unsigned closing = 0;
    const struct ir_array *a;
    while ((a = m ? ir_type_array(m, t) : NULL) && closing < 2 * 64) {
        strbuf_printf(b, "[%" PRIu64 " x ", a->count);
        t = a->element;
        closing++;
    }
    enum ir_kind kind = ir_type_kind(t);
    const struct ir_struct *s = m ? ir_type_struct(m, t) : NULL;
    uint32_t detail = ir_type_detail(t);
    if (s) {
        strbuf_printf(b, "struct %s", s->name ? s->name : "?");
    } else if (kind == IR_KIND_PTR) {
        strbuf_printf(b, "ptr.%s", detail < IR_SPACE_COUNT ? ir_space_words[detail] : "?");
    } else if (kind == IR_KIND_IMAGE || kind == IR_KIND_PIPE) {
        unsigned access = ir_type_handle_access(t) + 1, form = ir_type_image_form(t);
        const char *image = form < IR_IMAGE_FORM_COUNT ? ir_image_words[form] : "image?";
        strbuf_printf(b, "%s.%s", kind == IR_KIND_PIPE ? "pipe" : image,
                      access < IR_ACCESS_COUNT ? ir_access_words[access] : "?");
    } else if (kind < IR_KIND_COUNT && ir_scalar_words[kind]) {
        strbuf_add(b, ir_scalar_words[kind]);
        if (ir_type_lanes(t) != 1) strbuf_printf(b, "x%u", ir_type_lanes(t));
    } else {
        strbuf_printf(b, "?%#x", t);
    }
    while (closing--) strbuf_add(b, "]");
}

const char *ir_print_type(const struct ir_module *m, ir_type t, char *buf, size_t size)
{
    struct strbuf b = {0};
    ir_print_type_to(&b, m, t);
    char *text = strbuf_take(&b);
    if (size) snprintf(buf, size, "%s", text);
    free(text);
    return buf;
}

static void print_type(struct printer *p, ir_type t)
{
    ir_print_type_to(&p->out, p->m, t);
}

static void print_string(struct printer *p, const char *s)
{
    strbuf_add(&p->out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            strbuf_printf(&p->out, "\\%c", *s);
        } else if ((unsigned char)*s < ' ' || *s == 127) {
            strbuf_printf(&p->out, "\\x%02x", (unsigned char)*s);
        } else {
            strbuf_add_bytes(&p->out, s, 1);
        }
    }
    strbuf_add(&p->out, "\"");
}

static const char *file_name(const struct ir_module *m, uint32_t file)
{
    return file && file <= m->n_files ? m->files[file - 1] : NULL;
}

/* The mark behind an instruction whose place differs from that of the one before. */
static void print_loc(struct printer *p, struct ir_loc loc)
{
    if (p->no_locations || (loc.file == p->loc.file && loc.line == p->loc.line)) return;
    const char *file = file_name(p->m, loc.file);
    strbuf_add(&p->out, " !");
    if (loc.file != p->loc.file) {
        if (file) {
            print_string(p, file);
        } else {
            strbuf_add(&p->out, "none");
        }
        strbuf_add(&p->out, ":");
    }
    strbuf_printf(&p->out, "%u", loc.line);
    p->loc = loc;
}

static void new_line(struct printer *p)
{
    strbuf_add(&p->out, "\n");
    for (unsigned i = 0; i < p->depth; i++) strbuf_add(&p->out, "    ");
}

/* ---- values ---- */

static void print_name(struct printer *p, const struct ir_value *v)
{
    if (!v) {
        strbuf_add(&p->out, "%?");
    } else if (v->name) {
        strbuf_printf(&p->out, "%%%s", v->name);
    } else {
        size_t slot = p->numbers.capacity ? slot_of(&p->numbers, v) : 0;
        bool known = p->numbers.capacity && p->numbers.values[slot];
        if (known) {
            strbuf_printf(&p->out, "%%%u", p->numbers.number[slot]);
        } else {
            strbuf_add(&p->out, "%?");
        }
    }
}

static bool all_lanes_equal(const uint64_t *lanes, unsigned n)
{
    for (unsigned i = 1; i < n; i++)
        if (lanes[i] != lanes[0]) return false;
    return true;
}

void ir_print_lanes(struct strbuf *b, ir_type t, const uint64_t *lanes)
{
    char text[IR_NUMBER_TEXT];
    unsigned n = ir_type_lanes(t);
    if (all_lanes_equal(lanes, n)) {
        ir_number_format(ir_type_kind(t), lanes[0], text);
        strbuf_add(b, text);
        return;
    }
    for (unsigned i = 0; i < n; i++) {
        ir_number_format(ir_type_kind(t), lanes[i], text);
        strbuf_printf(b, "%s%s", i ? ", " : "<", text);
    }
    strbuf_add(b, ">");
}

static void print_value(struct printer *p, const struct ir_value *v, ir_type expected)
{
    if (!v || (v->kind != IR_VALUE_CONST && v->kind != IR_VALUE_UNDEF)) {
        print_name(p, v);
        return;
    }
    if (v->type != expected) {
        print_type(p, v->type);
        strbuf_add(&p->out, " ");
    }
    if (v->kind == IR_VALUE_UNDEF) {
        strbuf_add(&p->out, "undef");
    } else if (ir_type_is_number(v->type)) {
        ir_print_lanes(&p->out, v->type, v->of.lanes);
    } else {
        strbuf_add(&p->out, "null");
    }
}

/* ---- instructions ---- */

/* Attributes and operands of an instruction in a row: the first after a space, the rest after commas. */
static void next_item(struct printer *p, bool *first)
{
    strbuf_add(&p->out, *first ? " " : ", ");
    *first = false;
}

static void print_word(struct printer *p, bool *first, const char *const *words, unsigned n, unsigned i)
{
    next_item(p, first);
    strbuf_add(&p->out, i < n && words[i] ? words[i] : "?");
}

static void print_bits(struct printer *p, bool *first, const char *const *words, unsigned n, unsigned bits)
{
    for (unsigned i = 0; i < n; i++)
        if (bits >> i & 1) print_word(p, first, words, n, i);
}

static void print_field(struct printer *p, bool *first, const struct ir_inst *inst)
{
    const struct ir_struct *s = ir_type_struct(p->m, inst->type);
    uint32_t i = inst->attrs.index;
    next_item(p, first);
    if (s && i < s->n_fields && s->fields[i].name) {
        strbuf_add(&p->out, s->fields[i].name);
    } else {
        strbuf_printf(&p->out, "%u", i);
    }
}

static void print_mask(struct printer *p, bool *first, const struct ir_inst *inst)
{
    next_item(p, first);
    for (unsigned i = 0; i < ir_type_lanes(inst->type) && i < IR_MAX_LANES; i++)
        strbuf_printf(&p->out, "%s%d", i ? ", " : "[", inst->attrs.mask[i]);
    strbuf_add(&p->out, "]");
}

/* One attribute, where it differs from what its absence means. */
static void print_attr(struct printer *p, bool *first, const struct ir_inst *inst, char letter)
{
    const struct ir_attrs *a = &inst->attrs;
    switch (letter) {
    case 'd': print_word(p, first, ir_dim_words, 3, a->dim); break;
    case 's': print_word(p, first, ir_scope_words, IR_SCOPE_COUNT, a->scope); break;
    case 'o':
        if (a->order) print_word(p, first, ir_order_words, IR_ORDER_COUNT, a->order);
        break;
    case 'O':
        if (!a->order_fail) break;
        next_item(p, first);
        strbuf_printf(&p->out, "fail %s", a->order_fail < IR_ORDER_COUNT ? ir_order_words[a->order_fail] : "?");
        break;
    case 'r':
        if (a->rounding) print_word(p, first, ir_rounding_words, IR_ROUND_COUNT, a->rounding);
        break;
    case 't':
        if (a->saturate) next_item(p, first), strbuf_add(&p->out, "saturate");
        break;
    case 'a':
        if (a->align) next_item(p, first), strbuf_printf(&p->out, "align %u", a->align);
        break;
    case 'v':
        if (a->is_volatile) next_item(p, first), strbuf_add(&p->out, "volatile");
        break;
    case 'g': print_word(p, first, ir_group_words, IR_GROUP_OP_COUNT, a->group_op); break;
    case 'f': print_bits(p, first, ir_fp_words, IR_FP_WORDS, a->fp); break;
    case 'k': print_bits(p, first, ir_fence_words, IR_FENCE_WORDS, a->fence); break;
    case 'p':
        if (a->space && inst->op != IR_OP_GLOBAL) print_word(p, first, ir_space_words, IR_SPACE_COUNT, a->space);
        break;
    case 'x': print_field(p, first, inst); break;
    case 'm': print_mask(p, first, inst); break;
    case 'y': next_item(p, first), strbuf_printf(&p->out, "@%s", a->global ? a->global->name : "?"); break;
    default: break;
    }
}

static void print_results(struct printer *p, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_results; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_name(p, inst->results[i]);
    }
    if (inst->n_results) strbuf_add(&p->out, " = ");
    strbuf_add(&p->out, ir_op_info(inst->op)->text);
}

static void print_result_types(struct printer *p, const struct ir_inst *inst)
{
    for (uint32_t i = 0; i < inst->n_results; i++) {
        strbuf_add(&p->out, i ? ", " : " -> ");
        print_type(p, inst->results[i]->type);
    }
}

static void print_call(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_function *callee = inst->attrs.callee;
    strbuf_printf(&p->out, " @%s(", callee ? callee->name : "?");
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        if (i) strbuf_add(&p->out, ", ");
        print_value(p, inst->operands[i], ir_argument_type(callee, i));
    }
    strbuf_add(&p->out, ")");
}

static void print_loop_head(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_block *body = inst->blocks[0];
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        strbuf_add(&p->out, i ? ", " : " (");
        const struct ir_value *arg = body && i < body->n_args ? body->args[i] : NULL;
        ir_type t = arg ? arg->type : IR_VOID;
        print_name(p, arg);
        strbuf_add(&p->out, ": ");
        print_type(p, t);
        strbuf_add(&p->out, " = ");
        print_value(p, inst->operands[i], t);
    }
    if (inst->n_operands) strbuf_add(&p->out, ")");
    print_result_types(p, inst);
}

static bool is_terminator(enum ir_op op)
{
    return ir_op_info(op)->flags & IR_FLAG_TERMINATOR;
}

static void print_ordinary(struct printer *p, const struct ir_inst *inst)
{
    const struct ir_op_info *info = ir_op_info(inst->op);
    if (info->type_class != '-') {
        strbuf_add(&p->out, " ");
        print_type(p, inst->type);
    }
    bool first = true;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        next_item(p, &first);
        ir_type expected = is_terminator(inst->op) ? ir_carried_type(inst->parent, inst->op, i)
                                                   : ir_operand_type(inst->op, inst->type, inst->operands[0], i);
        print_value(p, inst->operands[i], expected);
    }
    for (const char *letter = info->attrs; *letter; letter++) print_attr(p, &first, inst, *letter);
}

/* The line of an instruction, without its location and its blocks. */
static void print_head(struct printer *p, const struct ir_inst *inst)
{
    print_results(p, inst);
    switch (inst->op) {
    case IR_OP_CALL: print_call(p, inst); break;
    case IR_OP_LOOP: print_loop_head(p, inst); break;
    case IR_OP_IF:
        strbuf_add(&p->out, " ");
        print_value(p, inst->n_operands ? inst->operands[0] : NULL, IR_BOOL);
        print_result_types(p, inst);
        break;
    default: print_ordinary(p, inst);
    }
}

static void print_inst(struct printer *p, const struct ir_inst *inst);

static void print_block(struct printer *p, const struct ir_block *block)
{
    strbuf_add(&p->out, " {");
    p->depth++;
    for (const struct ir_inst *inst = block ? block->first : NULL; inst; inst = inst->next) {
        new_line(p);
        print_inst(p, inst);
    }
    p->depth--;
    new_line(p);
    strbuf_add(&p->out, "}");
}

/* An else block that a reader would supply by itself. */
static bool implied_else(const struct printer *p, const struct ir_inst *inst)
{
    const struct ir_inst *only = inst->blocks[1] ? inst->blocks[1]->first : NULL;
    return only && !only->next && only->op == IR_OP_YIELD && !only->n_operands && !inst->n_results &&
           (p->no_locations || (only->loc.file == p->loc.file && only->loc.line == p->loc.line));
}

static void print_inst(struct printer *p, const struct ir_inst *inst)
{
    print_head(p, inst);
    print_loc(p, inst->loc);
    if (inst->op != IR_OP_IF && inst->op != IR_OP_LOOP) return;
    print_block(p, inst->blocks[0]);
    if (inst->op == IR_OP_IF && !implied_else(p, inst)) {
        strbuf_add(&p->out, " else");
        print_block(p, inst->blocks[1]);
    }
}

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
    if (f->has_declared) {
        const char *before = " aspects(";
        for (unsigned bit = 0; bit < IR_ASPECT_COUNT; bit++) {
            if (!(f->aspects_declared >> bit & 1)) continue;
            strbuf_printf(&p->out, "%s%s", before, ir_aspect_name(bit));
            before = ", ";
        }
        strbuf_add(&p->out, f->aspects_declared ? ")" : " aspects()");
    }
    for (uint32_t i = 0; i < f->n_targets; i++) {
        strbuf_add(&p->out, i ? ", " : " targets(");
        print_string(p, f->targets[i]);
    }
    if (f->n_targets) strbuf_add(&p->out, ")");
    if (f->refused) {
        strbuf_add(&p->out, " refused(");
        print_string(p, f->refused);
        strbuf_add(&p->out, ")");
    }
}

static void print_function(struct printer *p, const struct ir_function *f)
{
    static const char *const words[] = {"func", "export func", "import func", "kernel", "export once func"};
    number_function(p, f);
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
    strbuf_printf(&p->out, "struct %s {", s->name);
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
    const char *file = file_name(p->m, p->loc.file);
    strbuf_add(&p->out, "source ");
    if (file) {
        print_string(p, file);
    } else {
        strbuf_add(&p->out, "none");
    }
    strbuf_add(&p->out, "\n");
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
    for (uint32_t i = 0; i < m->n_structs; i++) print_struct(&p, m->structs[i]);
    for (uint32_t i = 0; i < m->n_globals; i++) print_global(&p, m->globals[i]);
    for (uint32_t i = 0; i < m->n_functions; i++) {
        strbuf_add(&p.out, "\n");
        print_function(&p, m->functions[i]);
    }
    return finish(&p);
}

char *ir_print_function(const struct ir_function *f)
{
    struct printer p = {.m = f->module, .no_locations = true};
    print_function(&p, f);
    return finish(&p);
}

char *ir_print_inst(const struct ir_inst *inst)
{
    struct printer p = {.no_locations = true};
    const struct ir_function *f = inst->parent ? inst->parent->function : NULL;
    if (f) {
        p.m = f->module;
        number_function(&p, f);
    }
    print_head(&p, inst);
    return finish(&p);
}
