/* Bytes to modules. What an element makes us allocate is bounded by the bytes it takes; references are
   checked as they are read, everything else by the verifier. */
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/core/pipe_properties.h"
#include "ir/msgpack/codec.h"
#include "ir/msgpack/reader.h"
#include "ir/verify/verify.h"

struct decoder {
    struct codec_reader r;
    struct ir_module *m;
    enum ir_op ops[IR_OP_COUNT];
    uint32_t n_ops;
    /* Of the function being read. */
    struct ir_value **constants, **values;
    uint32_t n_constants, n_values;
    size_t constant_capacity, value_capacity;
    struct ir_value **operands; /* of the instruction being read */
    size_t operand_capacity;
    struct ir_loc last;
    uint32_t *targets; /* numbers of the variables whose addresses lie in initial values, in order */
    uint32_t n_targets;
};

/* Makes room for one more pointer, or for n. */
static void *room(void *list, size_t *capacity, size_t n)
{
    if (n <= *capacity) return list;
    *capacity = n > 2 * *capacity ? n : 2 * *capacity;
    return arena_realloc(list, *capacity * sizeof(void *));
}

/* ---- elements ---- */

static uint32_t read_u32(struct decoder *d, const char *what)
{
    return (uint32_t)codec_read_uint(&d->r, UINT32_MAX, what);
}

/* A copy that the module owns; NULL for nil. */
static const char *read_name(struct decoder *d, const char *what)
{
    size_t n = 0;
    if (codec_read_nil(&d->r)) return NULL;
    const char *s = codec_read_str(&d->r, &n, what);
    return s ? arena_strndup(d->m->arena, s, n) : NULL;
}

static struct ir_loc read_loc(struct decoder *d)
{
    struct ir_loc loc = {d->last.file, d->last.line, 0};
    if (codec_at_array(&d->r)) {
        uint32_t n = codec_read_array(&d->r, "a location");
        if (n != 2 && n != 3) codec_fail(&d->r, "a location has %u elements, must have 2 or 3", n);
        loc.file = (uint32_t)codec_read_uint(&d->r, d->m->n_files, "a source file");
        loc.line = read_u32(d, "a line");
        if (n == 3) loc.column = read_u32(d, "a column");
        if (n == 3 && !loc.column) codec_fail(&d->r, "a column is 0");
    } else {
        int64_t line = codec_read_int(&d->r, "a line");
        if (line < -(int64_t)UINT32_MAX || line > UINT32_MAX || (line += loc.line) < 0 || line > UINT32_MAX)
            codec_fail(&d->r, "a line is out of range");
        loc.line = (uint32_t)line;
    }
    return d->last = loc;
}

/* ---- tables of the module ---- */

static void read_files(struct decoder *d)
{
    struct ir_module *m = d->m;
    uint32_t n = codec_read_array(&d->r, "the list of source files");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) {
        const char *name = read_name(d, "a source file");
        if (!name) codec_fail(&d->r, "a source file has no name");
        m->files = arena_grow(m->arena, m->files, m->n_files, sizeof *m->files);
        m->files[m->n_files++] = name;
    }
}

static enum ir_op read_mnemonic(struct decoder *d)
{
    size_t n = 0;
    char text[64];
    const char *s = codec_read_str(&d->r, &n, "an operation");
    if (!s) return IR_OP_COUNT;
    if (n >= sizeof text) n = sizeof text - 1;
    memcpy(text, s, n);
    text[n] = 0;
    enum ir_op op = ir_op_find(text);
    if (op == IR_OP_COUNT) codec_fail(&d->r, "there is no operation %s", text);
    return op;
}

static void read_ops(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "the list of operations");
    if (n > IR_OP_COUNT) codec_fail(&d->r, "the list of operations is longer than there are any");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) d->ops[d->n_ops++] = read_mnemonic(d);
}

