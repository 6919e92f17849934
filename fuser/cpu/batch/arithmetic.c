/* Operations whose result follows from their operands alone: one step a component, or a formula's steps. */
#include "fuser/cpu/batch/arithmetic.h"

#include "ir/formula/formula.h"

/* ---- one operation ---- */

static bool is_conversion(unsigned op)
{
    return op >= IR_OP_ITRUNC && op <= IR_OP_UTOF;
}

/* The rounding that loops have. */
static bool usual_rounding(unsigned op, enum ir_rounding rounding)
{
    bool to_int = op == IR_OP_FTOS || op == IR_OP_FTOU;
    return rounding == IR_ROUND_DEFAULT || rounding == (to_int ? IR_ROUND_RTZ : IR_ROUND_RTE);
}

static column_function *loop_for(const struct translation *t, unsigned op, enum ir_kind kind, enum ir_kind from,
                                 enum ir_rounding rounding)
{
    const struct columns *c = t->b->columns;
    if (op >= FORMULA_LIBRARY) return c->library((enum ir_op)(op - FORMULA_LIBRARY), kind);
    if (op == IR_OP_SELECT) return c->select[batch_size_of(kind)];
    if (is_conversion(op)) return usual_rounding(op, rounding) ? c->conversion((enum ir_op)op, kind, from) : NULL;
    if (from == IR_KIND_PTR) from = IR_KIND_I64;
    return c->operation(op, from);
}

/* A whole number first, then the conversion, which cuts nothing off; NaN and what is too large stay as they are. */
static bool to_whole(unsigned op, enum ir_kind from, enum ir_rounding rounding, enum ir_op *whole)
{
    static const enum ir_op operations[IR_ROUND_COUNT] = {
        [IR_ROUND_RTE] = IR_OP_RINT, [IR_ROUND_RTP] = IR_OP_CEIL, [IR_ROUND_RTN] = IR_OP_FLOOR};
    if ((op != IR_OP_FTOS && op != IR_OP_FTOU) || from == IR_KIND_F16 || usual_rounding(op, rounding)) return false;
    *whole = operations[rounding];
    return true;
}

/* What is the same of an f32 as of the f16 that it was made of. */
static bool asks_a_half(unsigned op, enum ir_kind from)
{
    return from == IR_KIND_F16 && op >= IR_OP_FOEQ && op <= IR_OP_ISFINITE;
}

static batch_reg one_step(struct translation *t, unsigned op, enum ir_kind kind, enum ir_kind from,
                          enum ir_rounding rounding, unsigned n, const batch_reg *args)
{
    struct build *k = &t->build;
    bool uniform = true;
    batch_reg in[4] = {NO_REG, NO_REG, NO_REG, NO_REG};
    for (unsigned i = 0; i < n; i++) uniform &= build_is_uniform(k, args[i]);
    for (unsigned i = 0; i < n; i++) in[i] = uniform ? args[i] : build_column(k, args[i]);
    batch_reg r = build_reg(k, kind, uniform);
    column_function *function = loop_for(t, op, kind, from, rounding);
    struct step *s = build_step(k, !function ? STEP_EVALUATE : uniform ? STEP_SINGLE : STEP_COLUMN);
    s->op = (uint16_t)op;
    s->number = (uint8_t)kind;
    s->from = (uint8_t)from;
    s->rounding = (uint8_t)rounding;
    s->r = r;
    s->size = (uint8_t)batch_size_of(kind);
    for (unsigned i = 0; i < 4; i++) {
        s->in[i] = in[i];
        s->in_size[i] = in[i] == NO_REG ? 0 : k->regs[in[i]].size;
    }
    s->function = function;
    return r;
}

batch_reg arithmetic_op(struct translation *t, unsigned op, enum ir_kind kind, enum ir_kind from,
                        enum ir_rounding rounding, unsigned n, const batch_reg *args)
{
    enum ir_op whole;
    if (to_whole(op, from, rounding, &whole)) {
        batch_reg rounded = one_step(t, whole, from, from, IR_ROUND_DEFAULT, 1, args);
        return one_step(t, op, kind, from, IR_ROUND_DEFAULT, 1, &rounded);
    }
    if (asks_a_half(op, from)) {
        batch_reg wide[2] = {0};
        for (unsigned i = 0; i < n; i++)
            wide[i] = one_step(t, IR_OP_FPCONV, IR_KIND_F32, from, IR_ROUND_DEFAULT, 1, &args[i]);
        return one_step(t, op, kind, IR_KIND_F32, rounding, n, wide);
    }
    return one_step(t, op, kind, from, rounding, n, args);
}

