/*
 * The instructions that work on whole registers: what comes from one of them is said here and nowhere else.
 * Comparisons, conversions and the like cannot be said through libgccjit, so they are asm statements.
 */
#include "fuser/cpu/simd/x86_table.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/op.h"

#define I8 IR_KIND_I8
#define I16 IR_KIND_I16
#define I32 IR_KIND_I32
#define I64 IR_KIND_I64
#define F32 IR_KIND_F32
#define F64 IR_KIND_F64
#define SSE4 CPU_ISA_SSE4
#define AVX2 CPU_ISA_AVX2
#define AVX512 CPU_ISA_AVX512

/* A pair for both widths of float. */
#define FLOATS(op, form, least, name)                                                                                  \
    {op, F32, F32, form, least, name "ps", 0},                                                                         \
    {                                                                                                                  \
        op, F64, F64, form, least, name "pd", 0                                                                        \
    }
#define ROUNDINGS(op, immediate)                                                                                       \
    {op, F32, F32, X86_ROUNDING, SSE4, "ps", immediate},                                                               \
    {                                                                                                                  \
        op, F64, F64, X86_ROUNDING, SSE4, "pd", immediate                                                              \
    }
#define INTS(op, form, name, least64)                                                                                  \
    {op, I8, I8, form, SSE4, name "b", 0}, {op, I16, I16, form, SSE4, name "w", 0},                                    \
        {op, I32, I32, form, SSE4, name "d", 0},                                                                       \
    {                                                                                                                  \
        op, I64, I64, form, least64, name "q", 0                                                                       \
    }

