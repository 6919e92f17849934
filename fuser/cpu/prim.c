/*
 * The vector primitives: operations on whole chunks that take an instruction or two. What the library
 * can say (arithmetic on vector types) is said through it; comparisons, conversions, blends and the like,
 * which it cannot say, come from one table of instructions. Whatever is found in neither goes lane by lane
 * (ops.c), which is also how processors without a table work.
 */
#include <stdio.h>

#include "fuser/cpu/emit.h"

/* ---- arithmetic through the library ---- */

static gcc_jit_type *signed_vector(struct emit *e, enum ir_kind kind)
{
    gcc_jit_type **t = &e->signed_vectors[kind_bytes(kind)];
    if (!*t) *t = gcc_jit_type_get_vector(jit_signed(e, kind), lanes_per_chunk(e, kind));
    return *t;
}

static rval shift_amount(struct emit *e, enum ir_kind kind, lval v)
{
    struct lanes width = lanes_int(e, kind, kind_bytes(kind) * 8 - 1);
    return jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, jit_read(v), jit_read(lanes_vectors(e, &width)[0]));
}

static rval arithmetic(struct emit *e, enum ir_op op, enum ir_kind kind, lval a, lval b)
{
    static const enum gcc_jit_binary_op binary[IR_OP_COUNT] = {
        [IR_OP_ADD] = GCC_JIT_BINARY_OP_PLUS,      [IR_OP_FADD] = GCC_JIT_BINARY_OP_PLUS,
        [IR_OP_SUB] = GCC_JIT_BINARY_OP_MINUS,     [IR_OP_FSUB] = GCC_JIT_BINARY_OP_MINUS,
        [IR_OP_MUL] = GCC_JIT_BINARY_OP_MULT,      [IR_OP_FMUL] = GCC_JIT_BINARY_OP_MULT,
        [IR_OP_FDIV] = GCC_JIT_BINARY_OP_DIVIDE,   [IR_OP_AND] = GCC_JIT_BINARY_OP_BITWISE_AND,
        [IR_OP_OR] = GCC_JIT_BINARY_OP_BITWISE_OR, [IR_OP_XOR] = GCC_JIT_BINARY_OP_BITWISE_XOR,
        [IR_OP_SHL] = GCC_JIT_BINARY_OP_LSHIFT,    [IR_OP_LSHR] = GCC_JIT_BINARY_OP_RSHIFT,
    };
    gcc_jit_type *type = gcc_jit_rvalue_get_type(jit_read(a));
    switch (op) {
    case IR_OP_NOT:
        return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, type, jit_read(a));
    case IR_OP_NEG:
    case IR_OP_FNEG: return gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_MINUS, type, jit_read(a));
    case IR_OP_SHL:
    case IR_OP_LSHR: return jit_binary(e, binary[op], jit_read(a), shift_amount(e, kind, b));
    case IR_OP_ASHR: {
        rval x = jit_bits(e, jit_read(a), signed_vector(e, kind));
        rval by = jit_bits(e, shift_amount(e, kind, b), signed_vector(e, kind));
        return jit_bits(e, jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, x, by), type);
    }
    default: return jit_binary(e, binary[op], jit_read(a), jit_read(b));
    }
}

static bool is_arithmetic(enum ir_op op, enum ir_kind kind)
{
    switch (op) {
    case IR_OP_AND:
    case IR_OP_OR:
    case IR_OP_XOR:
    case IR_OP_NOT: return true;
    case IR_OP_ADD:
    case IR_OP_SUB:
    case IR_OP_MUL:
    case IR_OP_NEG:
    case IR_OP_SHL:
    case IR_OP_LSHR:
    case IR_OP_ASHR: return kind >= IR_KIND_I8 && kind <= IR_KIND_I64;
    case IR_OP_FADD:
    case IR_OP_FSUB:
    case IR_OP_FMUL:
    case IR_OP_FDIV:
    case IR_OP_FNEG: return kind == IR_KIND_F32 || kind == IR_KIND_F64;
    default: return false;
    }
}

static void emit_arithmetic(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                            struct lanes *result)
{
    *result = lanes_varying(e, kind);
    lval *a = lanes_vectors(e, &args[0]), *b = n > 1 ? lanes_vectors(e, &args[1]) : a;
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++)
        result->chunk[c] = kind == IR_KIND_BOOL ? mask_logic(e, op, a[c], n > 1 ? b[c] : NULL)
                                                : jit_keep(e, arithmetic(e, op, kind, a[c], b[c]));
}

