/* The clean-up passes: what each makes of small kernels, and that none changes what a kernel computes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/passes/passes.h"
#include "ir/base/arena.h"
#include "ir/base/strbuf.h"
#include "ir/text/text.h"
#include "ir/verify/verify.h"
#include "tests/support/cases.h"
#include "tests/support/kernel_run.h"
#include "tests/support/random_kernel.h"
#include "tests/support/random_module.h"
#include "tests/support/rng.h"

typedef bool pass(struct ir_function *f);

/* ---- kernels as text ---- */

#define HEAD "kernel @k(%o: ptr.global i32, %p: ptr.global i32, %n: i32) {\n"

struct pass_case {
    const char *name;
    pass *passes[3];
    const char *functions;      /* before the kernel; NULL: none */
    const char *before, *after; /* bodies of a kernel with the head above */
};

/* Equal, without a use, in a loop: each takes packets of its own. */
#define RESERVATIONS                                                                                                   \
    "    %i = global_id x\n"                                                                                           \
    "    %q = global @queue\n"                                                                                         \
    "    %0 = elem i32 %p, %i\n"                                                                                       \
    "    loop (%k: i32 = 0) {\n"                                                                                       \
    "        %a = pipe_reserve_read %q, 1\n"                                                                           \
    "        %b = pipe_reserve_read %q, 1\n"                                                                           \
    "        %c = pipe_num_packets %q\n"                                                                               \
    "        %d = add i32 %k, %c\n"                                                                                    \
    "        store i32 %0, %d\n"                                                                                       \
    "        %end = sgt i32 %k, 2\n"                                                                                   \
    "        if %end {\n"                                                                                              \
    "            break\n"                                                                                              \
    "        }\n"                                                                                                      \
    "        %k2 = add i32 %k, 1\n"                                                                                    \
    "        continue %k2\n"                                                                                           \
    "    }\n"

#define RESERVED_PACKETS                                                                                               \
    "    %i = global_id x\n"                                                                                           \
    "    %q = global @queue\n"                                                                                         \
    "    %v = var i32 align 4\n"                                                                                       \
    "    store i32 %v, 7\n"                                                                                            \
    "    %w = pipe_reserve_write %q, 1\n"                                                                              \
    "    %put = pipe_write_at i32 %q, %v, %w, 0\n"                                                                     \
    "    pipe_commit_write %q, %w\n"                                                                                   \
    "    store i32 %v, 8\n"                                                                                            \
    "    %r = pipe_reserve_read %q, 1\n"                                                                               \
    "    %got = pipe_read_at i32 %q, %v, %r, 0\n"                                                                      \
    "    pipe_commit_read %q, %r\n"                                                                                    \
    "    %x = load i32 %v\n"                                                                                           \
    "    %0 = elem i32 %o, %i\n"                                                                                       \
    "    store i32 %0, %x\n"