/* The numbers that the module gives aspects, flat: name, number. */
static void read_aspect_numbers(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "the numbers of aspects");
    if (!n || n % 2) codec_fail(&d->r, "the numbers of aspects are %u elements, must be 2 for each", n);
    for (uint32_t i = 0; i < n / 2 && !d->r.failed; i++) {
        const char *name = read_name(d, "the name of an aspect");
        uint32_t number = read_u32(d, "the number of an aspect");
        if (!name) codec_fail(&d->r, "an aspect has no name");
        if (!d->r.failed) ir_module_number_aspect(d->m, name, number);
    }
}

/* Bits, or bits and names of the module's own. */
static uint64_t read_aspects(struct decoder *d)
{
    uint32_t n = codec_at_array(&d->r) ? codec_read_array(&d->r, "a set of aspects") : 1;
    uint64_t set = codec_read_uint(&d->r, UINT64_MAX, "a set of aspects");
    for (uint32_t i = 1; i < n && !d->r.failed; i++) {
        const char *name = read_name(d, "the name of an aspect");
        int bit = name ? ir_module_aspect(d->m, name) : -1;
        if (bit < IR_ASPECT_COUNT)
            codec_fail(&d->r, "a set of aspects has a name without a number in the module");
        else
            set |= (uint64_t)1 << bit;
    }
    return set;
}

static void read_struct(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "a struct");
    if (n < 3 || n % 3 == 2) codec_fail(&d->r, "a struct has %u elements, must have 3 or 4, and 3 for each field", n);
    const char *name = read_name(d, "the name of a struct");
    if (d->r.failed) return;
    struct ir_struct *s = ir_struct_new(d->m, name, n / 3 - 1);
    s->size = read_u32(d, "the size of a struct");
    s->align = read_u32(d, "the alignment of a struct");
    if (n % 3) s->aspects_used = read_aspects(d);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        s->fields[i].name = read_name(d, "the name of a field");
        s->fields[i].type = read_u32(d, "the type of a field");
        s->fields[i].offset = read_u32(d, "the offset of a field");
    }
}

static void read_types(struct decoder *d)
{
    struct ir_module *m = d->m;
    uint32_t n = codec_read_array(&d->r, "the list of structs");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_struct(d);
    n = codec_read_array(&d->r, "the list of arrays");
    if (n % 2) codec_fail(&d->r, "the list of arrays has an odd number of elements");
    for (uint32_t i = 0; i < n / 2 && !d->r.failed; i++) {
        ir_type element = read_u32(d, "the type of an array's element");
        uint64_t count = codec_read_uint(&d->r, UINT64_MAX, "the length of an array");
        /* Not interned: equal ones would change the numbers of those after them. The verifier finds them. */
        m->arrays = arena_grow(m->arena, m->arrays, m->n_arrays, sizeof *m->arrays);
        m->arrays[m->n_arrays++] = (struct ir_array){element, count};
    }
}

/* Three elements each. */
static void read_addresses(struct decoder *d, struct ir_global *g, uint32_t n)
{
    g->addresses = ir_alloc(d->m, n * sizeof *g->addresses);
    for (; g->n_addresses < n && !d->r.failed; g->n_addresses++) {
        struct ir_address *a = &g->addresses[g->n_addresses];
        a->offset = codec_read_uint(&d->r, UINT64_MAX, "where an address lies");
        uint32_t target = read_u32(d, "the global of an address");
        a->at = codec_read_uint(&d->r, UINT64_MAX, "an address");
        d->targets = arena_grow(d->m->arena, d->targets, d->n_targets, sizeof *d->targets);
        d->targets[d->n_targets++] = target;
    }
}

/* Once all globals are there. */
static void resolve_addresses(struct decoder *d)
{
    const uint32_t *target = d->targets;
    for (uint32_t i = 0; i < d->m->n_globals && !d->r.failed; i++) {
        struct ir_global *g = d->m->globals[i];
        for (uint32_t k = 0; k < g->n_addresses && !d->r.failed; k++, target++) {
            if (*target >= d->m->n_globals)
                codec_fail(&d->r, "an address is of global %u of %u", *target, d->m->n_globals);
            else
                g->addresses[k].target = d->m->globals[*target];
        }
    }
}

