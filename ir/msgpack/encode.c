/* Modules to bytes. A first walk numbers what is used, in the order of its first use, so that the bytes
   depend on what the module says and not on how it was built. */
#include <inttypes.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "ir/core/module_aspects.h"
#include "ir/core/pipe_properties.h"
#include "ir/msgpack/codec.h"

/* The distinct constants of a function in the order of their first use: a hash table over a list. */
struct constants {
    const struct ir_value **list;
    uint32_t n, capacity;
    uint32_t *table;     /* places in list plus 1; 0: free */
    uint32_t table_size; /* a power of two above n, or 0 */
};

struct encoder {
    const struct ir_module *m;
    bool anonymous;
    msgpack_packer pk;
    uint8_t *bytes;
    size_t size, capacity;

    /* Numbers in the encoded form plus 1; 0: not used so far. */
    uint32_t *array_number, *file_number, op_number[IR_OP_COUNT];
    uint32_t n_arrays, n_files, n_ops;
    uint32_t *arrays, *files; /* the other way round */
    enum ir_op ops[IR_OP_COUNT];

    struct constants constants;
    uint32_t n_values;  /* defined so far in the function */
    struct ir_loc last; /* location that the next one is told relative to */
};

static int write_bytes(void *data, const char *bytes, size_t n)
{
    struct encoder *e = data;
    if (e->capacity - e->size < n) {
        e->capacity = 2 * e->capacity + n + 256;
        e->bytes = arena_realloc(e->bytes, e->capacity);
    }
    memcpy(e->bytes + e->size, bytes, n);
    e->size += n;
    return 0;
}

/* ---- elements ---- */

static void put_uint(struct encoder *e, uint64_t v)
{
    msgpack_pack_uint64(&e->pk, v);
}

static void put_array(struct encoder *e, size_t n)
{
    msgpack_pack_array(&e->pk, n);
}

static void put_str(struct encoder *e, const char *s)
{
    if (!s) {
        msgpack_pack_nil(&e->pk);
        return;
    }
    size_t n = strlen(s);
    msgpack_pack_str(&e->pk, n);
    msgpack_pack_str_body(&e->pk, s, n);
}

static void put_bin(struct encoder *e, const void *bytes, size_t n)
{
    msgpack_pack_bin(&e->pk, n);
    msgpack_pack_bin_body(&e->pk, bytes, n);
}

/* ---- the first walk: types, files, operations ---- */

static void use_type(struct encoder *e, ir_type t)
{
    if (ir_type_kind(t) != IR_KIND_ARRAY) return;
    uint32_t index = ir_type_detail(t);
    if (e->array_number[index]) return;
    use_type(e, e->m->arrays[index].element);
    e->arrays[e->n_arrays] = index;
    e->array_number[index] = ++e->n_arrays;
}

static void use_loc(struct encoder *e, struct ir_loc loc)
{
    if (e->anonymous || !loc.file || e->file_number[loc.file - 1]) return;
    e->files[e->n_files] = loc.file - 1;
    e->file_number[loc.file - 1] = ++e->n_files;
}

static void use_inst(struct ir_inst *inst, void *data)
{
    struct encoder *e = data;
    use_loc(e, inst->loc);
    use_type(e, inst->type);
    if (e->op_number[inst->op]) return;
    e->ops[e->n_ops] = inst->op;
    e->op_number[inst->op] = ++e->n_ops;
}

static void use_function(struct encoder *e, const struct ir_function *f)
{
    use_loc(e, f->loc);
    for (uint32_t i = 0; i < f->n_params; i++) use_type(e, f->params[i].elem);
    if (f->body && !f->refused) ir_walk(f->body, use_inst, e);
}

static void use_all(struct encoder *e)
{
    const struct ir_module *m = e->m;
    for (uint32_t i = 0; i < m->n_structs; i++)
        for (uint32_t k = 0; k < m->structs[i]->n_fields; k++) use_type(e, m->structs[i]->fields[k].type);
    for (uint32_t i = 0; i < m->n_globals; i++) {
        use_type(e, m->globals[i]->type);
        use_type(e, m->globals[i]->packet);
    }
    for (uint32_t i = 0; i < m->n_functions; i++) use_function(e, m->functions[i]);
}

/* ---- constants of a function ---- */