/* clang-format off */
static const struct pass_case cases[] = {
    {.name = "contract_a_product_that_is_only_added",
     .passes = {pass_contract},
     .before =
         "    %i = global_id x\n"
         "    %small = trunc i8 %i\n" /* numbers whose products and sums are exact */
         "    %x = stof f32 %small\n"
         "    %m = fmul f32 %x, %x, contract\n"
         "    %s = fadd f32 1.0, %m, contract\n"
         "    %0 = elem f32 %o, %i\n"
         "    store f32 %0, %s\n",
     .after =
         "    %i = global_id x\n"
         "    %small = trunc i8 %i\n" /* numbers whose products and sums are exact */
         "    %x = stof f32 %small\n"
         "    %s = fma f32 %x, %x, 1.0, contract\n"
         "    %0 = elem f32 %o, %i\n"
         "    store f32 %0, %s\n"
         "    return\n"},
    {.name = "contract_nothing_that_is_needed_twice_or_strict",
     .passes = {pass_contract},
     .before =
         "    %i = global_id x\n"
         "    %small = trunc i8 %i\n" /* numbers whose products and sums are exact */
         "    %x = stof f32 %small\n"
         "    %m = fmul f32 %x, %x, contract\n"
         "    %s = fadd f32 %m, %m, contract\n"
         "    %strict = fmul f32 %s, %x\n"
         "    %t = fadd f32 %strict, %x, contract\n"
         "    %product = fmul f32 %t, %x, contract\n"
         "    %u = fadd f32 %product, %x\n"
         "    %0 = elem f32 %o, %i\n"
         "    store f32 %0, %u\n",
     .after =
         "    %i = global_id x\n"
         "    %small = trunc i8 %i\n" /* numbers whose products and sums are exact */
         "    %x = stof f32 %small\n"
         "    %m = fmul f32 %x, %x, contract\n"
         "    %s = fadd f32 %m, %m, contract\n"
         "    %strict = fmul f32 %s, %x\n"
         "    %t = fadd f32 %strict, %x, contract\n"
         "    %product = fmul f32 %t, %x, contract\n"
         "    %u = fadd f32 %product, %x\n"
         "    %0 = elem f32 %o, %i\n"
         "    store f32 %0, %u\n"
         "    return\n"},
    {.name = "unroll_a_loop_over_a_private_array",
     .passes = {pass_unroll, pass_fold, pass_split},
     .before =
         "    %v = var [2 x i32]\n"
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %s = loop (%k: i64 = 0, %u: i32 = 5) -> i32 {\n"
         "        %c = ult i64 %k, 2\n"
         "        if %c {\n"
         "            %y = mul i32 %u, %x\n"
         "            %0 = elem i32 %v, %k\n"
         "            store i32 %0, %y\n"
         "            %j = add i64 %k, 1\n"
         "            continue %j, %y\n"
         "        } else {\n"
         "            break %u\n"
         "        }\n"
         "        unreachable\n"
         "    }\n"
         "    %1 = elem i32 %v, 1\n"
         "    %z = load i32 %1\n"
         "    %t = add i32 %z, %s\n"
         "    %2 = elem i32 %o, %i\n"
         "    store i32 %2, %t\n",
     .after =
         "    %0 = var i32\n"
         "    %1 = var i32\n"
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %2 = mul i32 5, %x\n"
         "    store i32 %0, %2\n"
         "    %3 = mul i32 %2, %x\n"
         "    store i32 %1, %3\n"
         "    %z = load i32 %1\n"
         "    %t = add i32 %z, %3\n"
         "    %4 = elem i32 %o, %i\n"
         "    store i32 %4, %t\n"
         "    return\n"},
    {.name = "unroll_only_few_rounds",
     .passes = {pass_unroll},
     .before =
         "    %v = var [9 x i32]\n"
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %s = loop (%k: i64 = 0, %u: i32 = 5) -> i32 {\n"
         "        %c = ult i64 %k, 9\n"
         "        if %c {\n"
         "            %y = mul i32 %u, %x\n"
         "            %0 = elem i32 %v, %k\n"
         "            store i32 %0, %y\n"
         "            %j = add i64 %k, 1\n"
         "            continue %j, %y\n"
         "        } else {\n"
         "            break %u\n"
         "        }\n"
         "        unreachable\n"
         "    }\n"
         "    %1 = elem i32 %v, 1\n"
         "    %z = load i32 %1\n"
         "    %t = add i32 %z, %s\n"
         "    %2 = elem i32 %o, %i\n"
         "    store i32 %2, %t\n",
     .after =
         "    %v = var [9 x i32]\n"
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %s = loop (%k: i64 = 0, %u: i32 = 5) -> i32 {\n"
         "        %c = ult i64 %k, 9\n"
         "        if %c {\n"
         "            %y = mul i32 %u, %x\n"
         "            %0 = elem i32 %v, %k\n"
         "            store i32 %0, %y\n"
         "            %j = add i64 %k, 1\n"
         "            continue %j, %y\n"
         "        } else {\n"
         "            break %u\n"
         "        }\n"
         "        unreachable\n"
         "    }\n"
         "    %1 = elem i32 %v, 1\n"
         "    %z = load i32 %1\n"
         "    %t = add i32 %z, %s\n"
         "    %2 = elem i32 %o, %i\n"
         "    store i32 %2, %t\n"
         "    return\n"},
    {.name = "unroll_what_goes_on_behind_the_test",
     .passes = {pass_unroll_accesses, pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %s = loop (%k: i32 = 3, %u: i32 = 1) -> i32 {\n"
         "        %c = ieq i32 %k, 0\n"
         "        %w = if %c -> i32 {\n"
         "            break %u\n"
         "        } else {\n"
         "            %d = shl i32 %x, %k\n"
         "            yield %d\n"
         "        }\n"
         "        %0 = elem i32 %o, %i\n"
         "        %q = load i32 %0\n"
         "        %y = add i32 %w, %q\n"
         "        store i32 %0, %y\n"
         "        %a = add i32 %u, %y\n"
         "        %m = sub i32 %k, 1\n"
         "        continue %m, %a\n"
         "    }\n"
         "    %1 = elem i32 %o, %i\n"
         "    store i32 %1, %s\n",
     .after =
         "    %i = global_id x\n"
         "    %x = load i32 %p\n"
         "    %0 = shl i32 %x, 3\n"
         "    %1 = elem i32 %o, %i\n"
         "    %2 = load i32 %1\n"
         "    %3 = add i32 %0, %2\n"
         "    store i32 %1, %3\n"
         "    %4 = add i32 1, %3\n"
         "    %5 = shl i32 %x, 2\n"
         "    %6 = elem i32 %o, %i\n"
         "    %7 = load i32 %6\n"
         "    %8 = add i32 %5, %7\n"
         "    store i32 %6, %8\n"
         "    %9 = add i32 %4, %8\n"
         "    %10 = shl i32 %x, 1\n"
         "    %11 = elem i32 %o, %i\n"
         "    %12 = load i32 %11\n"
         "    %13 = add i32 %10, %12\n"
         "    store i32 %11, %13\n"
         "    %14 = add i32 %9, %13\n"
         "    %15 = elem i32 %o, %i\n"
         "    store i32 %15, %14\n"
         "    return\n"},
    {.name = "inline_with_early_returns",
     .passes = {pass_inline},
     .functions =
         "func @f(%x: i32, %i: i32) -> i32 {\n"
         "    %c = sgt i32 %x, %i\n"
         "    if %c {\n"
         "        return %x\n"
         "    }\n"
         "    %y = add i32 %x, 1\n"
         "    return %y\n"
         "}\n",
     .before =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %r = call @f(%j, %n)\n"
         "    store i32 %o[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %c = sgt i32 %j, %n\n"
         "    %0 = if %c -> i32 {\n"
         "        yield %j\n"
         "    } else {\n"
         "        %y = add i32 %j, 1\n"
         "        yield %y\n"
         "    }\n"
         "    %1 = elem i32 %o, %i\n"
         "    store i32 %1, %0\n"
         "    return\n"},
    {.name = "inline_return_in_nested_ifs",
     .passes = {pass_inline},
     .functions =
         "func @f(%x: i32, %n: i32) -> i32 {\n"
         "    %c = sgt i32 %x, 3\n"
         "    %v = if %c -> i32 {\n"
         "        %d = sgt i32 %n, 7\n"
         "        if %d {\n"
         "            return 1\n"
         "        }\n"
         "        yield %n\n"
         "    } else {\n"
         "        yield %x\n"
         "    }\n"
         "    %y = add i32 %v, 1\n"
         "    return %y\n"
         "}\n",
     .before =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %r = call @f(%j, %n)\n"
         "    store i32 %o[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %c = sgt i32 %j, 3\n"
         "    %0, %1, %v = if %c -> bool, i32, i32 {\n"
         "        %d = sgt i32 %n, 7\n"
         "        %2, %3, %4 = if %d -> bool, i32, i32 {\n"
         "            yield true, 1, undef\n"
         "        } else {\n"
         "            yield false, undef, %n\n"
         "        }\n"
         "        yield %2, %3, %4\n"
         "    } else {\n"
         "        yield false, undef, %j\n"
         "    }\n"
         "    %5 = if %0 -> i32 {\n"
         "        yield %1\n"
         "    } else {\n"
         "        %y = add i32 %v, 1\n"
         "        yield %y\n"
         "    }\n"
         "    %6 = elem i32 %o, %i\n"
         "    store i32 %6, %5\n"
         "    return\n"},
    {.name = "inline_return_in_loop",
     .passes = {pass_inline},
     .functions =
         "func @f(%o: ptr.global i32, %g: i64, %n: i32) {\n"
         "    %l = loop (%i: i32 = 0) -> i32 {\n"
         "        %c = sgt i32 %i, %n\n"
         "        if %c {\n"
         "            break %i\n"
         "        }\n"
         "        %d = sgt i32 %i, 9\n"
         "        if %d {\n"
         "            return\n"
         "        }\n"
         "        %k = add i32 %i, 1\n"
         "        continue %k\n"
         "    }\n"
         "    store i32 %o[%g], %l\n"
         "    return\n"
         "}\n",
     .before =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    call @f(%o, %i, %n)\n",
     .after =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %l, %0 = loop (%i.1: i32 = 0) -> i32, bool {\n"
         "        %c = sgt i32 %i.1, %n\n"
         "        if %c {\n"
         "            break %i.1, false\n"
         "        }\n"
         "        %d = sgt i32 %i.1, 9\n"
         "        if %d {\n"
         "            break undef, true\n"
         "        }\n"
         "        %k = add i32 %i.1, 1\n"
         "        continue %k\n"
         "    }\n"
         "    if %0 {\n"
         "        yield\n"
         "    } else {\n"
         "        %1 = elem i32 %o, %i\n"
         "        store i32 %1, %l\n"
         "        yield\n"
         "    }\n"
         "    return\n"},
    {.name = "inline_loop_left_by_returns_only",
     .passes = {pass_inline},
     .functions =
         "func @f(%n: i32) -> i32 {\n"
         "    loop (%i: i32 = 0) {\n"
         "        %c = sgt i32 %i, %n\n"
         "        if %c {\n"
         "            return %i\n"
         "        }\n"
         "        %k = add i32 %i, 3\n"
         "        continue %k\n"
         "    }\n"
         "    return 0\n"
         "}\n",
     .before =
         "    %i = global_id x\n"
         "    %r = call @f(%n)\n"
         "    store i32 %o[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %0 = loop (%i.1: i32 = 0) -> i32 {\n"
         "        %c = sgt i32 %i.1, %n\n"
         "        if %c {\n"
         "            break %i.1\n"
         "        }\n"
         "        %k = add i32 %i.1, 3\n"
         "        continue %k\n"
         "    }\n"
         "    %1 = elem i32 %o, %i\n"
         "    store i32 %1, %0\n"
         "    return\n"},
    {.name = "fold_integers",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %a = add i32 %j, 0\n"
         "    %b = mul i32 %a, 1\n"
         "    %c = add i32 %b, 5\n"
         "    %d = add i32 %c, -3\n"
         "    %e = xor i32 %d, %d\n"
         "    %f = or i32 %d, %e\n"
         "    %g = shl i32 2, 3\n"
         "    %h = add i32 %f, %g\n"
         "    store i32 %o[%i], %h\n",
     .after =
         "    %i = global_id x\n"
         "    %j = trunc i32 %i\n"
         "    %c = add i32 %j, 5\n"
         "    %d = add i32 %j, 2\n"
         "    %h = add i32 %j, 18\n"
         "    %0 = elem i32 %o, %i\n"
         "    store i32 %0, %h\n"
         "    return\n"},
    {.name = "fold_quotient_and_remainder",
     .passes = {pass_fold, pass_dce},
     .before =
         "    %i = global_id x\n"
         "    %q = udiv i64 %i, 6\n"
         "    %r = urem i64 %i, 6\n"
         "    %t = urem i64 %i, 5\n"
         "    %m = mul i64 %q, 6\n"
         "    %a = add i64 %r, %m\n"
         "    %b = add i64 %t, %m\n"
         "    store i64 %o[%a], %b\n",
     .after =
         "    %i = global_id x\n"
         "    %q = udiv i64 %i, 6\n"
         "    %t = urem i64 %i, 5\n"
         "    %m = mul i64 %q, 6\n"
         "    %b = add i64 %t, %m\n"
         "    %0 = elem i64 %o, %i\n"
         "    store i64 %0, %b\n"
         "    return\n"},
    {.name = "fold_keeps_float_signs_and_nans",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %x = load f32 %o[%i]\n"
         "    %a = fadd f32 %x, 0.0\n"
         "    %b = fmul f32 %a, 0.0\n"
         "    %c = fsub f32 %b, %b\n"
         "    %d = fneg f32 %c\n"
         "    %e = fneg f32 %d\n"
         "    store f32 %o[%i], %e\n",
     .after =
         "    %i = global_id x\n"
         "    %0 = elem f32 %o, %i\n"
         "    %x = load f32 %0\n"
         "    %a = fadd f32 %x, 0.0\n"
         "    %b = fmul f32 %a, 0.0\n"
         "    %c = fsub f32 %b, %b\n"
         "    %d = fneg f32 %c\n"
         "    %1 = elem f32 %o, %i\n"
         "    store f32 %1, %c\n"
         "    return\n"},
    {.name = "fold_conversions",
     .passes = {pass_fold, pass_dce},
     .before =
         "    %i = global_id x\n"
         "    %x = load f32 %o[%i]\n"
         "    %d = fpconv f64 %x\n"
         "    %y = fpconv f32 %d\n"
         "    %h = fpconv f16 %x\n"
         "    %z = fpconv f32 %h\n"
         "    %s = fadd f32 %y, %z\n"
         "    %b = load i32 %p[%i]\n"
         "    %w = sext i64 %b\n"
         "    %t = trunc i32 %w\n"
         "    %u = trunc i16 %w\n"
         "    %v = zext i32 %u\n"
         "    %r = add i32 %t, %v\n"
         "    store f32 %o[%i], %s\n"
         "    store i32 %p[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %0 = elem f32 %o, %i\n"
         "    %x = load f32 %0\n"
         "    %h = fpconv f16 %x\n"
         "    %z = fpconv f32 %h\n"
         "    %s = fadd f32 %x, %z\n"
         "    %1 = elem i32 %p, %i\n"
         "    %b = load i32 %1\n"
         "    %u = trunc i16 %b\n"
         "    %v = zext i32 %u\n"
         "    %r = add i32 %b, %v\n"
         "    %2 = elem f32 %o, %i\n"
         "    store f32 %2, %s\n"
         "    %3 = elem i32 %p, %i\n"
         "    store i32 %3, %r\n"
         "    return\n"},
    {.name = "fold_vectors",
     .passes = {pass_fold, pass_dce},
     .before =
         "    %i = global_id x\n"
         "    %x = load i32 %o[%i]\n"
         "    %v = vec i32x4 %x, %n, 3, 4\n"
         "    %w = insert i32x4 %v, 9, 2\n"
         "    %a = extract i32x4 %w, 1\n"
         "    %b = extract i32x4 %w, 2\n"
         "    %s = splat i32x2 %x\n"
         "    %c = extract i32x2 %s, 1\n"
         "    %d = add i32 %a, %b\n"
         "    %e = add i32 %d, %c\n"
         "    store i32 %o[%i], %e\n",
     .after =
         "    %i = global_id x\n"
         "    %0 = elem i32 %o, %i\n"
         "    %x = load i32 %0\n"
         "    %d = add i32 %n, 9\n"
         "    %e = add i32 %d, %x\n"
         "    %1 = elem i32 %o, %i\n"
         "    store i32 %1, %e\n"
         "    return\n"},
    {.name = "fold_known_conditions",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %r = if %c -> i32 {\n"
         "        %a = if %c -> i32 {\n"
         "            yield 1\n"
         "        } else {\n"
         "            yield 2\n"
         "        }\n"
         "        store i32 %o[%i], %a\n"
         "        yield %a\n"
         "    } else {\n"
         "        %d = not bool %c\n"
         "        %b = if %d -> i32 {\n"
         "            store i32 %o[%i], 5\n"
         "            yield 3\n"
         "        } else {\n"
         "            yield 4\n"
         "        }\n"
         "        yield %b\n"
         "    }\n"
         "    %e = if false -> i32 {\n"
         "        yield %r\n"
         "    } else {\n"
         "        %m = mul i32 %r, %r\n"
         "        yield %m\n"
         "    }\n"
         "    store i32 %p[%i], %e\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %r = if %c -> i32 {\n"
         "        %0 = elem i32 %o, %i\n"
         "        store i32 %0, 1\n"
         "        yield 1\n"
         "    } else {\n"
         "        %1 = elem i32 %o, %i\n"
         "        store i32 %1, 5\n"
         "        yield 3\n"
         "    }\n"
         "    %m = mul i32 %r, %r\n"
         "    %2 = elem i32 %p, %i\n"
         "    store i32 %2, %m\n"
         "    return\n"},
    {.name = "fold_if_to_select",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %r, %u = if %c -> i32, i32 {\n"
         "        yield %n, 1\n"
         "    } else {\n"
         "        yield 7, undef\n"
         "    }\n"
         "    %s = select i32 %c, %u, %r\n"
         "    store i32 %o[%i], %s\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %r = select i32 %c, %n, 7\n"
         "    %s = select i32 %c, 1, %r\n"
         "    %0 = elem i32 %o, %i\n"
         "    store i32 %0, %s\n"
         "    return\n"},
    {.name = "fold_loop_of_one_round",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %r = loop (%a: i32 = %n) -> i32 {\n"
         "        %b = add i32 %a, 1\n"
         "        store i32 %o[%i], %b\n"
         "        break %b\n"
         "    }\n"
         "    store i32 %p[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %b = add i32 %n, 1\n"
         "    %0 = elem i32 %o, %i\n"
         "    store i32 %0, %b\n"
         "    %1 = elem i32 %p, %i\n"
         "    store i32 %1, %b\n"
         "    return\n"},
    {.name = "fold_unchanging_parameter",
     .passes = {pass_fold},
     .before =
         "    %i = global_id x\n"
         "    %r = loop (%a: i32 = %n, %k: i32 = 0) -> i32 {\n"
         "        %d = sgt i32 %k, %a\n"
         "        if %d {\n"
         "            break %a\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %a, %k2\n"
         "    }\n"
         "    store i32 %p[%i], %r\n",
     .after =
         "    %i = global_id x\n"
         "    %r = loop (%a: i32 = %n, %k: i32 = 0) -> i32 {\n"
         "        %d = sgt i32 %k, %n\n"
         "        if %d {\n"
         "            break %n\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %n, %k2\n"
         "    }\n"
         "    %0 = elem i32 %p, %i\n"
         "    store i32 %0, %n\n"
         "    return\n"},
    {.name = "cse_by_dominance",
     .passes = {pass_cse},
     .before =
         "    %i = global_id x\n"
         "    %a = add i32 %n, 3\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        %b = add i32 3, %n\n"
         "        %x = mul i32 %b, %b\n"
         "        store i32 %o[%i], %x\n"
         "    } else {\n"
         "        %x2 = mul i32 %a, %a\n"
         "        store i32 %o[%i], %x2\n"
         "    }\n"
         "    %i2 = global_id x\n"
         "    %x3 = mul i32 %a, %a\n"
         "    store i32 %p[%i2], %x3\n",
     .after =
         "    %i = global_id x\n"
         "    %a = add i32 %n, 3\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        %x = mul i32 %a, %a\n"
         "        %0 = elem i32 %o, %i\n"
         "        store i32 %0, %x\n"
         "        yield\n"
         "    } else {\n"
         "        %x2 = mul i32 %a, %a\n"
         "        %1 = elem i32 %o, %i\n"
         "        store i32 %1, %x2\n"
         "        yield\n"
         "    }\n"
         "    %x3 = mul i32 %a, %a\n"
         "    %2 = elem i32 %p, %i\n"
         "    store i32 %2, %x3\n"
         "    return\n"},
    {.name = "promote_through_if_and_loop",
     .passes = {pass_promote},
     .before =
         "    %i = global_id x\n"
         "    %v = var i32\n"
         "    %w = var i32\n"
         "    store i32 %v, 1\n"
         "    store i32 %w, %n\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        store i32 %v, 2\n"
         "    }\n"
         "    loop (%k: i32 = 0) {\n"
         "        %x = load i32 %v\n"
         "        %y = add i32 %x, %k\n"
         "        store i32 %v, %y\n"
         "        %d = sgt i32 %k, 5\n"
         "        if %d {\n"
         "            break\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n"
         "    %z = load i32 %v\n"
         "    %u = load i32 %w\n"
         "    %s = add i32 %z, %u\n"
         "    store i32 %o[%i], %s\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %0 = if %c -> i32 {\n"
         "        yield 2\n"
         "    } else {\n"
         "        yield 1\n"
         "    }\n"
         "    %1 = loop (%k: i32 = 0, %2: i32 = %0) -> i32 {\n"
         "        %y = add i32 %2, %k\n"
         "        %d = sgt i32 %k, 5\n"
         "        if %d {\n"
         "            break %y\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2, %y\n"
         "    }\n"
         "    %s = add i32 %1, %n\n"
         "    %3 = elem i32 %o, %i\n"
         "    store i32 %3, %s\n"
         "    return\n"},
    {.name = "promote_lanes_and_bits",
     .passes = {pass_promote},
     .before =
         "    %i = global_id x\n"
         "    %v = var i32x2\n"
         "    store i32x2 %v, <1, 2>\n"
         "    %e = elem i32 %v, 1\n"
         "    store i32 %e, %n\n"
         "    %x = load i64 %v\n"
         "    %y = trunc i32 %x\n"
         "    %l = load i32 %e\n"
         "    %s = add i32 %y, %l\n"
         "    store i32 %o[%i], %s\n",
     .after =
         "    %i = global_id x\n"
         "    %0 = insert i32x2 <1, 2>, %n, 1\n"
         "    %1 = bitcast i64 %0\n"
         "    %y = trunc i32 %1\n"
         "    %2 = extract i32x2 %0, 1\n"
         "    %s = add i32 %y, %2\n"
         "    %3 = elem i32 %o, %i\n"
         "    store i32 %3, %s\n"
         "    return\n"},
    {.name = "promote_leaves_what_escapes",
     .passes = {pass_promote},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %v = var i32\n"
         "    %w = var i32\n"
         "    store i32 %v, 3\n"
         "    store i32 %w, 4\n"
         "    %q = select ptr.private %c, %v, %w\n"
         "    %x = load i32 %q\n"
         "    %a = var [4 x i32]\n"
         "    %e = elem i32 %a, 2\n"
         "    store i32 %e, %x\n"
         "    %y = load i32 %e\n"
         "    store i32 %o[%i], %y\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %v = var i32\n"
         "    %w = var i32\n"
         "    store i32 %v, 3\n"
         "    store i32 %w, 4\n"
         "    %q = select ptr.private %c, %v, %w\n"
         "    %x = load i32 %q\n"
         "    %a = var [4 x i32]\n"
         "    %e = elem i32 %a, 2\n"
         "    store i32 %e, %x\n"
         "    %y = load i32 %e\n"
         "    %0 = elem i32 %o, %i\n"
         "    store i32 %0, %y\n"
         "    return\n"},
    {.name = "forward_stores_and_loads",
     .passes = {pass_forward},
     .before =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %a, %n\n"
         "    %x = load i32 %b\n"
         "    %y = load i32 %a\n"
         "    %s = add i32 %x, %y\n"
         "    store i32 %b, %s\n"
         "    %z = load i32 %a\n"
         "    %w = load i32 %b\n"
         "    %t = add i32 %z, %w\n"
         "    store i32 %a, %t\n"
         "    store i32 %a, %t\n",
     .after =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %a, %n\n"
         "    %x = load i32 %b\n"
         "    %s = add i32 %x, %n\n"
         "    store i32 %b, %s\n"
         "    %t = add i32 %n, %s\n"
         "    store i32 %a, %t\n"
         "    return\n"},
    {.name = "forward_by_offsets_of_one_base",
     .passes = {pass_forward},
     .before =
         "    %i = global_id x\n"
         "    %i2 = mul i64 %i, 2\n"
         "    %j2 = add i64 %i2, 1\n"
         "    %a = elem i32 %o, %i2\n"
         "    %b = elem i32 %o, %j2\n"
         "    %m = xor i64 %i2, 1\n"
         "    %d = elem i32 %o, %m\n"
         "    store i32 %a, 1\n"
         "    store i32 %b, 2\n"
         "    %x = load i32 %a\n"
         "    store i32 %d, 3\n"
         "    %y = load i32 %a\n"
         "    %s = add i32 %x, %y\n"
         "    store i32 %p[%i], %s\n",
     .after =
         "    %i = global_id x\n"
         "    %i2 = mul i64 %i, 2\n"
         "    %j2 = add i64 %i2, 1\n"
         "    %a = elem i32 %o, %i2\n"
         "    %b = elem i32 %o, %j2\n"
         "    %m = xor i64 %i2, 1\n"
         "    %d = elem i32 %o, %m\n"
         "    store i32 %a, 1\n"
         "    store i32 %b, 2\n"
         "    store i32 %d, 3\n"
         "    %y = load i32 %a\n"
         "    %s = add i32 1, %y\n"
         "    %0 = elem i32 %p, %i\n"
         "    store i32 %0, %s\n"
         "    return\n"},
    {.name = "forward_and_barriers",
     .passes = {pass_forward},
     .before =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    %v = var i32\n"
         "    store i32 %v, %n\n"
         "    store i32 %a, 1\n"
         "    %x = load i32 %b\n"
         "    barrier work_group, global\n"
         "    %y = load i32 %b\n"
         "    %z = load i32 %a\n"
         "    %w = load i32 %v\n"
         "    %s = add i32 %x, %y\n"
         "    %t = add i32 %z, %w\n"
         "    %u = add i32 %s, %t\n"
         "    store i32 %a, %u\n",
     .after =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    %v = var i32\n"
         "    store i32 %v, %n\n"
         "    store i32 %a, 1\n"
         "    %x = load i32 %b\n"
         "    barrier work_group, global\n"
         "    %z = load i32 %a\n"
         "    %s = add i32 %x, %x\n"
         "    %t = add i32 %z, %n\n"
         "    %u = add i32 %s, %t\n"
         "    store i32 %a, %u\n"
         "    return\n"},
    {.name = "forward_through_control_flow",
     .passes = {pass_forward},
     .before =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %a, 1\n"
         "    %x = load i32 %b\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        %y = load i32 %a\n"
         "        store i32 %b, %y\n"
         "    }\n"
         "    %z = load i32 %a\n"
         "    %w = load i32 %b\n"
         "    loop (%k: i32 = 0) {\n"
         "        %u = load i32 %a\n"
         "        %q = load i32 %b\n"
         "        %r = add i32 %q, %u\n"
         "        store i32 %b, %r\n"
         "        %d = sgt i32 %k, 2\n"
         "        if %d {\n"
         "            break\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n"
         "    %e = load i32 %b\n"
         "    %f = load i32 %a\n"
         "    %s = add i32 %z, %w\n"
         "    %t = add i32 %e, %f\n"
         "    %g = add i32 %s, %t\n"
         "    %h = add i32 %g, %x\n"
         "    store i32 %a, %h\n",
     .after =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %a, 1\n"
         "    %x = load i32 %b\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        store i32 %b, 1\n"
         "        yield\n"
         "    }\n"
         "    %w = load i32 %b\n"
         "    loop (%k: i32 = 0) {\n"
         "        %q = load i32 %b\n"
         "        %r = add i32 %q, 1\n"
         "        store i32 %b, %r\n"
         "        %d = sgt i32 %k, 2\n"
         "        if %d {\n"
         "            break\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n"
         "    %e = load i32 %b\n"
         "    %s = add i32 1, %w\n"
         "    %t = add i32 %e, 1\n"
         "    %g = add i32 %s, %t\n"
         "    %h = add i32 %g, %x\n"
         "    store i32 %a, %h\n"
         "    return\n"},
    {.name = "merge_ifs",
     .passes = {pass_merge},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %r = if %c -> i32 {\n"
         "        store i32 %o[%i], 1\n"
         "        yield %n\n"
         "    } else {\n"
         "        yield 0\n"
         "    }\n"
         "    %m = mul i32 %n, %n\n"
         "    %s = if %c -> i32 {\n"
         "        %a = add i32 %r, %m\n"
         "        yield %a\n"
         "    } else {\n"
         "        store i32 %o[%i], %r\n"
         "        yield %m\n"
         "    }\n"
         "    %t = add i32 %r, %s\n"
         "    store i32 %p[%i], %t\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    %m = mul i32 %n, %n\n"
         "    %r, %s = if %c -> i32, i32 {\n"
         "        %0 = elem i32 %o, %i\n"
         "        store i32 %0, 1\n"
         "        %a = add i32 %n, %m\n"
         "        yield %n, %a\n"
         "    } else {\n"
         "        %1 = elem i32 %o, %i\n"
         "        store i32 %1, 0\n"
         "        yield 0, %m\n"
         "    }\n"
         "    %t = add i32 %r, %s\n"
         "    %2 = elem i32 %p, %i\n"
         "    store i32 %2, %t\n"
         "    return\n"},
    {.name = "merge_not_across_a_barrier",
     .passes = {pass_merge},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        store i32 %o[%i], 1\n"
         "    }\n"
         "    barrier work_group, global\n"
         "    if %c {\n"
         "        store i32 %p[%i], 1\n"
         "    }\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        %0 = elem i32 %o, %i\n"
         "        store i32 %0, 1\n"
         "        yield\n"
         "    }\n"
         "    barrier work_group, global\n"
         "    if %c {\n"
         "        %1 = elem i32 %p, %i\n"
         "        store i32 %1, 1\n"
         "        yield\n"
         "    }\n"
         "    return\n"},
    {.name = "overwrite_hidden_stores",
     .passes = {pass_overwrite},
     .before =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %a, 1\n"
         "    store i32 %b, 2\n"
         "    %x = load i32 %b\n"
         "    store i32 %a, 3\n"
         "    store i32 %b, %x\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        return\n"
         "    }\n"
         "    store i32 %a, 4\n"
         "    barrier work_group, global\n"
         "    store i32 %a, 5\n",
     .after =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    %b = elem i32 %p, %i\n"
         "    store i32 %b, 2\n"
         "    %x = load i32 %b\n"
         "    store i32 %a, 3\n"
         "    store i32 %b, %x\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        return\n"
         "    }\n"
         "    store i32 %a, 4\n"
         "    barrier work_group, global\n"
         "    store i32 %a, 5\n"
         "    return\n"},
    {.name = "overwrite_not_across_a_return_in_a_loop",
     .passes = {pass_overwrite},
     .before =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    store i32 %a, 1\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        loop {\n"
         "            %d = slt i32 %n, 2\n"
         "            if %d {\n"
         "                return\n"
         "            }\n"
         "            break\n"
         "        }\n"
         "    }\n"
         "    store i32 %a, 2\n",
     .after =
         "    %i = global_id x\n"
         "    %a = elem i32 %o, %i\n"
         "    store i32 %a, 1\n"
         "    %c = slt i32 %n, 4\n"
         "    if %c {\n"
         "        loop {\n"
         "            %d = slt i32 %n, 2\n"
         "            if %d {\n"
         "                return\n"
         "            }\n"
         "            break\n"
         "        }\n"
         "        yield\n"
         "    }\n"
         "    store i32 %a, 2\n"
         "    return\n"},
    {.name = "dce_values_one_by_one",
     .passes = {pass_dce},
     .before =
         "    %i = global_id x\n"
         "    %dead = mul i32 %n, 3\n"
         "    %v = var i32\n"
         "    store i32 %v, %dead\n"
         "    %unused = load i32 %p[%i]\n"
         "    %r, %s = loop (%k: i32 = 0, %d: i32 = 1) -> i32, i32 {\n"
         "        %d2 = mul i32 %d, 2\n"
         "        %done = sgt i32 %k, %n\n"
         "        if %done {\n"
         "            break %k, %d2\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2, %d2\n"
         "    }\n"
         "    %c = slt i32 %n, 4\n"
         "    %x, %y = if %c -> i32, i32 {\n"
         "        yield 1, 2\n"
         "    } else {\n"
         "        %e = mul i32 %r, 5\n"
         "        yield %r, %e\n"
         "    }\n"
         "    if %c {\n"
         "        %z = load i32 %o[%i]\n"
         "    }\n"
         "    store i32 %o[%i], %x\n",
     .after =
         "    %i = global_id x\n"
         "    %r = loop (%k: i32 = 0) -> i32 {\n"
         "        %done = sgt i32 %k, %n\n"
         "        if %done {\n"
         "            break %k\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n"
         "    %c = slt i32 %n, 4\n"
         "    %x = if %c -> i32 {\n"
         "        yield 1\n"
         "    } else {\n"
         "        yield %r\n"
         "    }\n"
         "    %0 = elem i32 %o, %i\n"
         "    store i32 %0, %x\n"
         "    return\n"},
    {.name = "dce_keeps_endless_loops",
     .passes = {pass_dce},
     .before =
         "    %i = global_id x\n"
         "    %c = slt i64 %i, 100\n"
         "    if %c {\n"
         "        store i32 %o[%i], 1\n"
         "    } else {\n"
         "        loop (%k: i32 = 0) {\n"
         "            %k2 = add i32 %k, 1\n"
         "            continue %k2\n"
         "        }\n"
         "    }\n",
     .after =
         "    %i = global_id x\n"
         "    %c = slt i64 %i, 100\n"
         "    if %c {\n"
         "        %0 = elem i32 %o, %i\n"
         "        store i32 %0, 1\n"
         "        yield\n"
         "    } else {\n"
         "        loop {\n"
         "            continue\n"
         "        }\n"
         "        yield\n"
         "    }\n"
         "    return\n"},
    {.name = "hoist_from_loops",
     .passes = {pass_hoist},
     .before =
         "    %i = global_id x\n"
         "    %odd = or i32 %n, 1\n"
         "    loop (%k: i32 = 0) {\n"
         "        %m = mul i32 %n, %n\n"
         "        %q = sdiv i32 100, %odd\n"
         "        loop (%l: i32 = 0) {\n"
         "            %a = elem i32 %o, %i\n"
         "            %s = add i32 %m, %k\n"
         "            %t = add i32 %s, %q\n"
         "            store i32 %a, %t\n"
         "            break\n"
         "        }\n"
         "        %d = sgt i32 %k, 2\n"
         "        if %d {\n"
         "            break\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n",
     .after =
         "    %i = global_id x\n"
         "    %odd = or i32 %n, 1\n"
         "    %m = mul i32 %n, %n\n"
         "    %a = elem i32 %o, %i\n"
         "    loop (%k: i32 = 0) {\n"
         "        %q = sdiv i32 100, %odd\n"
         "        %s = add i32 %m, %k\n"
         "        %t = add i32 %s, %q\n"
         "        loop (%l: i32 = 0) {\n"
         "            store i32 %a, %t\n"
         "            break\n"
         "        }\n"
         "        %d = sgt i32 %k, 2\n"
         "        if %d {\n"
         "            break\n"
         "        }\n"
         "        %k2 = add i32 %k, 1\n"
         "        continue %k2\n"
         "    }\n"
         "    return\n"},
    {.name = "reservations_stay_where_they_are",
     .passes = {pass_cse, pass_dce, pass_hoist},
     .functions = "pipe @queue: packet i32 capacity 4\n",
     .before = RESERVATIONS,
     .after = RESERVATIONS "    return\n"},
    {.name = "packets_of_reservations_are_memory",
     .passes = {pass_promote, pass_forward, pass_overwrite},
     .functions = "pipe @queue: packet i32 capacity 4\n",
     .before = RESERVED_PACKETS,
     .after = RESERVED_PACKETS "    return\n"},
};
/* clang-format on */

static struct ir_module *parsed(const char *functions, const char *body)
{
    struct strbuf text = {0};
    struct diag_list list = {0};
    strbuf_printf(&text, "%s%s%s}\n", functions ? functions : "", HEAD, body);
    struct ir_module *m = ir_parse(text.text, text.size, "test.fk", &list);
    if (!m) fail_msg("%s%s", diag_format(&list), text.text);
    free(strbuf_take(&text));
    return m;
}

static void expect_valid(const struct ir_module *m)
{
    struct diag_list list = {0};
    if (!ir_verify(m, &list)) fail_msg("%s\n%s", diag_format(&list), ir_print(m));
}

/* Both kernels leave the same in memory. */
static void expect_same_results(struct ir_function *a, struct ir_function *b)
{
    struct slot slots[2][3];
    struct interp_range range = {1, {16, 1, 1}, {0}, {4, 1, 1}};
    for (uint64_t seed = 0; seed < 16; seed++) {
        for (int k = 0; k < 2; k++) {
            for (int i = 0; i < 3; i++) slots[k][i] = slot_new(a->module, &a->params[i], 64, 3 * seed + i);
            struct slot *args[] = {&slots[k][0], &slots[k][1], &slots[k][2]};
            assert_true(slots_run(k ? b : a, &range, args));
        }
        for (int i = 0; i < 3; i++) assert_memory_equal(slots[0][i].data, slots[1][i].data, slots[0][i].bytes);
        for (int k = 0; k < 2; k++)
            for (int i = 0; i < 3; i++) slot_clear(&slots[k][i]);
    }
}

static void apply(const struct pass_case *c, struct ir_module *m, const char *wanted)
{
    struct ir_function *k = ir_module_find(m, "k");
    for (int i = 0; i < 3 && c->passes[i]; i++) {
        char *before = ir_print_function(k);
        bool changed = c->passes[i](k);
        char *after = ir_print_function(k);
        assert_int_equal(changed, strcmp(before, after) != 0);
        free(before);
        free(after);
        expect_valid(m);
    }
    char *text = ir_print_function(k);
    assert_string_equal(text, wanted);
    free(text);
}

static void run_case(void **state)
{
    const struct pass_case *c = *state;
    struct ir_module *before = parsed(c->functions, c->before), *m = parsed(c->functions, c->before);
    struct strbuf wanted = {0};
    strbuf_printf(&wanted, "%s%s}\n", HEAD, c->after);
    apply(c, m, wanted.text);
    expect_same_results(ir_module_find(before, "k"), ir_module_find(m, "k"));
    apply(c, m, wanted.text); /* nothing is left to do */
    free(strbuf_take(&wanted));
    ir_module_free(m);
    ir_module_free(before);
}

/* ---- more than fits a table ---- */

static void many_early_returns_do_not_nest(void **state)
{
    (void)state;
    struct strbuf f = {0};
    strbuf_add(&f, "func @f(%x: i32) -> i32 {\n");
    for (int i = 0; i < 300; i++)
        strbuf_printf(&f, "    %%c%d = ieq i32 %%x, %d\n    if %%c%d {\n        return %d\n    }\n", i, i, i, 7 * i);
    strbuf_add(&f, "    return 1\n}\n");
    static const char body[] = "    %i = global_id x\n"
                               "    %j = trunc i32 %i\n"
                               "    %m = mul i32 %j, 50\n"
                               "    %r = call @f(%m)\n"
                               "    store i32 %o[%i], %r\n";
    struct ir_module *before = parsed(f.text, body), *m = parsed(f.text, body);
    passes_run(ir_module_find(m, "k"));
    expect_valid(m);
    expect_same_results(ir_module_find(before, "k"), ir_module_find(m, "k"));
    ir_module_free(m);
    ir_module_free(before);
    free(strbuf_take(&f));
}

/* Functions that call each other twice would grow without bound. */
static void calls_stop_growing(void **state)
{
    (void)state;
    struct strbuf f = {0};
    strbuf_add(&f, "func @f0(%x: i32) -> i32 {\n    %y = add i32 %x, 1\n    return %y\n}\n");
    for (int i = 1; i < 40; i++)
        strbuf_printf(&f,
                      "func @f%d(%%x: i32) -> i32 {\n    %%y = call @f%d(%%x)\n    %%z = call @f%d(%%y)\n"
                      "    return %%z\n}\n",
                      i, i - 1, i - 1);
    struct ir_module *m = parsed(f.text, "    %r = call @f39(%n)\n    store i32 %o, %r\n");
    assert_true(pass_inline(ir_module_find(m, "k")));
    expect_valid(m);
    assert_true(arena_size(m->arena) < 512 << 20);
    ir_module_free(m);
    free(strbuf_take(&f));
}

/* ---- random kernels ---- */

static void *filled(const struct random_arg *arg, uint64_t seed)
{
    void *memory = arena_realloc(NULL, arg->size + 1);
    random_kernel_fill(arg, seed, memory);
    return memory;
}

/* Runs the kernel on data made from the seed; the buffers' contents after it. */
static void **run_random(const struct random_kernel *k, uint64_t local, uint64_t seed)
{
    void **memory = calloc(k->n_args, sizeof *memory);
    struct interp_arg *args = calloc(k->n_args, sizeof *args);
    struct interp_range range = {1, {k->items, 1, 1}, {0}, {local, 1, 1}};
    struct interp_options options = {.sub_group_size = 4, .check_races = true, .check_unwritten = true};
    struct interp_result result = {0};
    for (uint32_t i = 0; i < k->n_args; i++) {
        struct random_arg *a = &k->args[i];
        if (a->kind == RANDOM_BUFFER) memory[i] = filled(a, seed + i);
        args[i].kind = a->kind == RANDOM_BUFFER  ? INTERP_ARG_BUFFER
                       : a->kind == RANDOM_LOCAL ? INTERP_ARG_LOCAL
                                                 : INTERP_ARG_BYTES;
        args[i].data = a->kind == RANDOM_SCALAR ? a->value : memory[i];
        args[i].size = a->size;
    }
    int rc = interp_run(k->function, &range, args, &options, &result);
    for (uint32_t i = 0; i < result.n_findings; i++) print_error("%s\n", result.findings[i].text);
    if (rc || result.n_findings || !result.completed) fail_msg("%s", ir_print(k->module));
    interp_result_clear(&result);
    free(args);
    return memory;
}

static void free_memory(void **memory, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) free(memory[i]);
    free(memory);
}

static pass *const all_passes[] = {pass_inline,          pass_fold,      pass_cse, pass_promote, pass_forward,
                                   pass_merge,           pass_overwrite, pass_dce, pass_hoist,   pass_unroll,
                                   pass_unroll_accesses, pass_split};

/* Single passes in any order, or the standard sequence. */
static void change(struct random_kernel *k, struct rng *rng)
{
    unsigned n = (unsigned)(sizeof all_passes / sizeof *all_passes);
    if (rng_chance(rng, 30)) {
        passes_run(k->function);
        return;
    }
    for (int i = 0; i < 8; i++) {
        all_passes[rng_below(rng, n)](k->function);
        expect_valid(k->module);
    }
}

static void check_random(uint64_t seed, const struct random_kernel_options *options)
{
    struct rng rng = {seed};
    uint64_t local = options->local_size ? options->local_size : 8;
    struct random_kernel before = random_kernel(seed, options), after = random_kernel(seed, options);
    change(&after, &rng);
    void **a = run_random(&before, local, seed), **b = run_random(&after, local, seed);
    for (uint32_t i = 0; i < before.n_args; i++) {
        if (before.args[i].kind != RANDOM_BUFFER) continue;
        int64_t at = random_kernel_compare(&before.args[i], a[i], b[i], 0);
        if (at >= 0)
            fail_msg("seed %llu: argument %u differs at %lld\n%s\n%s", (unsigned long long)seed, i, (long long)at,
                     ir_print(before.module), ir_print(after.module));
    }
    free_memory(a, before.n_args);
    free_memory(b, before.n_args);
    random_kernel_clear(&before);
    random_kernel_clear(&after);
}

static void random_kernels_compute_the_same(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < test_cases(300); seed++) {
        check_random(seed, &(struct random_kernel_options){.items = 16});
        check_random(seed, &(struct random_kernel_options){.items = 16, .instructions = 120, .depth = 5});
        check_random(seed, &(struct random_kernel_options){.items = 16, .local_size = 4});
    }
}

/* Every operation and every shape, kernels or not: what comes out is valid, and stays as it is. */
static void random_modules_stay_valid(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < test_cases(300); seed++) {
        struct random_module_options options = {.functions = 3, .instructions = 100, .depth = 8};
        struct ir_module *m = random_module(seed, &options);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) passes_run(m->functions[i]);
        expect_valid(m);
        char *once = ir_print(m);
        for (uint32_t i = 0; i < m->n_functions; i++)
            if (m->functions[i]->body) passes_run(m->functions[i]);
        char *twice = ir_print(m);
        assert_string_equal(once, twice);
        free(once);
        free(twice);
        ir_module_free(m);
    }
}

int main(void)
{
    enum { N_CASES = sizeof cases / sizeof *cases };
    struct CMUnitTest tests[N_CASES + 4] = {
        [N_CASES] = cmocka_unit_test(many_early_returns_do_not_nest),
        cmocka_unit_test(calls_stop_growing),
        cmocka_unit_test(random_kernels_compute_the_same),
        cmocka_unit_test(random_modules_stay_valid),
    };
    for (int i = 0; i < N_CASES; i++)
        tests[i] = (struct CMUnitTest){cases[i].name, run_case, NULL, NULL, (void *)&cases[i]};
    return cmocka_run_group_tests_name("passes", tests, NULL, NULL);
}
