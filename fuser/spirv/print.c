/*
 * What is printed, and what checks find, is copied into a record (fuser/spirv/abi/print.h): arguments, format and
 * strings. Which arguments are strings the format says, and so it must be a known one, or be chosen from known ones; in
 * which memory these are, what is stored as the argument.
 */
#include "fuser/spirv/print.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/abi/print.h"
#include "fuser/spirv/formats.h"
#include "fuser/spirv/library/library.h"
#include "ir/base/arena.h"
#include "ir/printf/format.h"

enum {
    WORD = 8,
    MAX_STRINGS = 64,
    ARGUMENT_WORD = 8 /* bytes before each argument */
};

struct user {
    const struct ir_inst *memory;
    bool prints;
};

static void see_user(struct ir_inst *inst, void *data)
{
    struct user *u = data;
    uint64_t offset;
    u->prints |= inst->op == IR_OP_PRINTF && spirv_place_of(inst->operands[2], &offset) == u->memory;
}

bool spirv_stores_to_print(const struct ir_inst *store)
{
    uint64_t offset;
    struct user u = {.memory = spirv_place_of(store->operands[0], &offset)};
    if (u.memory && u.memory->op == IR_OP_VAR) ir_walk(store->parent->function->body, see_user, &u);
    return u.prints;
}

/* ---- which arguments are strings ---- */

struct words {
    const struct ir_inst *memory; /* of the arguments */
    uint64_t at;                  /* what is stored so many bytes behind its beginning, */
    const struct ir_value *value; /* NULL: nothing, */
    bool differ;                  /* or one thing and another */
};

static void see_store(struct ir_inst *inst, void *data)
{
    struct words *w = data;
    uint64_t at, a, b;
    if (inst->op != IR_OP_STORE || spirv_place_of(inst->operands[0], &at) != w->memory || at != w->at) return;
    const struct ir_value *v = inst->operands[1];
    bool same = w->value && w->value->type == v->type &&
                (ir_type_is_ptr(v->type) || (ir_value_uint(w->value, &a) && ir_value_uint(v, &b) && a == b));
    w->differ |= w->value && !same;
    w->value = v;
}

static const struct ir_value *stored_at(const struct ir_inst *print, uint64_t at)
{
    uint64_t offset;
    struct words w = {.memory = spirv_place_of(print->operands[2], &offset)};
    w.at = at + offset;
    if (w.memory) ir_walk(print->parent->function->body, see_store, &w);
    return w.differ ? NULL : w.value;
}

struct string {
    uint64_t at; /* bytes into the arguments */
    ir_type type;
    struct ir_value *pointer, *bytes; /* with its 0 */
};

struct message {
    const char *format;
    struct string strings[MAX_STRINGS];
    unsigned n;
};

/* The next argument, from *at on; false: it is not known. What is no pointer is no string. */
static bool see_argument(const struct ir_inst *print, uint64_t *at, bool is_string, struct message *m)
{
    uint64_t word;
    const struct ir_value *v = stored_at(print, *at);
    if (!v || !ir_value_uint(v, &word)) return false;
    if (!word) return true;
    if (is_string && (word & 255) == IR_FORMAT_POINTER) {
        const struct ir_value *pointer = stored_at(print, *at + ARGUMENT_WORD);
        if (!pointer || !ir_type_is_ptr(pointer->type) || m->n == MAX_STRINGS) return false;
        m->strings[m->n++] = (struct string){.at = *at + ARGUMENT_WORD, .type = pointer->type};
    }
    *at += ARGUMENT_WORD + ir_format_room(word >> 8 & 255, word >> 16 & 255);
    return true;
}

/* Only where there are strings anything of the arguments need be known. */
static bool read_message(const struct ir_inst *print, struct message *m)
{
    *m = (struct message){.format = spirv_known_string(print->operands[1])};
    if (!m->format || print->op == IR_OP_FINDING) return m->format;
    unsigned last = 0, n = 0;
    char conversion;
    for (const char *at = m->format; ir_format_next(&at, &conversion);)
        if (n++, conversion == 's') last = n;
    uint64_t offset = 0;
    const char *at = m->format;
    for (n = 0; n < last; n++) {
        ir_format_next(&at, &conversion);
        if (!see_argument(print, &offset, conversion == 's', m)) return false;
    }
    return true;
}

/* ---- code ---- */

static struct ir_value *number(struct ir_builder *b, ir_type t, uint64_t v)
{
    return ir_const_int(b->module, t, v);
}

static void end(struct ir_builder *b, enum ir_op op, struct ir_value *const *values, uint32_t n)
{
    ir_build(b, op, IR_VOID, values, n);
}