static batch_reg op2(struct translation *t, enum ir_op op, enum ir_kind kind, enum ir_kind from, batch_reg x,
                     batch_reg y)
{
    return arithmetic_op(t, op, kind, from, IR_ROUND_DEFAULT, 2, (batch_reg[]){x, y});
}

static batch_reg select_op(struct translation *t, enum ir_kind kind, batch_reg c, batch_reg x, batch_reg y)
{
    return arithmetic_op(t, IR_OP_SELECT, kind, IR_KIND_BOOL, IR_ROUND_DEFAULT, 3, (batch_reg[]){c, x, y});
}

/* ---- formulas: a value's bits are its register ---- */

static struct formula_value formula_reg(enum ir_kind kind, batch_reg r)
{
    return (struct formula_value){.kind = kind, .bits = r};
}

static struct formula_value formula_number(const struct formula *f, enum ir_kind kind, uint64_t bits)
{
    struct translation *t = f->user;
    return formula_reg(kind, build_constant(&t->build, kind, bits));
}

static batch_reg float_op(struct translation *t, const struct formula *f, unsigned op, enum ir_kind kind, unsigned n,
                          const struct formula_value *args);

static struct formula_value formula_compute(const struct formula *f, enum ir_op op, enum ir_kind kind, unsigned n,
                                            const struct formula_value *args)
{
    struct translation *t = f->user;
    batch_reg in[4];
    for (unsigned i = 0; i < n; i++) in[i] = (batch_reg)args[i].bits;
    if (op == IR_OP_BITCAST) return formula_reg(kind, in[0]);
    if (op >= IR_OP_FADD && op <= IR_OP_SIGN) return formula_reg(kind, float_op(t, f, op, kind, n, args));
    enum ir_kind from = op == IR_OP_SELECT ? IR_KIND_BOOL : args[0].kind;
    return formula_reg(kind, arithmetic_op(t, op, kind, from, IR_ROUND_DEFAULT, n, in));
}

/* Skipped where no lane needs it. */
static struct formula_value formula_rarely(const struct formula *f, struct formula_value where,
                                           struct formula_value usual, formula_other *other,
                                           const struct formula_value *args)
{
    struct translation *t = f->user;
    struct build *k = &t->build;
    batch_reg condition = (batch_reg)where.bits, normal = (batch_reg)usual.bits;
    bool uniform = build_is_uniform(k, condition) && build_is_uniform(k, normal);
    batch_reg r = build_reg(k, usual.kind, uniform);
    if (!uniform) condition = build_column(k, condition);
    build_move(k, r, normal);
    uint32_t label = build_label(k);
    struct columns_made *scope = build_scope_begin(k);
    struct step *s = build_step(k, uniform ? STEP_JUMP_UNLESS : STEP_UNLESS_ANY);
    s->in[0] = condition;
    s->target = label;
    batch_reg rare = (batch_reg)other(f, args).bits;
    batch_reg chosen = select_op(t, usual.kind, condition, rare, r);
    build_move(k, r, chosen);
    build_scope_end(k, scope);
    build_place_label(k, label);
    return formula_reg(usual.kind, r);
}

/* A float operation, by its formula where it has one. */
static batch_reg float_op(struct translation *t, const struct formula *f, unsigned op, enum ir_kind kind, unsigned n,
                          const struct formula_value *args)
{
    struct formula_value in[4] = {0}, result;
    batch_reg regs[4];
    for (unsigned i = 0; i < n; i++) in[i] = args[i], regs[i] = (batch_reg)args[i].bits;
    if (op < IR_OP_COUNT && formula_expand(f, (enum ir_op)op, kind, in, &result)) return (batch_reg)result.bits;
    return arithmetic_op(t, op, kind, args[0].kind, IR_ROUND_DEFAULT, n, regs);
}

static struct formula formula_of(struct translation *t)
{
    return (struct formula){formula_compute, formula_number, formula_rarely, t};
}

static void translate_geometric(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    struct formula f = formula_of(t);
    enum ir_kind kind = ir_type_kind(inst->type);
    unsigned n = ir_type_lanes(inst->type);
    struct formula_value x[IR_MAX_LANES], y[IR_MAX_LANES], result[IR_MAX_LANES];
    for (unsigned c = 0; c < n; c++) {
        x[c] = formula_reg(kind, values_reg(t, inst->operands[0], c));
        y[c] = inst->n_operands > 1 ? formula_reg(kind, values_reg(t, inst->operands[1], c)) : x[c];
    }
    formula_geometric(&f, inst->op, kind, n, x, y, result);
    for (unsigned c = 0; c < ir_type_lanes(inst->results[0]->type); c++) r[c] = (batch_reg)result[c].bits;
}