static void read_init(struct decoder *d, struct ir_global *g)
{
    size_t n = 0;
    uint32_t elements = 1;
    if (codec_read_nil(&d->r)) return;
    if (codec_at_array(&d->r)) elements = codec_read_array(&d->r, "an initial value");
    if (elements % 3 != 1)
        codec_fail(&d->r, "an initial value has %u elements, must have 1 and 3 for each address", elements);
    const uint8_t *bytes = codec_read_bin(&d->r, &n, "initial bytes");
    if (!bytes) return;
    uint64_t size = ir_type_size(d->m, g->type);
    if (n != size) {
        codec_fail(&d->r, "global %s has %zu initial bytes, must have %llu", g->name ? g->name : "?", n,
                   (unsigned long long)size);
        return;
    }
    g->init = memcpy(ir_alloc(d->m, n), bytes, n);
    read_addresses(d, g, elements / 3);
}

/* In their order, as they are written: equal modules are equal bytes. */
static void read_properties(struct decoder *d, struct ir_global *g)
{
    uint32_t n = codec_read_array(&d->r, "the properties of a pipe");
    if (!n || n % 2) codec_fail(&d->r, "the properties of a pipe have %u elements", n);
    for (uint32_t i = 0, before = 0; !d->r.failed && i < n; i += 2) {
        uint32_t what = (uint32_t)codec_read_uint(&d->r, IR_PIPE_PROPERTY_COUNT - 1, "a property of a pipe");
        uint32_t value = read_u32(d, "the value of a property of a pipe");
        if (i && what <= before) codec_fail(&d->r, "property %u of a pipe is not behind property %u", what, before);
        if (!d->r.failed) ir_pipe_add_property(d->m, g, what, value);
        before = what;
    }
}

static void read_global(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "a global");
    if (n != 6 && n != 9 && n != 10) codec_fail(&d->r, "a global has %u elements, must have 6, 9 or 10", n);
    const char *name = read_name(d, "the name of a global");
    enum ir_space space = (enum ir_space)codec_read_uint(&d->r, IR_SPACE_COUNT - 1, "the space of a global");
    enum ir_linkage linkage = (enum ir_linkage)codec_read_uint(&d->r, IR_LINKAGE_COUNT - 1, "the linkage of a global");
    ir_type type = read_u32(d, "the type of a global");
    if (d->r.failed) return;
    if ((ir_type_kind(type) == IR_KIND_PIPE) != (n > 6)) codec_fail(&d->r, "a global has %u elements", n);
    struct ir_global *g = ir_global_new(d->m, name, space, type);
    g->linkage = linkage;
    g->align = read_u32(d, "the alignment of a global");
    read_init(d, g);
    if (n == 6) return;
    g->packet = read_u32(d, "the type of packets");
    g->capacity = read_u32(d, "the capacity of a pipe");
    g->host_access = read_name(d, "the host access of a pipe");
    if (n == 10) read_properties(d, g);
}

/* ---- functions without their bodies ---- */

static void read_sizes(struct decoder *d, uint32_t size[3])
{
    if (codec_read_nil(&d->r)) return;
    codec_read_array_of(&d->r, 3, "a work-group size");
    for (int i = 0; i < 3; i++) size[i] = read_u32(d, "a work-group size");
    if (!d->r.failed && !size[0]) codec_fail(&d->r, "a work-group size is 0");
}

static const char **read_target_names(struct decoder *d, uint32_t *count)
{
    uint32_t n = codec_read_array(&d->r, "the targets of a function");
    const char **names = ir_alloc(d->m, n * sizeof *names);
    for (*count = 0; *count < n && !d->r.failed; ++*count) names[*count] = read_name(d, "a target");
    return names;
}