/* Is it not the null pointer? Among variables of a work-item or work-group the first may have that address. */
static struct ir_value *is_there(struct ir_builder *b, struct ir_value *pointer)
{
    enum ir_space space = ir_type_space(pointer->type);
    if (space == IR_SPACE_PRIVATE || space == IR_SPACE_LOCAL) return ir_const_bool(b->module, true);
    struct ir_value *null = ir_const(b->module, pointer->type, (const uint64_t[]){0});
    return ir_build2(b, IR_OP_INE, pointer->type, pointer, null);
}

/* Of a string, with its 0, where a message may have so many. A null pointer's are none. */
static struct ir_value *string_bytes(struct ir_builder *b, struct ir_value *text)
{
    static const ir_type type = IR_I32;
    struct ir_value *zero = number(b, IR_I32, 0), *there = is_there(b, text);
    struct ir_inst *is = ir_build_if(b, there, &type, 1);
    struct ir_builder some = ir_builder_at_end(is->blocks[0]), null = ir_builder_at_end(is->blocks[1]);
    struct ir_inst *loop = ir_build_loop(&some, &zero, 1, &type, 1);
    struct ir_builder in = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *n = loop->blocks[0]->args[0], *next = ir_build2(&in, IR_OP_ADD, IR_I32, n, number(&in, IR_I32, 1));
    struct ir_value *byte = ir_build_load(&in, IR_I8, text, n);
    struct ir_value *ends = ir_build2(&in, IR_OP_IEQ, IR_I8, byte, number(&in, IR_I8, 0));
    struct ir_value *full = ir_build2(&in, IR_OP_UGE, IR_I32, next, number(&in, IR_I32, IR_FORMAT_MAX));
    struct ir_inst *done = ir_build_if(&in, ir_build2(&in, IR_OP_OR, IR_BOOL, ends, full), NULL, 0);
    struct ir_builder yes = ir_builder_at_end(done->blocks[0]), no = ir_builder_at_end(done->blocks[1]);
    end(&yes, IR_OP_BREAK, &next, 1);
    end(&no, IR_OP_YIELD, NULL, 0);
    end(&in, IR_OP_CONTINUE, &next, 1);
    end(&some, IR_OP_YIELD, loop->results, 1);
    end(&null, IR_OP_YIELD, &zero, 1);
    return is->results[0];
}

/* All but the last byte, which becomes 0. */
static void copy_string(struct ir_builder *b, struct ir_value *to, struct ir_value *from, struct ir_value *bytes)
{
    struct ir_value *zero = number(b, IR_I32, 0), *one = number(b, IR_I32, 1);
    struct ir_inst *loop = ir_build_loop(b, &zero, 1, NULL, 0);
    struct ir_builder in = ir_builder_at_end(loop->blocks[0]);
    struct ir_value *n = loop->blocks[0]->args[0], *next = ir_build2(&in, IR_OP_ADD, IR_I32, n, one);
    struct ir_inst *done = ir_build_if(&in, ir_build2(&in, IR_OP_UGE, IR_I32, next, bytes), NULL, 0);
    struct ir_builder yes = ir_builder_at_end(done->blocks[0]), no = ir_builder_at_end(done->blocks[1]);
    end(&yes, IR_OP_BREAK, NULL, 0);
    end(&no, IR_OP_YIELD, NULL, 0);
    ir_build_store(&in, IR_I8, to, n, ir_build_load(&in, IR_I8, from, n));
    end(&in, IR_OP_CONTINUE, &next, 1);
    struct ir_value *some = ir_build2(b, IR_OP_INE, IR_I32, bytes, zero);
    struct ir_inst *ends = ir_build_if(b, some, NULL, 0);
    yes = ir_builder_at_end(ends->blocks[0]), no = ir_builder_at_end(ends->blocks[1]);
    ir_build_store(&yes, IR_I8, to, ir_build2(&yes, IR_OP_SUB, IR_I32, bytes, one), number(&yes, IR_I8, 0));
    end(&yes, IR_OP_YIELD, NULL, 0);
    end(&no, IR_OP_YIELD, NULL, 0);
}

static uint64_t args_bytes(const struct ir_inst *print)
{
    return print->op == IR_OP_FINDING ? WORD : ir_type_size(print->parent->function->module, print->type);
}