/* ---- the table of instructions ---- */

enum form { UNARY, ROUNDING, BINARY, TERNARY, COMPARE };

struct row {
    unsigned op;
    enum ir_kind kind, from; /* of the result and of the first operand */
    enum form form;
    enum gccjit_isa least;
    const char *name; /* without the v of AVX; "" + v where the instruction set has it in AVX form only */
    unsigned immediate;
};

#define I8 IR_KIND_I8
#define I16 IR_KIND_I16
#define I32 IR_KIND_I32
#define I64 IR_KIND_I64
#define F32 IR_KIND_F32
#define F64 IR_KIND_F64
#define SSE4 GCCJIT_ISA_SSE4
#define AVX2 GCCJIT_ISA_AVX2
#define AVX512 GCCJIT_ISA_AVX512

/* A pair for both widths of float. */
#define FLOATS(op, form, least, name)                                                                                  \
    {op, F32, F32, form, least, name "ps", 0},                                                                         \
    {                                                                                                                  \
        op, F64, F64, form, least, name "pd", 0                                                                        \
    }
#define ROUNDINGS(op, immediate)                                                                                       \
    {op, F32, F32, ROUNDING, SSE4, "ps", immediate},                                                                   \
    {                                                                                                                  \
        op, F64, F64, ROUNDING, SSE4, "pd", immediate                                                                  \
    }
#define INTS(op, form, name, least64)                                                                                  \
    {op, I8, I8, form, SSE4, name "b", 0}, {op, I16, I16, form, SSE4, name "w", 0},                                    \
        {op, I32, I32, form, SSE4, name "d", 0},                                                                       \
    {                                                                                                                  \
        op, I64, I64, form, least64, name "q", 0                                                                       \
    }