/* ---- whole vectors ---- */

static unsigned join(struct translation *t, const struct ir_inst *inst, uint32_t n, batch_reg *all)
{
    unsigned at = 0;
    for (uint32_t i = 0; i < n; i++)
        for (unsigned c = 0; c < ir_type_lanes(inst->operands[i]->type); c++)
            all[at++] = values_reg(t, inst->operands[i], c);
    return at;
}

static batch_reg is_index(struct translation *t, enum ir_kind kind, batch_reg index, uint64_t c)
{
    return op2(t, IR_OP_IEQ, IR_KIND_BOOL, kind, index, build_constant(&t->build, kind, c));
}

/* The one of n that the index names, else 0. */
static batch_reg pick(struct translation *t, enum ir_kind kind, const batch_reg *all, unsigned n,
                      enum ir_kind index_kind, batch_reg index)
{
    batch_reg r = build_constant(&t->build, kind, 0);
    for (unsigned c = 0; c < n; c++) r = select_op(t, kind, is_index(t, index_kind, index, c), all[c], r);
    return r;
}

static void extract(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    batch_reg all[IR_MAX_LANES];
    uint64_t c;
    unsigned n = join(t, inst, 1, all);
    if (ir_value_uint(inst->operands[1], &c))
        *r = c < n ? all[c] : build_constant(&t->build, ir_type_kind(inst->type), 0);
    else
        *r = pick(t, ir_type_kind(inst->type), all, n, ir_type_kind(inst->operands[1]->type),
                  values_reg(t, inst->operands[1], 0));
}

static void insert(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    const struct ir_value *index = inst->operands[2];
    batch_reg new = values_reg(t, inst->operands[1], 0);
    uint64_t at;
    bool known = ir_value_uint(index, &at);
    unsigned n = join(t, inst, 1, r);
    for (unsigned c = 0; c < n; c++) {
        if (known && c == at) r[c] = new;
        if (!known)
            r[c] = select_op(t, ir_type_kind(inst->type),
                             is_index(t, ir_type_kind(index->type), values_reg(t, index, 0), c), new, r[c]);
    }
}

static void shuffle(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    batch_reg all[2 * IR_MAX_LANES];
    int n = (int)join(t, inst, 2, all);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        int from = inst->attrs.mask[c];
        r[c] = from >= 0 && from < n ? all[from] : build_constant(&t->build, ir_type_kind(inst->type), 0);
    }
}

/* A vector of 3 counts as one of 4. */
static void shuffle_dynamic(struct translation *t, const struct ir_inst *inst, uint32_t sources, batch_reg *r)
{
    enum ir_kind kind = ir_type_kind(inst->type), index_kind = ir_type_kind(inst->operands[sources]->type);
    unsigned lanes = ir_type_lanes(inst->operands[0]->type), room = lanes == 3 ? 4 : lanes;
    batch_reg all[2 * IR_MAX_LANES + 2];
    for (unsigned i = 0; i < room * sources; i++)
        all[i] =
            i % room < lanes ? values_reg(t, inst->operands[i / room], i % room) : build_constant(&t->build, kind, 0);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        batch_reg index = op2(t, IR_OP_AND, index_kind, index_kind, values_reg(t, inst->operands[sources], c),
                              build_constant(&t->build, index_kind, room * sources - 1));
        r[c] = pick(t, kind, all, room * sources, index_kind, index);
    }
}

static enum ir_kind int_of_size(unsigned size)
{
    static const enum ir_kind kinds[] = {IR_KIND_I8, IR_KIND_I16, IR_KIND_I32, IR_KIND_I64};
    return kinds[size];
}