static const struct x86_row rows[] = {
    FLOATS(IR_OP_SQRT, X86_UNARY, SSE4, "sqrt"),
    FLOATS(FORMULA_FMIN, X86_BINARY, SSE4, "min"),
    FLOATS(FORMULA_FMAX, X86_BINARY, SSE4, "max"),
    {FORMULA_SCALE, F32, F32, X86_BINARY, AVX512, "scalefps", 0},
    FLOATS(IR_OP_FMA, X86_TERNARY, AVX2, "fmadd213"),
    ROUNDINGS(IR_OP_RINT, 8),
    ROUNDINGS(IR_OP_FLOOR, 9),
    ROUNDINGS(IR_OP_CEIL, 10),
    ROUNDINGS(IR_OP_TRUNC, 11),
    INTS(IR_OP_SMIN, X86_BINARY, "pmins", AVX512),
    INTS(IR_OP_SMAX, X86_BINARY, "pmaxs", AVX512),
    INTS(IR_OP_UMIN, X86_BINARY, "pminu", AVX512),
    INTS(IR_OP_UMAX, X86_BINARY, "pmaxu", AVX512),
    INTS(IR_OP_SABS, X86_UNARY, "pabs", AVX512),
    {IR_OP_ROTATE, I32, I32, X86_BINARY, AVX512, "prolvd", 0},
    {IR_OP_ROTATE, I64, I64, X86_BINARY, AVX512, "prolvq", 0},
    {IR_OP_SADD_SAT, I8, I8, X86_BINARY, SSE4, "paddsb", 0},
    {IR_OP_SADD_SAT, I16, I16, X86_BINARY, SSE4, "paddsw", 0},
    {IR_OP_UADD_SAT, I8, I8, X86_BINARY, SSE4, "paddusb", 0},
    {IR_OP_UADD_SAT, I16, I16, X86_BINARY, SSE4, "paddusw", 0},
    {IR_OP_SSUB_SAT, I8, I8, X86_BINARY, SSE4, "psubsb", 0},
    {IR_OP_SSUB_SAT, I16, I16, X86_BINARY, SSE4, "psubsw", 0},
    {IR_OP_USUB_SAT, I8, I8, X86_BINARY, SSE4, "psubusb", 0},
    {IR_OP_USUB_SAT, I16, I16, X86_BINARY, SSE4, "psubusw", 0},
    {IR_OP_URHADD, I8, I8, X86_BINARY, SSE4, "pavgb", 0},
    {IR_OP_URHADD, I16, I16, X86_BINARY, SSE4, "pavgw", 0},
    /* Conversions. Where one side has 8 bytes, it has twice the chunks: see convert() in x86.c. */
    {IR_OP_STOF, F32, I32, X86_UNARY, SSE4, "cvtdq2ps", 0},
    {IR_OP_UTOF, F32, I32, X86_UNARY, AVX512, "cvtudq2ps", 0},
    {IR_OP_STOF, F64, I32, X86_UNARY, SSE4, "cvtdq2pd", 0},
    {IR_OP_UTOF, F64, I32, X86_UNARY, AVX512, "cvtudq2pd", 0},
    {IR_OP_STOF, F32, I64, X86_UNARY, AVX512, "cvtqq2ps", 0},
    {IR_OP_UTOF, F32, I64, X86_UNARY, AVX512, "cvtuqq2ps", 0},
    {IR_OP_STOF, F64, I64, X86_UNARY, AVX512, "cvtqq2pd", 0},
    {IR_OP_UTOF, F64, I64, X86_UNARY, AVX512, "cvtuqq2pd", 0},
    {IR_OP_FPCONV, F64, F32, X86_UNARY, SSE4, "cvtps2pd", 0},
    {IR_OP_FPCONV, F32, F64, X86_UNARY, SSE4, "cvtpd2ps", 0},
    {OP_RAW_FTOS, I32, F32, X86_UNARY, SSE4, "cvttps2dq", 0},
    {OP_RAW_FTOU, I32, F32, X86_UNARY, AVX512, "cvttps2udq", 0},
    {OP_RAW_FTOS, I32, F64, X86_UNARY, SSE4, "cvttpd2dq", 0},
    {OP_RAW_FTOU, I32, F64, X86_UNARY, AVX512, "cvttpd2udq", 0},
    {OP_RAW_FTOS, I64, F64, X86_UNARY, AVX512, "cvttpd2qq", 0},
    {OP_RAW_FTOU, I64, F64, X86_UNARY, AVX512, "cvttpd2uqq", 0},
    {IR_OP_FPCONV, F32, IR_KIND_F16, X86_UNARY, AVX2, "cvtph2ps", 0},
    {IR_OP_FPCONV, IR_KIND_F16, F32, X86_ROUNDING, AVX2, "cvtps2ph", 0},
    {IR_OP_ZEXT, I32, I8, X86_UNARY, SSE4, "pmovzxbd", 0},
    {IR_OP_ZEXT, I32, I16, X86_UNARY, SSE4, "pmovzxwd", 0},
    {IR_OP_ZEXT, I16, I8, X86_UNARY, SSE4, "pmovzxbw", 0},
    {IR_OP_ZEXT, I64, I32, X86_UNARY, SSE4, "pmovzxdq", 0},
    {IR_OP_SEXT, I32, I8, X86_UNARY, SSE4, "pmovsxbd", 0},
    {IR_OP_SEXT, I32, I16, X86_UNARY, SSE4, "pmovsxwd", 0},
    {IR_OP_SEXT, I16, I8, X86_UNARY, SSE4, "pmovsxbw", 0},
    {IR_OP_SEXT, I64, I32, X86_UNARY, SSE4, "pmovsxdq", 0},
    {IR_OP_ITRUNC, I32, I64, X86_UNARY, AVX512, "pmovqd", 0},
    {IR_OP_ITRUNC, I16, I32, X86_UNARY, AVX512, "pmovdw", 0},
    {IR_OP_ITRUNC, I8, I32, X86_UNARY, AVX512, "pmovdb", 0},
    {IR_OP_ITRUNC, I8, I16, X86_UNARY, AVX512, "pmovwb", 0},
    /* Comparisons. The rest are these with operands swapped or the result inverted. */
    {IR_OP_FOEQ, F32, F32, X86_COMPARE, SSE4, "cmpps", 0},
    {IR_OP_FOLT, F32, F32, X86_COMPARE, SSE4, "cmpps", 1},
    {IR_OP_FOLE, F32, F32, X86_COMPARE, SSE4, "cmpps", 2},
    {IR_OP_FUNO, F32, F32, X86_COMPARE, SSE4, "cmpps", 3},
    {IR_OP_FUNE, F32, F32, X86_COMPARE, SSE4, "cmpps", 4},
    {IR_OP_FUGE, F32, F32, X86_COMPARE, SSE4, "cmpps", 5},
    {IR_OP_FUGT, F32, F32, X86_COMPARE, SSE4, "cmpps", 6},
    {IR_OP_FORD, F32, F32, X86_COMPARE, SSE4, "cmpps", 7},
    {IR_OP_FOEQ, F64, F64, X86_COMPARE, SSE4, "cmppd", 0},
    {IR_OP_FOLT, F64, F64, X86_COMPARE, SSE4, "cmppd", 1},
    {IR_OP_FOLE, F64, F64, X86_COMPARE, SSE4, "cmppd", 2},
    {IR_OP_FUNO, F64, F64, X86_COMPARE, SSE4, "cmppd", 3},
    {IR_OP_FUNE, F64, F64, X86_COMPARE, SSE4, "cmppd", 4},
    {IR_OP_FUGE, F64, F64, X86_COMPARE, SSE4, "cmppd", 5},
    {IR_OP_FUGT, F64, F64, X86_COMPARE, SSE4, "cmppd", 6},
    {IR_OP_FORD, F64, F64, X86_COMPARE, SSE4, "cmppd", 7},
    INTS(IR_OP_IEQ, X86_COMPARE, "pcmpeq", SSE4),
    INTS(IR_OP_SGT, X86_COMPARE, "pcmpgt", SSE4),
    INTS(IR_OP_ULT, X86_COMPARE, "pcmpu", AVX512), /* with masks in registers only */
};