static const struct row rows[] = {
    FLOATS(IR_OP_SQRT, UNARY, SSE4, "sqrt"),
    FLOATS(FORMULA_FMIN, BINARY, SSE4, "min"),
    FLOATS(FORMULA_FMAX, BINARY, SSE4, "max"),
    {FORMULA_SCALE, F32, F32, BINARY, AVX512, "scalefps", 0},
    FLOATS(IR_OP_FMA, TERNARY, AVX2, "fmadd213"),
    ROUNDINGS(IR_OP_RINT, 8),
    ROUNDINGS(IR_OP_FLOOR, 9),
    ROUNDINGS(IR_OP_CEIL, 10),
    ROUNDINGS(IR_OP_TRUNC, 11),
    INTS(IR_OP_SMIN, BINARY, "pmins", AVX512),
    INTS(IR_OP_SMAX, BINARY, "pmaxs", AVX512),
    INTS(IR_OP_UMIN, BINARY, "pminu", AVX512),
    INTS(IR_OP_UMAX, BINARY, "pmaxu", AVX512),
    INTS(IR_OP_SABS, UNARY, "pabs", AVX512),
    {IR_OP_SADD_SAT, I8, I8, BINARY, SSE4, "paddsb", 0},
    {IR_OP_SADD_SAT, I16, I16, BINARY, SSE4, "paddsw", 0},
    {IR_OP_UADD_SAT, I8, I8, BINARY, SSE4, "paddusb", 0},
    {IR_OP_UADD_SAT, I16, I16, BINARY, SSE4, "paddusw", 0},
    {IR_OP_SSUB_SAT, I8, I8, BINARY, SSE4, "psubsb", 0},
    {IR_OP_SSUB_SAT, I16, I16, BINARY, SSE4, "psubsw", 0},
    {IR_OP_USUB_SAT, I8, I8, BINARY, SSE4, "psubusb", 0},
    {IR_OP_USUB_SAT, I16, I16, BINARY, SSE4, "psubusw", 0},
    {IR_OP_URHADD, I8, I8, BINARY, SSE4, "pavgb", 0},
    {IR_OP_URHADD, I16, I16, BINARY, SSE4, "pavgw", 0},
    /* Conversions. Where one side has 8 bytes, it has twice the chunks: see convert(). */
    {IR_OP_STOF, F32, I32, UNARY, SSE4, "cvtdq2ps", 0},
    {IR_OP_UTOF, F32, I32, UNARY, AVX512, "cvtudq2ps", 0},
    {IR_OP_STOF, F64, I32, UNARY, SSE4, "cvtdq2pd", 0},
    {IR_OP_UTOF, F64, I32, UNARY, AVX512, "cvtudq2pd", 0},
    {IR_OP_STOF, F32, I64, UNARY, AVX512, "cvtqq2ps", 0},
    {IR_OP_UTOF, F32, I64, UNARY, AVX512, "cvtuqq2ps", 0},
    {IR_OP_STOF, F64, I64, UNARY, AVX512, "cvtqq2pd", 0},
    {IR_OP_UTOF, F64, I64, UNARY, AVX512, "cvtuqq2pd", 0},
    {IR_OP_FPCONV, F64, F32, UNARY, SSE4, "cvtps2pd", 0},
    {IR_OP_FPCONV, F32, F64, UNARY, SSE4, "cvtpd2ps", 0},
    {OP_RAW_FTOS, I32, F32, UNARY, SSE4, "cvttps2dq", 0},
    {OP_RAW_FTOU, I32, F32, UNARY, AVX512, "cvttps2udq", 0},
    {OP_RAW_FTOS, I32, F64, UNARY, SSE4, "cvttpd2dq", 0},
    {OP_RAW_FTOU, I32, F64, UNARY, AVX512, "cvttpd2udq", 0},
    {OP_RAW_FTOS, I64, F64, UNARY, AVX512, "cvttpd2qq", 0},
    {OP_RAW_FTOU, I64, F64, UNARY, AVX512, "cvttpd2uqq", 0},
    {IR_OP_FPCONV, F32, IR_KIND_F16, UNARY, AVX2, "cvtph2ps", 0},
    {IR_OP_FPCONV, IR_KIND_F16, F32, ROUNDING, AVX2, "cvtps2ph", 0},
    {IR_OP_ZEXT, I32, I8, UNARY, SSE4, "pmovzxbd", 0},
    {IR_OP_ZEXT, I32, I16, UNARY, SSE4, "pmovzxwd", 0},
    {IR_OP_ZEXT, I16, I8, UNARY, SSE4, "pmovzxbw", 0},
    {IR_OP_ZEXT, I64, I32, UNARY, SSE4, "pmovzxdq", 0},
    {IR_OP_SEXT, I32, I8, UNARY, SSE4, "pmovsxbd", 0},
    {IR_OP_SEXT, I32, I16, UNARY, SSE4, "pmovsxwd", 0},
    {IR_OP_SEXT, I16, I8, UNARY, SSE4, "pmovsxbw", 0},
    {IR_OP_SEXT, I64, I32, UNARY, SSE4, "pmovsxdq", 0},
    {IR_OP_ITRUNC, I32, I64, UNARY, AVX512, "pmovqd", 0},
    {IR_OP_ITRUNC, I16, I32, UNARY, AVX512, "pmovdw", 0},
    {IR_OP_ITRUNC, I8, I32, UNARY, AVX512, "pmovdb", 0},
    {IR_OP_ITRUNC, I8, I16, UNARY, AVX512, "pmovwb", 0},
    /* Comparisons. The rest are these with operands swapped or the result inverted. */
    {IR_OP_FOEQ, F32, F32, COMPARE, SSE4, "cmpps", 0},
    {IR_OP_FOLT, F32, F32, COMPARE, SSE4, "cmpps", 1},
    {IR_OP_FOLE, F32, F32, COMPARE, SSE4, "cmpps", 2},
    {IR_OP_FUNO, F32, F32, COMPARE, SSE4, "cmpps", 3},
    {IR_OP_FUNE, F32, F32, COMPARE, SSE4, "cmpps", 4},
    {IR_OP_FUGE, F32, F32, COMPARE, SSE4, "cmpps", 5},
    {IR_OP_FUGT, F32, F32, COMPARE, SSE4, "cmpps", 6},
    {IR_OP_FORD, F32, F32, COMPARE, SSE4, "cmpps", 7},
    {IR_OP_FOEQ, F64, F64, COMPARE, SSE4, "cmppd", 0},
    {IR_OP_FOLT, F64, F64, COMPARE, SSE4, "cmppd", 1},
    {IR_OP_FOLE, F64, F64, COMPARE, SSE4, "cmppd", 2},
    {IR_OP_FUNO, F64, F64, COMPARE, SSE4, "cmppd", 3},
    {IR_OP_FUNE, F64, F64, COMPARE, SSE4, "cmppd", 4},
    {IR_OP_FUGE, F64, F64, COMPARE, SSE4, "cmppd", 5},
    {IR_OP_FUGT, F64, F64, COMPARE, SSE4, "cmppd", 6},
    {IR_OP_FORD, F64, F64, COMPARE, SSE4, "cmppd", 7},
    INTS(IR_OP_IEQ, COMPARE, "pcmpeq", SSE4),
    INTS(IR_OP_SGT, COMPARE, "pcmpgt", SSE4),
    INTS(IR_OP_ULT, COMPARE, "pcmpu", AVX512), /* with masks in registers only */
};