/* Between numbers of different sizes: by integers. */
static void bitcast(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    ir_type from = inst->operands[0]->type, to = inst->type;
    unsigned small = batch_size_of(ir_type_kind(from)), large = batch_size_of(ir_type_kind(to));
    batch_reg all[IR_MAX_LANES];
    join(t, inst, 1, all);
    for (unsigned c = 0; c < ir_type_lanes(to) && small == large; c++) r[c] = all[c];
    if (small == large) return;
    bool widens = small < large;
    unsigned step = widens ? 1u << (large - small) : 1u << (small - large), bits = 8u << (widens ? small : large);
    enum ir_kind in = int_of_size(small), out = int_of_size(large), wide = widens ? out : in;
    for (unsigned c = 0; c < ir_type_lanes(to); c++) {
        if (!widens) {
            batch_reg part = op2(t, IR_OP_LSHR, in, in, all[c / step], build_constant(&t->build, in, c % step * bits));
            r[c] = arithmetic_op(t, IR_OP_ITRUNC, out, in, IR_ROUND_DEFAULT, 1, &part);
            continue;
        }
        for (unsigned i = 0; i < step; i++) {
            unsigned at = c * step + i;
            batch_reg part = at < ir_type_lanes(from) ? all[at] : build_constant(&t->build, in, 0);
            part = arithmetic_op(t, IR_OP_ZEXT, wide, in, IR_ROUND_DEFAULT, 1, &part);
            part = op2(t, IR_OP_SHL, wide, wide, part, build_constant(&t->build, wide, i * bits));
            r[c] = i ? op2(t, IR_OP_OR, wide, wide, r[c], part) : part;
        }
    }
}

static void any_or_all(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    enum ir_kind kind = ir_type_kind(inst->type);
    for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) {
        batch_reg x = values_reg(t, inst->operands[0], c);
        if (kind != IR_KIND_BOOL) x = op2(t, IR_OP_SLT, IR_KIND_BOOL, kind, x, build_constant(&t->build, kind, 0));
        *r = c ? op2(t, inst->op == IR_OP_ANY ? IR_OP_OR : IR_OP_AND, IR_KIND_BOOL, IR_KIND_BOOL, *r, x) : x;
    }
}

static bool vector_operation(struct translation *t, const struct ir_inst *inst, batch_reg *r)
{
    unsigned lanes = ir_type_lanes(inst->type);
    bool per_lane;
    switch (inst->op) {
    case IR_OP_DOT ... IR_OP_NORMALIZE: translate_geometric(t, inst, r); return true;
    case IR_OP_ANY:
    case IR_OP_ALL: any_or_all(t, inst, r); return true;
    case IR_OP_SELECT:
        per_lane = ir_type_is_vector(inst->operands[0]->type);
        for (unsigned c = 0; c < lanes; c++)
            r[c] = select_op(t, ir_type_kind(inst->type), values_reg(t, inst->operands[0], per_lane ? c : 0),
                             values_reg(t, inst->operands[1], c), values_reg(t, inst->operands[2], c));
        return true;
    case IR_OP_BITCAST: bitcast(t, inst, r); return true;
    case IR_OP_VEC: join(t, inst, inst->n_operands, r); return true;
    case IR_OP_SPLAT:
        for (unsigned c = 0; c < lanes; c++) r[c] = values_reg(t, inst->operands[0], 0);
        return true;
    case IR_OP_EXTRACT: extract(t, inst, r); return true;
    case IR_OP_INSERT: insert(t, inst, r); return true;
    case IR_OP_SHUFFLE: shuffle(t, inst, r); return true;
    case IR_OP_VSHUFFLE: shuffle_dynamic(t, inst, 1, r); return true;
    case IR_OP_VSHUFFLE2: shuffle_dynamic(t, inst, 2, r); return true;
    default: return false;
    }
}

/* ---- component by component ---- */

static batch_reg component(struct translation *t, const struct ir_inst *inst, unsigned c)
{
    struct formula f = formula_of(t);
    struct formula_value v[4] = {0};
    batch_reg in[4];
    for (uint32_t i = 0; i < inst->n_operands && i < 4; i++) {
        ir_type type = inst->operands[i]->type;
        in[i] = values_reg(t, inst->operands[i], ir_type_is_vector(type) ? c : 0);
        v[i] = formula_reg(ir_type_kind(type), in[i]);
    }
    enum ir_kind kind = ir_type_kind(inst->results[0]->type);
    if (inst->op >= IR_OP_FADD && inst->op <= IR_OP_SIGN) return float_op(t, &f, inst->op, kind, inst->n_operands, v);
    return arithmetic_op(t, inst->op, kind, v[0].kind, (enum ir_rounding)inst->attrs.rounding, inst->n_operands, in);
}

bool arithmetic_translate(struct translation *t, const struct ir_inst *inst)
{
    batch_reg r[IR_MAX_LANES];
    if (inst->op > IR_OP_BITCAST && ir_op_class(inst->op) != IR_CLASS_VECTOR) return false;
    if (!vector_operation(t, inst, r))
        for (unsigned c = 0; c < ir_type_lanes(inst->type); c++) r[c] = component(t, inst, c);
    values_set(t, inst->results[0], r);
    return true;
}
