/* Functions of libraries: SLEEF's, on one lane or on vectors, which give the same bits; and those of the C library that
   are exact, lane by lane. */
#include "fuser/cpu/lower/math.h"

#include <stdio.h>

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/target/isa.h"
#include "ir/formula/formula.h"
#include "ir/formula/library.h"

/* ---- SLEEF ---- */

static const struct library_function *library_of(enum ir_op op)
{
    return (unsigned)op < FORMULA_LIBRARY ? NULL : library_find((enum ir_op)(op - FORMULA_LIBRARY));
}

/* The function over so many lanes, in the variant for an instruction set. */
static rval library_call(struct emit *e, const struct library_function *f, enum ir_kind kind, unsigned lanes,
                         const char *variant, rval *args)
{
    char name[64];
    snprintf(name, sizeof name, "Sleef_cinz_%s%c%u_%s%s", f->name, kind == IR_KIND_F32 ? 'f' : 'd', lanes, f->accuracy,
             variant);
    return jit_call(e, name, jit_vector(e, kind, lanes), f->n, args);
}

#ifdef __x86_64__
/* By a vector of equal numbers, as ir/formula/library.c does. */
static rval library_scalar(struct emit *e, const struct library_function *f, enum ir_kind kind, rval *args)
{
    unsigned lanes = 16 / kind_bytes(kind);
    rval in[2];
    for (unsigned i = 0; i < f->n; i++) {
        rval x = jit_read(jit_keep(e, args[i])), all[4] = {x, x, x, x};
        gcc_jit_type *type = jit_vector(e, kind, lanes);
        in[i] = jit_read(jit_keep(e, gcc_jit_context_new_rvalue_from_vector(e->gcc, NULL, type, lanes, all)));
    }
    return lanes_pick(e, kind, jit_keep(e, library_call(e, f, kind, lanes, "sse2", in)), 0);
}

bool math_vector(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                 struct lanes *result)
{
    static const char *const variants[] = {[CPU_ISA_GENERIC] = "sse2",
                                           [CPU_ISA_SSE4] = "sse2",
                                           [CPU_ISA_AVX2] = LIBRARY_AVX,
                                           [CPU_ISA_AVX512] = LIBRARY_AVX512};
    const struct library_function *f = library_of(op);
    const char *variant = variants[e->isa->id];
    if (!f || !*variant) return false;
    *result = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        rval in[2];
        for (unsigned i = 0; i < n; i++) in[i] = jit_read(lanes_vectors(e, &args[i])[c]);
        result->chunk[c] = jit_keep(e, library_call(e, f, kind, lanes_per_chunk(e, kind), variant, in));
    }
    return true;
}
#else
static rval library_scalar(struct emit *e, const struct library_function *f, enum ir_kind kind, rval *args)
{
    return library_call(e, f, kind, 1, "purec", args);
}

bool math_vector(struct emit *e, enum ir_op op, enum ir_kind kind, unsigned n, const struct lanes *args,
                 struct lanes *result)
{
    (void)e, (void)op, (void)kind, (void)n, (void)args, (void)result;
    return false;
}
#endif

/* ---- libm ---- */

static const char *exact_name(enum ir_op op, enum ir_kind kind)
{
    bool wide = kind == IR_KIND_F64;
    switch (op) {
    case IR_OP_FREM: return wide ? "fmod" : "fmodf";
    case IR_OP_REMAINDER: return wide ? "remainder" : "remainderf";
    case IR_OP_LOGB: return wide ? "logb" : "logbf";
    case IR_OP_LDEXP: return wide ? "ldexp" : "ldexpf";
    default: return NULL;
    }
}

static rval mantissa(struct emit *e, enum ir_kind kind, rval x, lval *exponent)
{
    *exponent = jit_local(e, jit_c(e, GCC_JIT_TYPE_INT));
    jit_set(e, *exponent, gcc_jit_context_zero(e->gcc, jit_c(e, GCC_JIT_TYPE_INT)));
    rval args[2] = {x, gcc_jit_lvalue_get_address(*exponent, NULL)};
    return jit_read(jit_keep(e, jit_call(e, kind == IR_KIND_F32 ? "frexpf" : "frexp", jit_type(e, kind), 2, args)));
}

static rval is_finite(struct emit *e, enum ir_kind kind, rval x)
{
    rval difference = jit_read(jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_MINUS, x, x)));
    return jit_compare(e, GCC_JIT_COMPARISON_EQ, difference, gcc_jit_context_zero(e->gcc, jit_type(e, kind)));
}

static rval exponent_of(struct emit *e, enum ir_op op, enum ir_kind from, rval x)
{
    gcc_jit_type *word = jit_type(e, IR_KIND_I32), *c_int = jit_c(e, GCC_JIT_TYPE_INT);
    if (op == IR_OP_ILOGB) {
        /* C's values for zero and NaN differ between systems; ours do not. */
        rval r = jit_call(e, from == IR_KIND_F32 ? "ilogbf" : "ilogb", c_int, 1, &x);
        rval usual = jit_read(jit_keep(e, jit_cast(e, r, word)));
        rval zero = jit_compare(e, GCC_JIT_COMPARISON_EQ, x, gcc_jit_context_zero(e->gcc, jit_type(e, from)));
        rval other = jit_select(e, is_finite(e, from, x), usual, jit_int(e, IR_KIND_I32, INT32_MAX));
        return jit_select(e, zero, jit_int(e, IR_KIND_I32, 0x80000000), other);
    }
    lval exponent;
    (void)mantissa(e, from, x, &exponent);
    return jit_select(e, is_finite(e, from, x), jit_cast(e, jit_read(exponent), word), jit_int(e, IR_KIND_I32, 0));
}

rval math_scalar(struct emit *e, enum ir_op op, enum ir_kind kind, enum ir_kind from, rval *args)
{
    const struct library_function *f = library_of(op);
    if (f) return library_scalar(e, f, kind, args);
    lval exponent;
    if (op == IR_OP_FREXP_MANT) return mantissa(e, kind, args[0], &exponent);
    if (op == IR_OP_ILOGB || op == IR_OP_FREXP_EXP) return exponent_of(e, op, from, args[0]);
    const char *name = exact_name(op, kind);
    if (!name) return NULL;
    if (op == IR_OP_LDEXP) args[1] = jit_cast(e, args[1], jit_c(e, GCC_JIT_TYPE_INT));
    return jit_call(e, name, jit_type(e, kind), op == IR_OP_LOGB ? 1 : 2, args);
}