/* With masks in registers all integer comparisons are one instruction with a predicate. */
static int mask_predicate(enum ir_op op)
{
    switch (op) {
    case IR_OP_IEQ: return 0;
    case IR_OP_SLT:
    case IR_OP_ULT: return 1;
    case IR_OP_SLE:
    case IR_OP_ULE: return 2;
    case IR_OP_INE: return 4;
    case IR_OP_SGE:
    case IR_OP_UGE: return 5;
    case IR_OP_SGT:
    case IR_OP_UGT: return 6;
    default: return -1;
    }
}

static const struct row *find_row(const struct emit *e, unsigned op, enum ir_kind kind, enum ir_kind from)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct row *r = &rows[i];
        if (r->op == op && r->kind == kind && r->from == from && e->isa->id >= r->least) return r;
    }
    return NULL;
}

static const char *any_register(const struct emit *e)
{
    return e->isa->id == GCCJIT_ISA_AVX512 ? "v" : "x";
}

/* One instruction of the table on one chunk. */
static lval instruction(struct emit *e, const struct row *row, gcc_jit_type *type, unsigned n, rval *inputs)
{
    char text[64];
    const char *in = any_register(e), *v = e->isa->id >= GCCJIT_ISA_AVX2 ? "v" : "";
    struct jit_asm code = {
        .text = text, .result = e->isa->id == GCCJIT_ISA_AVX512 ? "=v" : "=x", .inputs = {in, in, in}};
    bool two_operands = !*v;
    switch (row->form) {
    case UNARY: snprintf(text, sizeof text, "%s%s %%1, %%0", v, row->name); break;
    case ROUNDING: {
        const char *name = row->op == IR_OP_FPCONV ? row->name : e->isa->id == GCCJIT_ISA_AVX512 ? "rndscale" : "round";
        snprintf(text, sizeof text, "%s%s%s $%u, %%1, %%0", v, name, row->op == IR_OP_FPCONV ? "" : row->name,
                 row->immediate);
        break;
    }
    case TERNARY:
        snprintf(text, sizeof text, "%s%s %%3, %%2, %%0", v, row->name);
        code.inputs[0] = "0";
        break;
    case COMPARE:
    case BINARY: {
        char immediate[8] = "";
        if (row->kind >= F32 && row->form == COMPARE) snprintf(immediate, sizeof immediate, "$%u, ", row->immediate);
        snprintf(text, sizeof text, two_operands ? "%s%s %s%%2, %%0" : "%s%s %s%%2, %%1, %%0", v, row->name, immediate);
        if (two_operands) code.inputs[0] = "0";
        break;
    }
    }
    return jit_asm(e, &code, type, n, inputs);
}

static void emit_row(struct emit *e, const struct row *row, unsigned n, const struct lanes *args, struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    gcc_jit_type *type = jit_vector(e, row->kind, lanes_per_chunk(e, row->kind));
    lval *in[3];
    for (unsigned i = 0; i < n; i++) in[i] = lanes_vectors(e, &args[i]);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval inputs[3];
        for (unsigned i = 0; i < n; i++) inputs[i] = jit_read(in[i][c]);
        result->chunk[c] = instruction(e, row, type, n, inputs);
    }
}

/* ---- conversions between 4 and 8 bytes: one chunk is two ---- */

static rval half_of(struct emit *e, enum ir_kind kind, lval vector, unsigned half)
{
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind) / 2);
    rval first = gcc_jit_context_new_cast(e->gcc, NULL, gcc_jit_lvalue_get_address(vector, NULL),
                                          gcc_jit_type_get_pointer(type));
    return jit_read(gcc_jit_context_new_array_access(e->gcc, NULL, first, jit_int(e, I64, half)));
}