const struct x86_row *x86_find_row(const struct emit *e, unsigned op, enum ir_kind kind, enum ir_kind from)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct x86_row *r = &rows[i];
        if (r->op == op && r->kind == kind && r->from == from && e->isa->id >= r->least) return r;
    }
    return NULL;
}

const char *x86_any_register(const struct emit *e)
{
    return e->isa->id == CPU_ISA_AVX512 ? "v" : "x";
}

/* One instruction of the table on one chunk. */
lval x86_instruction(struct emit *e, const struct x86_row *row, gcc_jit_type *type, unsigned n, rval *inputs)
{
    char text[64];
    const char *in = x86_any_register(e), *v = e->isa->id >= CPU_ISA_AVX2 ? "v" : "";
    struct jit_asm code = {.text = text, .result = e->isa->id == CPU_ISA_AVX512 ? "=v" : "=x", .inputs = {in, in, in}};
    bool two_operands = !*v;
    switch (row->form) {
    case X86_UNARY: snprintf(text, sizeof text, "%s%s %%1, %%0", v, row->name); break;
    case X86_ROUNDING: {
        const char *name = row->op == IR_OP_FPCONV ? row->name : e->isa->id == CPU_ISA_AVX512 ? "rndscale" : "round";
        snprintf(text, sizeof text, "%s%s%s $%u, %%1, %%0", v, name, row->op == IR_OP_FPCONV ? "" : row->name,
                 row->immediate);
        break;
    }
    case X86_TERNARY:
        snprintf(text, sizeof text, "%s%s %%3, %%2, %%0", v, row->name);
        code.inputs[0] = "0";
        break;
    case X86_COMPARE:
    case X86_BINARY: {
        char immediate[8] = "";
        if (row->kind >= F32 && row->form == X86_COMPARE)
            snprintf(immediate, sizeof immediate, "$%u, ", row->immediate);
        snprintf(text, sizeof text, two_operands ? "%s%s %s%%2, %%0" : "%s%s %s%%2, %%1, %%0", v, row->name, immediate);
        if (two_operands) code.inputs[0] = "0";
        break;
    }
    }
    return jit_asm(e, &code, type, n, inputs);
}