static void read_targets(struct decoder *d, struct ir_function *f)
{
    f->has_targets = !codec_read_nil(&d->r);
    if (f->has_targets) f->targets = read_target_names(d, &f->n_targets);
}

static void read_params(struct decoder *d, struct ir_function *f)
{
    uint32_t n = codec_read_array(&d->r, "the parameters of a function");
    if (n % 5) codec_fail(&d->r, "the parameters of a function are %u elements, must be 5 for each", n);
    if (d->r.failed) return;
    f->n_params = n / 5;
    f->params = ir_alloc(d->m, f->n_params * sizeof *f->params);
    for (uint32_t i = 0; i < f->n_params; i++) {
        struct ir_param *p = &f->params[i];
        const char *name = read_name(d, "the name of a parameter");
        ir_function_set_param(f, i, NULL, read_u32(d, "the type of a parameter"));
        p->value->name = name;
        p->access = (enum ir_access)codec_read_uint(&d->r, IR_ACCESS_COUNT - 1, "the access of a parameter");
        p->elem = read_u32(d, "the element type of a parameter");
        p->by_value = codec_read_bool(&d->r, "whether a parameter is passed by value");
    }
}

static void read_sub_groups(struct decoder *d, struct ir_function *f)
{
    bool has_number = codec_at_array(&d->r);
    if (has_number) codec_read_array_of(&d->r, 2, "size and number of sub-groups");
    f->sub_group_size = read_u32(d, "a sub-group size");
    if (has_number) f->sub_groups_per_work_group = read_u32(d, "a number of sub-groups");
    if (has_number && !f->sub_groups_per_work_group) codec_fail(&d->r, "a number of sub-groups is 0");
}

static void read_function(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "a function");
    if (n < 10 || n > 13) codec_fail(&d->r, "a function has %u elements, must have 10 to 13", n);
    const char *name = read_name(d, "the name of a function");
    enum ir_linkage linkage = (enum ir_linkage)codec_read_uint(&d->r, IR_LINKAGE_COUNT - 1, "a linkage");
    ir_type result = read_u32(d, "the result of a function");
    if (d->r.failed) return;
    struct ir_function *f = ir_function_new(d->m, name, linkage, result, 0);
    d->last = (struct ir_loc){0};
    f->loc = read_loc(d);
    f->has_declared = !codec_read_nil(&d->r);
    if (f->has_declared) f->aspects_declared = read_aspects(d);
    read_sizes(d, f->work_group_size);
    read_sizes(d, f->work_group_size_hint);
    read_sub_groups(d, f);
    read_targets(d, f);
    read_params(d, f);
    if (n > 10) f->assumes = read_u32(d, "what is assumed of launches");
    if (n == 11 && !f->assumes) codec_fail(&d->r, "a function assumes nothing");
    if (n > 11) f->aspects_used = read_aspects(d);
    f->has_compiled = n > 12;
    if (f->has_compiled) f->compiled = read_target_names(d, &f->n_compiled);
    if (n == 12 && !f->aspects_used) codec_fail(&d->r, "a function uses no aspects");
}

/* ---- bodies ---- */

static void define(struct decoder *d, struct ir_value *v)
{
    d->values = room(d->values, &d->value_capacity, (size_t)d->n_values + 1);
    d->values[d->n_values++] = v;
}

/* Defines a value under the name that is read. */
static void read_definition(struct decoder *d, struct ir_value *v)
{
    v->name = read_name(d, "the name of a value");
    define(d, v);
}

static void read_constant(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "a constant");
    ir_type t = read_u32(d, "the type of a constant");
    unsigned lanes = ir_type_lanes(t);
    uint64_t words[IR_MAX_LANES] = {0};
    if (n != 1 && (lanes < 1 || lanes > IR_MAX_LANES || (n != 2 && n != 1 + lanes)))
        codec_fail(&d->r, "a constant of %u lanes has %u", lanes, n - 1);
    for (uint32_t i = 1; i < n && !d->r.failed; i++) words[i - 1] = codec_read_uint(&d->r, UINT64_MAX, "a constant");
    for (unsigned i = 1; n == 2 && i < IR_MAX_LANES; i++) words[i] = words[0];
    if (d->r.failed) return;
    d->constants = room(d->constants, &d->constant_capacity, (size_t)d->n_constants + 1);
    d->constants[d->n_constants++] = n == 1 ? ir_undef(d->m, t) : ir_const(d->m, t, words);
}