static lval join_halves(struct emit *e, enum ir_kind kind, lval low, lval high)
{
    static const struct jit_asm join[GCCJIT_ISA_COUNT] = {
        [GCCJIT_ISA_SSE4] = {.text = "movlhps %2, %0", .result = "=x", .inputs = {"0", "x"}},
        [GCCJIT_ISA_AVX2] = {.text = "vinsertf128 $1, %2, %t1, %0", .result = "=x", .inputs = {"x", "x"}},
        [GCCJIT_ISA_AVX512] = {.text = "vinsertf64x4 $1, %2, %g1, %0", .result = "=v", .inputs = {"v", "v"}},
    };
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, &join[e->isa->id], type, 2, (rval[]){jit_read(low), jit_read(high)});
}

static void widen(struct emit *e, const struct row *row, const struct lanes *arg, struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    gcc_jit_type *type = jit_vector(e, row->kind, lanes_per_chunk(e, row->kind));
    lval *in = lanes_vectors(e, arg);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval half = half_of(e, row->from, in[c / 2], c % 2);
        result->chunk[c] = instruction(e, row, type, 1, &half);
    }
}

static void narrow(struct emit *e, const struct row *row, const struct lanes *arg, struct lanes *result)
{
    *result = lanes_varying(e, row->kind);
    /* SSE writes the two numbers into the low half of a whole register. */
    unsigned lanes = lanes_per_chunk(e, row->kind) / 2;
    gcc_jit_type *type = jit_vector(e, row->kind, lanes);
    lval *in = lanes_vectors(e, arg);
    for (unsigned c = 0; c < lanes_chunks(e, row->kind); c++) {
        rval low = jit_read(in[2 * c]), high = jit_read(in[2 * c + 1]);
        lval first = instruction(e, row, type, 1, &low), second = instruction(e, row, type, 1, &high);
        result->chunk[c] = join_halves(e, row->kind, first, second);
    }
}

static bool convert(struct emit *e, const struct row *row, const struct lanes *arg, struct lanes *result)
{
    unsigned to = kind_bytes(row->kind), from = kind_bytes(row->from);
    if ((to == 8) == (from == 8)) return false;
    if (to == 8)
        widen(e, row, arg, result);
    else
        narrow(e, row, arg, result);
    return true;
}

/* ---- comparisons ---- */

/* The masks of 8-byte lanes, two chunks, as one chunk of a mask. */
static lval join_masks(struct emit *e, rval low, rval high)
{
    if (e->isa->bit_masks) {
        static const struct jit_asm join = {.text = "kunpckbw %1, %2, %0", .result = "=Yk", .inputs = {"Yk", "Yk"}};
        return jit_asm(e, &join, jit_mask_type(e), 2, (rval[]){low, high});
    }
    lval halves[2] = {jit_keep(e, jit_bits(e, low, jit_mask_type(e))),
                      jit_keep(e, jit_bits(e, high, jit_mask_type(e)))};
    unsigned n = mask_lanes(e);
    rval elements[MAX_WIDTH];
    for (unsigned i = 0; i < n; i++) elements[i] = lanes_pick(e, I32, halves[i / (n / 2)], 2 * (i % (n / 2)));
    return jit_keep(e, gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_mask_type(e), n, elements));
}

/* The instruction that compares with bit masks as its result. inverted: where it does not hold. */
static void bit_comparison(char *text, size_t size, const struct row *row, enum ir_op op, bool inverted,
                           const char *under)
{
    static const char *const suffix[] = {[1] = "b", [2] = "w", [4] = "d", [8] = "q"};
    unsigned flip = inverted ? 4 : 0; /* of floats and integers alike, the predicate's opposite */
    if (row->from >= F32)
        snprintf(text, size, "v%s $%u, %%2, %%1, %%0%s", row->name, row->immediate ^ flip, under);
    else
        snprintf(text, size, "vpcmp%s%s $%u, %%2, %%1, %%0%s", op >= IR_OP_ULT && op <= IR_OP_UGE ? "u" : "",
                 suffix[kind_bytes(row->from)], (unsigned)mask_predicate(op) ^ flip, under);
}

/* One chunk compared: a mask of its lanes. */
static rval compare_chunk(struct emit *e, const struct row *row, enum ir_op op, rval a, rval b)
{
    rval inputs[2] = {a, b};
    if (!e->isa->bit_masks) return jit_read(instruction(e, row, gcc_jit_rvalue_get_type(a), 2, inputs));
    char text[64];
    bit_comparison(text, sizeof text, row, op, false, "");
    struct jit_asm code = {.text = text, .result = "=Yk", .inputs = {"v", "v"}};
    return jit_read(jit_asm(e, &code, jit_mask_type(e), 2, inputs));
}