static bool same_constant(const struct ir_value *a, const struct ir_value *b)
{
    return a->kind == b->kind && a->type == b->type && (a->kind == IR_VALUE_UNDEF || ir_value_same(a, b));
}

static uint64_t hash_constant(const struct ir_value *c)
{
    uint64_t h = c->type * 0x9e3779b97f4a7c15u + c->kind;
    for (unsigned i = 0; c->kind == IR_VALUE_CONST && i < ir_type_lanes(c->type); i++)
        h = (h ^ c->of.lanes[i] ^ h >> 29) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

/* Its place in the table, or the free one where it belongs. */
static uint32_t *find_constant(const struct constants *c, const struct ir_value *value)
{
    uint32_t at = (uint32_t)hash_constant(value) & (c->table_size - 1);
    while (c->table[at] && !same_constant(c->list[c->table[at] - 1], value)) at = (at + 1) & (c->table_size - 1);
    return &c->table[at];
}

static void grow_constants(struct constants *c)
{
    c->table_size = c->table_size ? 2 * c->table_size : 64;
    c->capacity = c->table_size / 2;
    c->list = arena_realloc(c->list, c->capacity * sizeof(*c->list));
    free(c->table);
    c->table = memset(arena_realloc(NULL, c->table_size * sizeof *c->table), 0, c->table_size * sizeof *c->table);
    for (uint32_t i = 0; i < c->n; i++) *find_constant(c, c->list[i]) = i + 1;
}

static void use_constants(struct ir_inst *inst, void *data)
{
    struct constants *c = &((struct encoder *)data)->constants;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        struct ir_value *value = inst->operands[i];
        if (value->kind != IR_VALUE_CONST && value->kind != IR_VALUE_UNDEF) continue;
        if (c->n == c->capacity) grow_constants(c);
        uint32_t *place = find_constant(c, value);
        if (!*place) {
            c->list[c->n++] = value;
            *place = c->n;
        }
        value->scratch = *place - 1;
    }
}

static void forget_constants(struct constants *c)
{
    c->n = 0;
    if (c->table) memset(c->table, 0, c->table_size * sizeof *c->table);
}

/* ---- the second walk ---- */

static void put_type(struct encoder *e, ir_type t)
{
    if (ir_type_kind(t) == IR_KIND_ARRAY) t = IR_TYPE(IR_KIND_ARRAY, 1, e->array_number[ir_type_detail(t)] - 1);
    put_uint(e, t);
}

/* Lines from the last location, or both numbers where the file is another. */
static void put_loc(struct encoder *e, struct ir_loc loc)
{
    if (e->anonymous) {
        put_uint(e, 0);
        return;
    }
    if (loc.file == e->last.file && !loc.column) {
        msgpack_pack_int64(&e->pk, (int64_t)loc.line - e->last.line);
    } else {
        put_array(e, loc.column ? 3 : 2);
        put_uint(e, loc.file ? e->file_number[loc.file - 1] : 0);
        put_uint(e, loc.line);
        if (loc.column) put_uint(e, loc.column);
    }
    e->last = loc;
}

/* Gives the value the next number, and tells its name. */
static void put_definition(struct encoder *e, struct ir_value *v)
{
    v->scratch = e->n_values++;
    put_str(e, e->anonymous ? NULL : v->name);
}

static void put_constant(struct encoder *e, const struct ir_value *c)
{
    unsigned lanes = ir_type_lanes(c->type), n = 1;
    if (c->kind == IR_VALUE_UNDEF) n = 0;
    for (unsigned i = 1; n == 1 && i < lanes; i++)
        if (c->of.lanes[i] != c->of.lanes[0]) n = lanes;
    put_array(e, 1 + n);
    put_type(e, c->type);
    for (unsigned i = 0; i < n; i++) put_uint(e, c->of.lanes[i]);
}

/* Values that are defined: how many definitions back, from 0; constants: -1, -2 ... */
static void put_operand(struct encoder *e, const struct ir_value *v)
{
    if (v->kind == IR_VALUE_CONST || v->kind == IR_VALUE_UNDEF) {
        msgpack_pack_int64(&e->pk, -1 - (int64_t)v->scratch);
    } else {
        put_uint(e, e->n_values - 1 - v->scratch);
    }
}