/* A record in its place: what it says of itself, the arguments, and texts one behind the other. */
static void write_record(struct ir_builder *b, const struct ir_inst *print, const struct message *m,
                         struct ir_value *record, struct ir_value *words)
{
    uint64_t args = args_bytes(print), head = sizeof(struct spirv_print);
    bool finds = print->op == IR_OP_FINDING;
    struct ir_value *at = number(b, IR_I32, head + args), *format_bytes = number(b, IR_I32, strlen(m->format) + 1);
    ir_build_store(b, IR_I32, record, NULL, words);
    ir_build_store(b, IR_I32, record, number(b, IR_I32, offsetof(struct spirv_print, args_bytes) / 4),
                   number(b, IR_I32, finds ? SPIRV_PRINT_FINDING : args));
    ir_build_store(b, IR_I64, record, number(b, IR_I32, offsetof(struct spirv_print, item) / WORD), print->operands[0]);
    for (uint64_t i = 0; i < args / WORD; i++) {
        struct ir_value *word =
            finds ? print->operands[2] : ir_build_load(b, IR_I64, print->operands[2], number(b, IR_I32, i));
        ir_build_store(b, IR_I64, record, number(b, IR_I32, head / WORD + i), word);
    }
    copy_string(b, ir_build2(b, IR_OP_ELEM, IR_I8, record, at), print->operands[1], format_bytes);
    at = ir_build2(b, IR_OP_ADD, IR_I32, at, format_bytes);
    for (unsigned i = 0; i < m->n; i++) {
        const struct string *s = &m->strings[i];
        struct ir_value *none = ir_build2(b, IR_OP_IEQ, IR_I32, s->bytes, number(b, IR_I32, 0));
        struct ir_value *place = ir_build3(b, IR_OP_SELECT, IR_I32, none, number(b, IR_I32, 0), at);
        ir_build_store(b, IR_I64, record, number(b, IR_I32, (head + s->at) / WORD),
                       ir_build1(b, IR_OP_ZEXT, IR_I64, place));
        copy_string(b, ir_build2(b, IR_OP_ELEM, IR_I8, record, at), s->pointer, s->bytes);
        at = ir_build2(b, IR_OP_ADD, IR_I32, at, s->bytes);
    }
}

static struct ir_value *words_of(struct ir_builder *b, const struct ir_inst *print, struct message *m)
{
    uint64_t known = sizeof(struct spirv_print) + args_bytes(print) + strlen(m->format) + 1;
    struct ir_value *bytes = number(b, IR_I32, known + WORD - 1);
    for (unsigned i = 0; i < m->n; i++) {
        struct string *s = &m->strings[i];
        s->pointer = ir_build_load(b, s->type, print->operands[2], number(b, IR_I32, s->at / WORD));
        s->bytes = string_bytes(b, s->pointer);
        bytes = ir_build2(b, IR_OP_ADD, IR_I32, bytes, s->bytes);
    }
    return ir_build2(b, IR_OP_LSHR, IR_I32, bytes, number(b, IR_I32, 3));
}

static void lower(struct ir_function *f, struct ir_inst *print, struct message *m, struct ir_value *prints)
{
    static const ir_type type = IR_I32;
    struct ir_builder b = ir_builder_before(print);
    b.loc = print->loc;
    struct ir_value *words = words_of(&b, print, m), *none = number(&b, IR_I32, ~0ull);
    struct ir_value *place =
        ir_build_call(&b, spirv_library_function(b.module, "print_take"), (struct ir_value *[]){prints, words}, 2)
            ->results[0];
    struct ir_inst *is = ir_build_if(&b, ir_build2(&b, IR_OP_INE, IR_I32, place, none), &type, 1);
    struct ir_builder yes = ir_builder_at_end(is->blocks[0]), no = ir_builder_at_end(is->blocks[1]);
    struct ir_value *records =
        ir_build2(&yes, IR_OP_ELEM, IR_I8, prints, number(&yes, IR_I32, offsetof(struct spirv_prints, records)));
    struct ir_value *wide = ir_build1(&yes, IR_OP_ZEXT, IR_I64, place), *zero = number(&yes, IR_I32, 0);
    write_record(&yes, print, m, ir_build2(&yes, IR_OP_ELEM, IR_I64, records, wide), words);
    if (print->op == IR_OP_FINDING)
        ir_build_call(&no, spirv_library_function(b.module, "print_lose"), &prints, 1);
    else
        ir_replace_uses(f->body, print->results[0], is->results[0]);
    end(&yes, IR_OP_YIELD, &zero, 1);
    end(&no, IR_OP_YIELD, &none, 1);
    ir_inst_remove(print);
}

/* ---- all of them ---- */

struct found {
    struct ir_inst **insts;
    size_t n;
};

static void find(struct ir_inst *inst, void *data)
{
    struct found *f = data;
    if (inst->op != IR_OP_PRINTF && inst->op != IR_OP_FINDING) return;
    f->insts = arena_realloc(f->insts, (f->n + 1) * sizeof *f->insts);
    f->insts[f->n++] = inst;
}

bool spirv_lower_prints(struct ir_function *kernel)
{
    struct found found = {0};
    struct ir_value *prints = NULL;
    ir_walk(kernel->body, find, &found);
    for (size_t i = 0; i < found.n; i++) {
        struct ir_inst *print = found.insts[i];
        struct message m;
        if (print->op == IR_OP_PRINTF && spirv_split_formats(print, find, &found)) continue;
        if (!read_message(found.insts[i], &m)) continue;
        if (!prints) prints = ir_function_add_param(kernel, NULL, IR_PTR(IR_SPACE_GLOBAL));
        lower(kernel, found.insts[i], &m, prints);
    }
    free(found.insts);
    return prints;
}