static void compare(struct emit *e, const struct row *row, enum ir_op op, const struct lanes *args,
                    struct lanes *result)
{
    *result = lanes_varying(e, IR_KIND_BOOL);
    lval *a = lanes_vectors(e, &args[0]), *b = lanes_vectors(e, &args[1]);
    unsigned per_mask = kind_bytes(args[0].kind) == 8 ? 2 : 1;
    for (unsigned c = 0; c < mask_chunks(e); c++) {
        rval part[2];
        for (unsigned h = 0; h < per_mask; h++)
            part[h] = compare_chunk(e, row, op, jit_read(a[per_mask * c + h]), jit_read(b[per_mask * c + h]));
        if (per_mask == 2)
            result->chunk[c] = join_masks(e, part[0], part[1]);
        else
            result->chunk[c] = jit_keep(e, jit_bits(e, part[0], jit_mask_type(e)));
    }
}

static struct lanes sign_flipped(struct emit *e, struct lanes v)
{
    return op2(e, IR_OP_XOR, v.kind, v, lanes_int(e, v.kind, 1ull << (kind_bytes(v.kind) * 8 - 1)));
}

/* Integer comparisons where only equal and signed greater exist. */
static bool compare_ints(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result)
{
    struct lanes a = args[0], b = args[1];
    bool is_unsigned = op >= IR_OP_ULT && op <= IR_OP_UGE;
    if (kind_bytes(a.kind) < 4) {
        enum ir_op extend = is_unsigned ? IR_OP_ZEXT : IR_OP_SEXT;
        *result = op2(e, op, IR_KIND_BOOL, op1(e, extend, I32, a), op1(e, extend, I32, b));
        return true;
    }
    if (is_unsigned) {
        a = sign_flipped(e, a);
        b = sign_flipped(e, b);
    }
    bool swap = op == IR_OP_SLT || op == IR_OP_ULT || op == IR_OP_SGE || op == IR_OP_UGE;
    bool invert = op == IR_OP_INE || op == IR_OP_SLE || op == IR_OP_ULE || op == IR_OP_SGE || op == IR_OP_UGE;
    enum ir_op basic = op == IR_OP_IEQ || op == IR_OP_INE ? IR_OP_IEQ : IR_OP_SGT;
    const struct row *row = find_row(e, basic, a.kind, a.kind);
    if (!row) return false;
    struct lanes ordered[2] = {swap ? b : a, swap ? a : b};
    compare(e, row, basic, ordered, result);
    if (invert) *result = op1(e, IR_OP_NOT, IR_KIND_BOOL, *result);
    return true;
}

static enum ir_op swapped(enum ir_op op)
{
    switch (op) {
    case IR_OP_FOGT: return IR_OP_FOLT;
    case IR_OP_FOGE: return IR_OP_FOLE;
    case IR_OP_FULT: return IR_OP_FUGT;
    case IR_OP_FULE: return IR_OP_FUGE;
    default: return op;
    }
}

/* The row for a comparison; swaps the operands where only its mirror image is there. */
static const struct row *comparison_row(const struct emit *e, enum ir_op op, struct lanes *in)
{
    enum ir_kind kind = in[0].kind;
    enum ir_op basic = swapped(op);
    if (basic != op) {
        struct lanes first = in[0];
        in[0] = in[1];
        in[1] = first;
    }
    return find_row(e, kind < F32 ? IR_OP_IEQ : basic, kind, kind);
}

static bool emit_comparison(struct emit *e, enum ir_op op, const struct lanes *args, struct lanes *result)
{
    enum ir_kind kind = args[0].kind == IR_KIND_PTR ? I64 : args[0].kind;
    struct lanes in[2] = {args[0], args[1]};
    in[0].kind = in[1].kind = kind;
    if (kind == IR_KIND_BOOL || e->isa->id == GCCJIT_ISA_GENERIC) return false;
    if (kind < F32 && !e->isa->bit_masks) return compare_ints(e, op, in, result);
    const struct row *row = comparison_row(e, op, in);
    if (!row) return false;
    compare(e, row, op, in, result);
    return true;
}