static uint64_t attribute(const struct ir_attrs *a, char letter)
{
    switch (letter) {
    case 'd': return a->dim;
    case 's': return a->scope;
    case 'o': return a->order;
    case 'O': return a->order_fail;
    case 'r': return a->rounding;
    case 't': return a->saturate;
    case 'a': return a->align;
    case 'v': return a->is_volatile;
    case 'g': return a->group_op;
    case 'x': return a->index;
    case 'f': return a->fp;
    case 'k': return a->fence;
    case 'p': return a->space;
    case 'c': return a->callee->scratch;
    case 'y': return a->global->scratch;
    default: return 0;
    }
}

/* Left out where all are 0, but for references to functions and globals, and masks. */
static bool has_attributes(const struct ir_inst *inst)
{
    for (const char *letter = ir_op_info(inst->op)->attrs; *letter; letter++)
        if (strchr("cym", *letter) || attribute(&inst->attrs, *letter)) return true;
    return false;
}

static void put_attributes(struct encoder *e, const struct ir_inst *inst)
{
    for (const char *letter = ir_op_info(inst->op)->attrs; *letter; letter++) {
        if (*letter == 'm') {
            put_bin(e, inst->attrs.mask, ir_type_lanes(inst->type));
        } else {
            put_uint(e, attribute(&inst->attrs, *letter));
        }
    }
}

static void put_block(struct encoder *e, const struct ir_block *block);

static void put_inst(struct encoder *e, const struct ir_inst *inst)
{
    const struct ir_op_info *info = ir_op_info(inst->op);
    bool typed = info->type_class != '-', structured = inst->blocks[0], loop = inst->op == IR_OP_LOOP;
    bool attributes = has_attributes(inst);
    size_t n_blocks = !structured ? 0 : loop ? 1 : 2;
    put_array(e, 3 + typed + structured + loop + n_blocks + inst->n_results + (attributes ? strlen(info->attrs) : 0));
    put_uint(e, e->op_number[inst->op] - 1);
    put_loc(e, inst->loc);
    if (typed) put_type(e, inst->type);
    put_array(e, inst->n_operands);
    for (uint32_t i = 0; i < inst->n_operands; i++) put_operand(e, inst->operands[i]);
    if (attributes) put_attributes(e, inst);
    if (structured) {
        put_array(e, inst->n_results);
        for (uint32_t i = 0; i < inst->n_results; i++) put_type(e, inst->results[i]->type);
    }
    if (loop) {
        put_array(e, inst->blocks[0]->n_args);
        for (uint32_t i = 0; i < inst->blocks[0]->n_args; i++) put_definition(e, inst->blocks[0]->args[i]);
    }
    for (size_t i = 0; i < n_blocks; i++) put_block(e, inst->blocks[i]);
    for (uint32_t i = 0; i < inst->n_results; i++) put_definition(e, inst->results[i]);
}

static void put_block(struct encoder *e, const struct ir_block *block)
{
    size_t n = 0;
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) n++;
    put_array(e, n);
    for (const struct ir_inst *inst = block->first; inst; inst = inst->next) put_inst(e, inst);
}

static void put_body(struct encoder *e, const struct ir_function *f)
{
    if (!f->body) {
        msgpack_pack_nil(&e->pk);
        return;
    }
    if (f->refused) {
        put_str(e, f->refused);
        return;
    }
    forget_constants(&e->constants);
    ir_walk(f->body, use_constants, e);
    for (uint32_t i = 0; i < f->n_params; i++) f->params[i].value->scratch = i;
    e->n_values = f->n_params;
    e->last = f->loc;
    put_array(e, 2);
    put_array(e, e->constants.n);
    for (uint32_t i = 0; i < e->constants.n; i++) put_constant(e, e->constants.list[i]);
    put_block(e, f->body);
}

/* ---- tables of the module ---- */

static void put_sizes(struct encoder *e, const uint32_t size[3])
{
    if (!size[0]) {
        msgpack_pack_nil(&e->pk);
        return;
    }
    put_array(e, 3);
    for (int i = 0; i < 3; i++) put_uint(e, size[i]);
}

static void put_bool(struct encoder *e, bool v)
{
    if (v) {
        msgpack_pack_true(&e->pk);
    } else {
        msgpack_pack_false(&e->pk);
    }
}