/* NULL after a mistake. */
static struct ir_value *read_operand(struct decoder *d)
{
    int64_t at = codec_read_int(&d->r, "an operand");
    if (d->r.failed) return NULL;
    if (at < 0 ? -1 - at >= d->n_constants : at >= d->n_values) {
        codec_fail(&d->r, "an operand refers to %lld, with %u constants and %u values before it", (long long)at,
                   d->n_constants, d->n_values);
        return NULL;
    }
    return at < 0 ? d->constants[-1 - at] : d->values[d->n_values - 1 - (uint32_t)at];
}

/* Into d->operands; returns how many. */
static uint32_t read_operands(struct decoder *d)
{
    uint32_t n = codec_read_array(&d->r, "the operands of an instruction");
    d->operands = room(d->operands, &d->operand_capacity, n);
    for (uint32_t i = 0; i < n && !d->r.failed; i++) d->operands[i] = read_operand(d);
    return n;
}

static void read_mask(struct decoder *d, ir_type type, struct ir_attrs *a)
{
    size_t n = 0;
    const uint8_t *mask = codec_read_bin(&d->r, &n, "a lane mask");
    if (!mask) return;
    if (n > IR_MAX_LANES || n != ir_type_lanes(type)) {
        codec_fail(&d->r, "a lane mask has %zu entries for %u lanes", n, ir_type_lanes(type));
        return;
    }
    memcpy(a->mask, mask, n);
}

/* The number of a function or a global, of which there are n. */
static uint32_t read_reference(struct decoder *d, uint32_t n, const char *what)
{
    uint64_t number = codec_read_uint(&d->r, UINT32_MAX, what);
    if (number >= n) codec_fail(&d->r, "%s is number %llu of %u", what, (unsigned long long)number, n);
    return (uint32_t)number;
}

static void read_attribute(struct decoder *d, ir_type type, struct ir_attrs *a, char letter)
{
    struct codec_reader *r = &d->r;
    uint32_t number;
    switch (letter) {
    case 'd': a->dim = (uint8_t)codec_read_uint(r, UINT8_MAX, "dim"); break;
    case 's': a->scope = (uint8_t)codec_read_uint(r, UINT8_MAX, "a scope"); break;
    case 'o': a->order = (uint8_t)codec_read_uint(r, UINT8_MAX, "an order"); break;
    case 'O': a->order_fail = (uint8_t)codec_read_uint(r, UINT8_MAX, "an order"); break;
    case 'r': a->rounding = (uint8_t)codec_read_uint(r, UINT8_MAX, "a rounding"); break;
    case 't': a->saturate = codec_read_uint(r, 1, "saturate"); break;
    case 'v': a->is_volatile = codec_read_uint(r, 1, "volatile"); break;
    case 'g': a->group_op = (uint8_t)codec_read_uint(r, UINT8_MAX, "a group operation"); break;
    case 'f': a->fp = (uint8_t)codec_read_uint(r, UINT8_MAX, "fp flags"); break;
    case 'k': a->fence = (uint8_t)codec_read_uint(r, UINT8_MAX, "fence spaces"); break;
    case 'p': a->space = (uint8_t)codec_read_uint(r, UINT8_MAX, "an address space"); break;
    case 'a': a->align = read_u32(d, "an alignment"); break;
    case 'x': a->index = read_u32(d, "a field number"); break;
    case 'm': read_mask(d, type, a); break;
    case 'c':
        number = read_reference(d, d->m->n_functions, "a called function");
        if (!r->failed) a->callee = d->m->functions[number];
        break;
    case 'y':
        number = read_reference(d, d->m->n_globals, "a global");
        if (!r->failed) a->global = d->m->globals[number];
        break;
    default: break;
    }
}