bool prim_compare_under(struct emit *e, enum ir_op op, const struct lanes *args, bool inverted, struct mask under,
                        struct mask *result)
{
    struct lanes in[2] = {args[0], args[1]};
    enum ir_kind kind = args[0].kind;
    if (!e->isa->bit_masks || !under.chunk || kind == IR_KIND_BOOL || kind_bytes(kind) != 4) return false;
    const struct row *row = comparison_row(e, op, in);
    if (!row) return false;
    char text[64];
    bit_comparison(text, sizeof text, row, op, inverted, "%{%3%}");
    struct jit_asm code = {.text = text, .result = "=Yk", .inputs = {"v", "v", "Yk"}};
    lval *a = lanes_vectors(e, &in[0]), *b = lanes_vectors(e, &in[1]);
    result->chunk = arena_alloc(e->arena, mask_chunks(e) * sizeof *result->chunk);
    for (unsigned c = 0; c < mask_chunks(e); c++)
        result->chunk[c] =
            jit_asm(e, &code, jit_mask_type(e), 3, (rval[]){jit_read(a[c]), jit_read(b[c]), jit_read(under.chunk[c])});
    return true;
}

/* ---- select ---- */

/* The mask of chunk c of 8-byte numbers: the upper half of a chunk's bits for odd c. */
static rval bit_mask_of(struct emit *e, lval *mask, enum ir_kind kind, unsigned c)
{
    if (kind_bytes(kind) != 8) return jit_read(mask[c]);
    if (c % 2 == 0) return jit_read(mask[c / 2]);
    static const struct jit_asm shift = {.text = "kshiftrw $8, %1, %0", .result = "=Yk", .inputs = {"Yk"}};
    rval in = jit_read(mask[c / 2]);
    return jit_read(jit_asm(e, &shift, jit_mask_type(e), 1, &in));
}

static lval blend(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, lval a, lval b)
{
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    if (e->isa->bit_masks) {
        static const char *const text[] = {[1] = "vpblendmb %1, %2, %0%{%3%}",
                                           [2] = "vpblendmw %1, %2, %0%{%3%}",
                                           [4] = "vpblendmd %1, %2, %0%{%3%}",
                                           [8] = "vpblendmq %1, %2, %0%{%3%}"};
        struct jit_asm code = {.text = text[kind_bytes(kind)], .result = "=v", .inputs = {"v", "v", "Yk"}};
        return jit_asm(e, &code, type, 3, (rval[]){jit_read(a), jit_read(b), bit_mask_of(e, mask, kind, c)});
    }
    enum ir_kind as = kind_of_bytes(kind_bytes(kind));
    gcc_jit_type *bits = jit_vector(e, as, lanes_per_chunk(e, kind));
    rval wide = mask_widened(e, mask, kind, c);
    if (e->isa->id == GCCJIT_ISA_AVX2 && kind_bytes(kind) >= 4) {
        static const struct jit_asm code = {
            .text = "vblendvps %3, %1, %2, %0", .result = "=x", .inputs = {"x", "x", "x"}};
        return jit_asm(e, &code, type, 3, (rval[]){jit_read(a), jit_read(b), wide});
    }
    rval x = jit_bits(e, jit_read(a), bits), y = jit_bits(e, jit_read(b), bits);
    /* In this form what b holds in the lanes of a does not matter, not even when it was never set. */
    rval not_wide = gcc_jit_context_new_unary_op(e->gcc, NULL, GCC_JIT_UNARY_OP_BITWISE_NEGATE, bits, wide);
    rval from_a = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, x, wide);
    rval from_b = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, y, not_wide);
    return jit_keep(e, jit_bits(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, from_a, from_b), type));
}

static void emit_select(struct emit *e, enum ir_kind kind, const struct lanes *args, struct lanes *result)
{
    lval *mask = lanes_vectors(e, &args[0]), *a = lanes_vectors(e, &args[1]), *b = lanes_vectors(e, &args[2]);
    *result = lanes_varying(e, kind);
    if (kind == IR_KIND_BOOL) {
        struct mask yes = mask_and(e, (struct mask){mask}, (struct mask){a});
        struct mask no = mask_and_not(e, (struct mask){b}, (struct mask){mask});
        result->chunk = mask_or(e, yes, no).chunk;
        return;
    }
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) result->chunk[c] = blend(e, mask, kind, c, a[c], b[c]);
}

/* ---- moves ---- */