static void put_params(struct encoder *e, const struct ir_function *f)
{
    put_array(e, (size_t)5 * f->n_params);
    for (uint32_t i = 0; i < f->n_params; i++) {
        const struct ir_param *p = &f->params[i];
        put_str(e, e->anonymous ? NULL : p->value->name);
        put_type(e, p->value->type);
        put_uint(e, p->access);
        put_type(e, p->elem);
        put_bool(e, p->by_value);
    }
}

/* Nobody in the module refers to a kernel by its name: without names, a number tells them apart. */
static void put_function_name(struct encoder *e, const struct ir_function *f)
{
    char number[16];
    uint32_t i = 0;
    if (!e->anonymous || f->linkage != IR_LINKAGE_KERNEL) {
        put_str(e, f->name);
        return;
    }
    while (e->m->functions[i] != f) i++;
    snprintf(number, sizeof number, "kernel%" PRIu32, i);
    put_str(e, number);
}

/* The size alone, or size and number. */
static void put_sub_groups(struct encoder *e, const struct ir_function *f)
{
    if (f->sub_groups_per_work_group) put_array(e, 2);
    put_uint(e, f->sub_group_size);
    if (f->sub_groups_per_work_group) put_uint(e, f->sub_groups_per_work_group);
}

/* Known ones as bits; own ones by their names behind these. */
static void put_aspects(struct encoder *e, uint64_t set)
{
    uint8_t bits[IR_ASPECT_BITS];
    unsigned n = ir_aspects_in_order(e->m, set, bits), own = (unsigned)__builtin_popcountll(set >> IR_ASPECT_COUNT);
    if (own) put_array(e, 1 + own);
    put_uint(e, set & (((uint64_t)1 << IR_ASPECT_COUNT) - 1));
    for (unsigned i = n - own; i < n; i++) put_str(e, ir_module_aspect_name(e->m, bits[i]));
}

static void put_names(struct encoder *e, const char *const *names, uint32_t n)
{
    put_array(e, n);
    for (uint32_t i = 0; i < n; i++) put_str(e, names[i]);
}

static void put_targets(struct encoder *e, const struct ir_function *f)
{
    if (f->has_targets)
        put_names(e, f->targets, f->n_targets);
    else
        msgpack_pack_nil(&e->pk);
}

/* What most functions do not have, up to the last that this one has. */
static unsigned more_elements(const struct ir_function *f)
{
    return f->has_compiled ? 3 : f->aspects_used ? 2 : f->assumes ? 1 : 0;
}

static void put_function(struct encoder *e, const struct ir_function *f)
{
    unsigned more = more_elements(f);
    put_array(e, 10 + more);
    put_function_name(e, f);
    put_uint(e, f->linkage);
    put_type(e, f->result);
    e->last = (struct ir_loc){0};
    put_loc(e, f->loc);
    if (f->has_declared) {
        put_aspects(e, f->aspects_declared);
    } else {
        msgpack_pack_nil(&e->pk);
    }
    put_sizes(e, f->work_group_size);
    put_sizes(e, f->work_group_size_hint);
    put_sub_groups(e, f);
    put_targets(e, f);
    put_params(e, f);
    if (more > 0) put_uint(e, f->assumes);
    if (more > 1) put_aspects(e, f->aspects_used);
    if (more > 2) put_names(e, f->compiled, f->n_compiled);
}

/* Bytes, or bytes and addresses. */
static void put_init(struct encoder *e, const struct ir_global *g)
{
    if (g->n_addresses) put_array(e, 1 + (size_t)3 * g->n_addresses);
    put_bin(e, g->init, ir_type_size(e->m, g->type));
    for (uint32_t i = 0; i < g->n_addresses; i++) {
        put_uint(e, g->addresses[i].offset);
        put_uint(e, g->addresses[i].target->scratch);
        put_uint(e, g->addresses[i].at);
    }
}