/* An instruction's elements before its blocks and the names of its results. */
struct head {
    enum ir_op op;
    struct ir_loc loc;
    ir_type type;
    uint32_t n_elements, n_read, n_operands; /* operands are in decoder.operands */
    struct ir_attrs attrs;
};

static void read_attributes(struct decoder *d, struct head *h)
{
    const struct ir_op_info *info = ir_op_info(h->op);
    uint32_t n_results = info->result != '-';
    bool always = strpbrk(info->attrs, "cym");
    if (!always && h->n_elements <= h->n_read + n_results) return; /* all are 0 */
    for (const char *letter = info->attrs; *letter; letter++, h->n_read++)
        read_attribute(d, h->type, &h->attrs, *letter);
}

static void read_head(struct decoder *d, struct head *h)
{
    *h = (struct head){.type = IR_VOID, .n_read = 3};
    h->n_elements = codec_read_array(&d->r, "an instruction");
    uint64_t number = codec_read_uint(&d->r, UINT32_MAX, "an operation");
    if (number >= d->n_ops)
        codec_fail(&d->r, "an operation has number %llu of %u", (unsigned long long)number, d->n_ops);
    if (d->r.failed) return;
    h->op = d->ops[number];
    h->loc = read_loc(d);
    if (ir_op_info(h->op)->type_class != '-') {
        h->type = read_u32(d, "the type of an instruction");
        h->n_read++;
    }
    h->n_operands = read_operands(d);
    read_attributes(d, h);
}

static struct ir_inst *build_plain(struct decoder *d, struct ir_builder *b, const struct head *h)
{
    if (h->op == IR_OP_CALL) return ir_build_call(b, h->attrs.callee, d->operands, h->n_operands);
    struct ir_inst *inst = ir_build_ptr(b, h->op, h->type, h->attrs.space, d->operands, h->n_operands);
    inst->attrs = h->attrs;
    if (h->op == IR_OP_GLOBAL && ir_type_kind(h->attrs.global->type) == IR_KIND_PIPE)
        inst->results[0]->type = h->attrs.global->type;
    return inst;
}

static void read_block(struct decoder *d, struct ir_block *block, unsigned depth);

static struct ir_inst *read_structured(struct decoder *d, struct ir_builder *b, struct head *h, unsigned depth)
{
    uint32_t n = codec_read_array(&d->r, "the types of results");
    bool loop = h->op == IR_OP_LOOP;
    if (!loop && h->n_operands != 1) codec_fail(&d->r, "an if has %u operands, must have 1", h->n_operands);
    ir_type *types = arena_realloc(NULL, n * sizeof *types);
    for (uint32_t i = 0; i < n; i++) types[i] = read_u32(d, "the type of a result");
    struct ir_inst *inst = NULL;
    if (!d->r.failed)
        inst = loop ? ir_build_loop(b, d->operands, h->n_operands, types, n) : ir_build_if(b, d->operands[0], types, n);
    free(types);
    if (!inst) return NULL;
    if (loop) {
        struct ir_block *body = inst->blocks[0];
        codec_read_array_of(&d->r, body->n_args, "the names of a loop's parameters");
        for (uint32_t i = 0; i < body->n_args && !d->r.failed; i++) read_definition(d, body->args[i]);
        read_block(d, body, depth + 1);
    } else {
        read_block(d, inst->blocks[0], depth + 1);
        read_block(d, inst->blocks[1], depth + 1);
    }
    h->n_read += 3; /* types; a loop's names and block, or an if's two blocks */
    return inst;
}