static const char *masked_move(const struct emit *e, enum ir_kind kind)
{
    static const char *const wide[] = {[1] = "vmovdqu8", [2] = "vmovdqu16", [4] = "vmovups", [8] = "vmovupd"};
    static const char *const narrow[] = {[4] = "vmaskmovps", [8] = "vmaskmovpd"};
    unsigned bytes = kind_bytes(kind);
    if (e->isa->id == GCCJIT_ISA_AVX512) return wide[bytes];
    return e->isa->id == GCCJIT_ISA_AVX2 && bytes >= 4 ? narrow[bytes] : NULL;
}

bool prim_can_mask(const struct emit *e, enum ir_kind kind)
{
    return masked_move(e, kind) != NULL;
}

lval prim_masked_load(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, rval address)
{
    char text[64];
    bool bits = e->isa->bit_masks;
    snprintf(text, sizeof text, bits ? "%s (%%1), %%0%%{%%2%%}%%{z%%}" : "%s (%%1), %%2, %%0", masked_move(e, kind));
    struct jit_asm code = {
        .text = text, .result = bits ? "=v" : "=x", .inputs = {"r", bits ? "Yk" : "x"}, .is_volatile = true};
    rval m = bits ? bit_mask_of(e, mask, kind, c) : mask_widened(e, mask, kind, c);
    return jit_asm(e, &code, jit_vector(e, kind, lanes_per_chunk(e, kind)), 2, (rval[]){address, m});
}

void prim_masked_store(struct emit *e, lval *mask, enum ir_kind kind, unsigned c, rval address, rval v)
{
    char text[64];
    bool bits = e->isa->bit_masks;
    snprintf(text, sizeof text, bits ? "%s %%2, (%%0)%%{%%1%%}" : "%s %%2, %%1, (%%0)", masked_move(e, kind));
    struct jit_asm code = {.text = text, .inputs = {"r", bits ? "Yk" : "x", any_register(e)}, .is_volatile = true};
    rval m = bits ? bit_mask_of(e, mask, kind, c) : mask_widened(e, mask, kind, c);
    jit_asm(e, &code, NULL, 3, (rval[]){address, m, v});
}

void prim_stream(struct emit *e, rval address, rval v)
{
    const char *text = e->isa->id >= GCCJIT_ISA_AVX2 ? "vmovntps %1, (%0)" : "movntps %1, (%0)";
    struct jit_asm code = {.text = text, .inputs = {"r", any_register(e)}, .is_volatile = true};
    jit_asm(e, &code, NULL, 2, (rval[]){address, v});
}

void prim_fence(struct emit *e)
{
    static const struct jit_asm code = {.text = "sfence", .is_volatile = true};
    jit_asm(e, &code, NULL, 0, NULL);
}

/* ---- the rest ---- */

/* Every so many lanes of the narrower kind are what truncation keeps. */
static void truncate_by_picking(struct emit *e, enum ir_kind kind, const struct lanes *arg, struct lanes *result)
{
    unsigned ratio = kind_bytes(arg->kind) / kind_bytes(kind), n = lanes_per_chunk(e, kind);
    unsigned from_lanes = lanes_per_chunk(e, arg->kind), per_chunk = n / from_lanes;
    lval *in = lanes_vectors(e, arg);
    *result = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        lval source[2];
        for (unsigned h = 0; h < per_chunk; h++)
            source[h] =
                jit_keep(e, jit_bits(e, jit_read(in[per_chunk * c + h]), jit_vector(e, kind, from_lanes * ratio)));
        rval elements[MAX_WIDTH];
        for (unsigned i = 0; i < n; i++)
            elements[i] = lanes_pick(e, kind, source[i / from_lanes], i % from_lanes * ratio);
        result->chunk[c] =
            jit_keep(e, gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, jit_vector(e, kind, n), n, elements));
    }
}

bool prim_op(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
             struct lanes *result)
{
    if (is_arithmetic(op, kind)) {
        emit_arithmetic(e, op, kind, n, args, result);
        return true;
    }
    if (op == IR_OP_SELECT) {
        emit_select(e, kind, args, result);
        return true;
    }
    if (op_is_comparison(op)) return emit_comparison(e, op, args, result);
    const struct row *row = find_row(e, op, kind, args[0].kind);
    if (row) {
        if (!convert(e, row, &args[0], result)) emit_row(e, row, n, args, result);
        return true;
    }
    if (op == IR_OP_ITRUNC && args[0].kind != IR_KIND_BOOL) {
        truncate_by_picking(e, kind, &args[0], result);
        return true;
    }
    return false;
}