static void put_global(struct encoder *e, const struct ir_global *g)
{
    bool pipe = ir_type_kind(g->type) == IR_KIND_PIPE;
    put_array(e, !pipe ? 6 : g->n_properties ? 10 : 9);
    put_str(e, g->name);
    put_uint(e, g->space);
    put_uint(e, g->linkage);
    put_type(e, g->type);
    put_uint(e, g->align);
    if (g->init) {
        put_init(e, g);
    } else {
        msgpack_pack_nil(&e->pk);
    }
    if (!pipe) return;
    put_type(e, g->packet);
    put_uint(e, g->capacity);
    put_str(e, g->host_access);
    if (!g->n_properties) return;
    put_array(e, (size_t)2 * g->n_properties);
    for (uint32_t i = 0; i < g->n_properties; i++) {
        put_uint(e, g->properties[i].what);
        put_uint(e, g->properties[i].value);
    }
}

static void put_struct(struct encoder *e, const struct ir_struct *s)
{
    put_array(e, (s->aspects_used ? 4 : 3) + (size_t)3 * s->n_fields);
    put_str(e, s->name);
    put_uint(e, s->size);
    put_uint(e, s->align);
    if (s->aspects_used) put_aspects(e, s->aspects_used);
    for (uint32_t i = 0; i < s->n_fields; i++) {
        put_str(e, s->fields[i].name);
        put_type(e, s->fields[i].type);
        put_uint(e, s->fields[i].offset);
    }
}

static void put_types(struct encoder *e)
{
    put_array(e, e->m->n_structs);
    for (uint32_t i = 0; i < e->m->n_structs; i++) put_struct(e, e->m->structs[i]);
    put_array(e, (size_t)2 * e->n_arrays);
    for (uint32_t i = 0; i < e->n_arrays; i++) {
        put_type(e, e->m->arrays[e->arrays[i]].element);
        put_uint(e, e->m->arrays[e->arrays[i]].count);
    }
}

static void put_aspect_numbers(struct encoder *e)
{
    put_array(e, (size_t)2 * e->m->n_aspect_numbers);
    for (uint32_t i = 0; i < e->m->n_aspect_numbers; i++) {
        put_str(e, e->m->aspect_numbers[i].name);
        put_uint(e, e->m->aspect_numbers[i].number);
    }
}

static void put_module(struct encoder *e)
{
    const struct ir_module *m = e->m;
    put_array(e, m->n_aspect_numbers ? 10 : 9);
    put_uint(e, IR_CODEC_VERSION);
    put_str(e, e->anonymous ? NULL : m->name);
    if (m->n_aspect_numbers) put_aspect_numbers(e);
    put_array(e, e->n_files);
    for (uint32_t i = 0; i < e->n_files; i++) put_str(e, m->files[e->files[i]]);
    put_array(e, e->n_ops);
    for (uint32_t i = 0; i < e->n_ops; i++) put_str(e, ir_op_info(e->ops[i])->text);
    put_types(e);
    put_array(e, m->n_globals);
    for (uint32_t i = 0; i < m->n_globals; i++) put_global(e, m->globals[i]);
    put_array(e, m->n_functions);
    for (uint32_t i = 0; i < m->n_functions; i++) put_function(e, m->functions[i]);
    put_array(e, m->n_functions);
    for (uint32_t i = 0; i < m->n_functions; i++) put_body(e, m->functions[i]);
}

static uint32_t *numbers(uint32_t n)
{
    return memset(arena_realloc(NULL, n * sizeof(uint32_t)), 0, n * sizeof(uint32_t));
}

static uint8_t *encode(const struct ir_module *m, bool anonymous, size_t *size)
{
    struct encoder e = {.m = m, .anonymous = anonymous};
    msgpack_packer_init(&e.pk, &e, write_bytes);
    e.array_number = numbers(m->n_arrays);
    e.arrays = numbers(m->n_arrays);
    e.file_number = numbers(m->n_files);
    e.files = numbers(m->n_files);
    for (uint32_t i = 0; i < m->n_functions; i++) m->functions[i]->scratch = i;
    for (uint32_t i = 0; i < m->n_globals; i++) m->globals[i]->scratch = i;
    use_all(&e);
    put_module(&e);
    free(e.array_number);
    free(e.arrays);
    free(e.file_number);
    free(e.files);
    free(e.constants.list);
    free(e.constants.table);
    *size = e.size;
    return e.bytes;
}

uint8_t *ir_encode(const struct ir_module *m, size_t *size)
{
    return encode(m, false, size);
}

uint8_t *ir_encode_anonymous(const struct ir_module *m, size_t *size)
{
    return encode(m, true, size);
}