static void read_inst(struct decoder *d, struct ir_builder *b, unsigned depth)
{
    struct head h;
    read_head(d, &h);
    if (d->r.failed) return;
    b->loc = h.loc;
    bool structured = ir_op_info(h.op)->flags & IR_FLAG_BLOCKS;
    struct ir_inst *inst = structured ? read_structured(d, b, &h, depth) : build_plain(d, b, &h);
    for (uint32_t i = 0; inst && i < inst->n_results && !d->r.failed; i++, h.n_read++)
        read_definition(d, inst->results[i]);
    if (h.n_elements != h.n_read)
        codec_fail(&d->r, "%s has %u elements, must have %u", ir_op_info(h.op)->text, h.n_elements, h.n_read);
}

static void read_block(struct decoder *d, struct ir_block *block, unsigned depth)
{
    if (depth > IR_MAX_BLOCK_DEPTH)
        codec_fail(&d->r, "blocks are more than %d deep inside each other", IR_MAX_BLOCK_DEPTH);
    struct ir_builder b = ir_builder_at_end(block);
    uint32_t n = codec_read_array(&d->r, "a block");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_inst(d, &b, depth);
}

static void read_body(struct decoder *d, struct ir_function *f)
{
    if (codec_read_nil(&d->r)) {
        f->body = NULL;
        return;
    }
    bool array = codec_at_array(&d->r);
    const char *refused = array ? NULL : read_name(d, "a body that is no array, why the function is refused,");
    if (array) codec_read_array_of(&d->r, 2, "a body");
    if (refused && !*refused) codec_fail(&d->r, "function %s is refused for no reason", f->name ? f->name : "?");
    if (!f->body) codec_fail(&d->r, "function %s is imported and has a body", f->name ? f->name : "?");
    if (d->r.failed) return;
    if (refused) {
        ir_function_refuse(f, refused);
        return;
    }
    d->n_constants = d->n_values = 0;
    d->last = f->loc;
    for (uint32_t i = 0; i < f->n_params; i++) define(d, f->params[i].value);
    uint32_t n = codec_read_array(&d->r, "the constants of a function");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_constant(d);
    read_block(d, f->body, 1);
}

static void read_functions(struct decoder *d)
{
    struct ir_module *m = d->m;
    uint32_t n = codec_read_array(&d->r, "the list of functions");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_function(d);
    codec_read_array_of(&d->r, n, "the list of bodies");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_body(d, m->functions[i]);
}

/* ---- the module ---- */

static void read_module(struct decoder *d)
{
    uint32_t elements = codec_read_array(&d->r, "the module");
    if (elements != 9 && elements != 10) codec_fail(&d->r, "the module has %u elements, must have 9 or 10", elements);
    uint64_t version = codec_read_uint(&d->r, UINT64_MAX, "the version");
    if (!d->r.failed && version != IR_CODEC_VERSION)
        codec_fail(&d->r, "the module is of version %llu, must be %d", (unsigned long long)version, IR_CODEC_VERSION);
    d->m->name = read_name(d, "the name of the module");
    if (elements == 10) read_aspect_numbers(d);
    read_files(d);
    read_ops(d);
    read_types(d);
    /* Sizes of types are asked for from here on. */
    if (!d->r.failed && !ir_verify_types(d->m, d->r.list)) d->r.failed = true;
    uint32_t n = codec_read_array(&d->r, "the list of globals");
    for (uint32_t i = 0; i < n && !d->r.failed; i++) read_global(d);
    resolve_addresses(d);
    read_functions(d);
    if (!d->r.failed && d->r.at != d->r.size) codec_fail(&d->r, "%zu bytes follow the module", d->r.size - d->r.at);
}

struct ir_module *ir_decode(const uint8_t *bytes, size_t size, struct diag_list *list)
{
    struct decoder d = {.r = {.bytes = bytes, .size = size, .list = list}};
    d.m = ir_module_new(NULL);
    read_module(&d);
    free(d.constants);
    free(d.values);
    free(d.operands);
    if (!d.r.failed && ir_verify(d.m, list)) return d.m;
    ir_module_free(d.m);
    return NULL;
}
