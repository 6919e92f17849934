/*
 * Loads whose lanes lie near each other. A gather takes a turn for each lane; a register that has all their numbers
 * takes one, and a permutation. It begins a few numbers before lane 0's, as neighbours may lie before it, and is loaded
 * only where all of it is in lane 0's page: of what is there beside what lanes access nothing is known.
 */
#include "fuser/cpu/simd/x86_window.h"

#include "fuser/cpu/jit/jit.h"
#include "fuser/cpu/simd/chunk.h"
#include "fuser/cpu/simd/computed.h"
#include "fuser/cpu/simd/x86_gather.h"
#include "fuser/cpu/simd/x86_move.h"
#include "fuser/cpu/target/isa.h"

enum { PAGE = 4096 };

bool x86_can_gather_near(const struct emit *e, const lval *mask, enum ir_kind kind)
{
    return x86_can_gather(e, kind) && kind_bytes(kind) == 4 && (!mask || e->isa->bit_masks);
}

static unsigned register_bytes(const struct emit *e)
{
    return e->isa->vector_bytes;
}

/* As far before lane 0 as a quarter of the register. */
static unsigned bytes_before(const struct emit *e)
{
    return register_bytes(e) / 4;
}

static rval lane_0(struct emit *e, lval offset)
{
    static const struct jit_asm move = {.text = "vmovd %x1, %0", .result = "=r", .inputs = {"v"}};
    static const struct jit_asm move_avx2 = {.text = "vmovd %x1, %0", .result = "=r", .inputs = {"x"}};
    rval in = jit_read(offset);
    return jit_read(jit_asm(e, e->isa->bit_masks ? &move : &move_avx2, jit_type(e, IR_KIND_I32), 1, &in));
}

/* Which number of the register that begins `first` bytes behind the base is a lane's: what does not lie there has a bit
   of 16 and above (of 8, where there are 8 lanes), also where it is no whole number away. */
static lval numbers_of(struct emit *e, lval offset, rval first)
{
    lval start = chunk_splat(e, IR_KIND_I32, first);
    rval apart = jit_read(jit_keep(e, jit_sub(e, jit_read(offset), jit_read(start))));
    static const struct jit_asm rotate = {.text = "vprord $2, %1, %0", .result = "=v", .inputs = {"v"}};
    if (e->isa->bit_masks)
        return jit_asm(e, &rotate, jit_vector(e, IR_KIND_I32, lanes_per_chunk(e, IR_KIND_I32)), 1, &apart);
    lval two = chunk_splat(e, IR_KIND_I32, jit_int(e, IR_KIND_I32, 2));
    lval thirty = chunk_splat(e, IR_KIND_I32, jit_int(e, IR_KIND_I32, 30));
    rval high = jit_binary(e, GCC_JIT_BINARY_OP_LSHIFT, apart, jit_read(thirty));
    rval low = jit_binary(e, GCC_JIT_BINARY_OP_RSHIFT, apart, jit_read(two));
    return jit_keep(e, jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_OR, low, high));
}

/* A number that is 0 where all lanes' numbers are in the register. */
static rval lanes_outside(struct emit *e, lval numbers)
{
    static const struct jit_asm outside = {.text = "vptestmd %2, %1, %0", .result = "=Yk", .inputs = {"v", "v"}};
    static const struct jit_asm outside_avx2 = {
        .text = "xorl %0, %0\n\tvptest %2, %1\n\tsetnz %b0", .result = "=&q", .inputs = {"x", "x"}};
    rval beyond = jit_int(e, IR_KIND_I32, ~(uint64_t)(mask_lanes(e) - 1) & UINT32_MAX);
    rval inputs[] = {jit_read(numbers), jit_read(chunk_splat(e, IR_KIND_I32, beyond))};
    if (e->isa->bit_masks) return jit_read(jit_asm(e, &outside, mask_type(e), 2, inputs));
    return jit_read(jit_asm(e, &outside_avx2, jit_type(e, IR_KIND_I32), 2, inputs));
}

static lval permuted(struct emit *e, enum ir_kind kind, rval numbers, lval from)
{
    static const struct jit_asm wide = {.text = "vpermd %1, %2, %0", .result = "=v", .inputs = {"vm", "v"}};
    static const struct jit_asm narrow = {.text = "vpermd %1, %2, %0", .result = "=x", .inputs = {"xm", "x"}};
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, e->isa->bit_masks ? &wide : &narrow, type, 2, (rval[]){jit_read(from), numbers});
}

/* What is seen of offsets alone, whatever they are offsets from. */
struct window {
    lval first;   /* where the register begins, behind the base: of 64 bits */
    lval numbers; /* of the lanes in it */
    lval places;  /* of a page it may begin at so many first ones: 0 where not all lanes are in it */
};

static const struct window *window_of(struct emit *e, lval offsets)
{
    struct window *w = computed_find(e, offsets, 0);
    if (w) return w;
    w = arena_alloc(e->arena, sizeof *w);
    rval first = jit_sub(e, lane_0(e, offsets), jit_int(e, IR_KIND_I32, bytes_before(e)));
    first = jit_read(jit_keep(e, first));
    rval far_first = jit_cast(e, jit_cast(e, first, jit_signed(e, IR_KIND_I32)), jit_signed(e, IR_KIND_I64));
    w->first = jit_keep(e, jit_cast(e, far_first, jit_type(e, IR_KIND_I64)));
    w->numbers = numbers_of(e, offsets, first);
    rval outside = lanes_outside(e, w->numbers);
    rval none = gcc_jit_context_zero(e->gcc, gcc_jit_rvalue_get_type(outside));
    rval inside = jit_compare(e, GCC_JIT_COMPARISON_EQ, outside, none);
    w->places = jit_keep(e, jit_select(e, inside, jit_u64(e, PAGE - register_bytes(e) + 1), jit_u64(e, 0)));
    computed_add(e, offsets, 0, w);
    return w;
}

/* One register's lanes; into `result`. */
static void gather_chunk(struct emit *e, enum ir_kind kind, rval base, const struct lanes *offset, unsigned c,
                         lval result)
{
    gcc_jit_block *near = jit_block(e), *far = jit_block(e), *done = jit_block(e);
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    const struct window *w = window_of(e, lanes_vectors(e, offset)[c]);
    rval address = jit_read(jit_keep(e, jit_add(e, base, jit_read(w->first))));
    rval in_page = jit_binary(e, GCC_JIT_BINARY_OP_BITWISE_AND, address, jit_u64(e, PAGE - 1));
    jit_branch(e, jit_compare(e, GCC_JIT_COMPARISON_LT, in_page, jit_read(w->places)), near, far);
    jit_begin(e, near);
    lval loaded = jit_keep(e, jit_read(jit_memory(e, type, address, 1)));
    jit_set(e, result, jit_read(permuted(e, kind, jit_read(w->numbers), loaded)));
    jit_jump(e, done);
    jit_begin(e, far);
    jit_set(e, result, jit_read(x86_gather_chunk(e, kind, base, offset, c)));
    jit_jump(e, done);
    jit_begin(e, done);
}

/* ---- under a mask ---- */

/*
 * The same of lanes that run, within the reach of two registers: those at the ends of a row, where `clamp(2 * x - 1, 0,
 * n - 1)` and its like are no line. They begin one number before the first lane that runs, so far as its page does. One
 * statement, as a kernel may have hundreds of them.
 */
static lval gather_running(struct emit *e, enum ir_kind kind, rval base, rval offset, rval mask)
{
    static const struct jit_asm code = {
        .text = "vpxord %x0, %x0, %x0\n\tkortestw %3, %3\n\tjz 3f\n\t"
                /* where the first one is in its page */
                "vpcompressd %2, %0%{%3%}%{z%}\n\tvmovd %x0, %%eax\n\tcltq\n\tleaq (%1,%%rax), %%rcx\n\t"
                "movl %%ecx, %%eax\n\tandl $4095, %%eax\n\tsubq %%rax, %%rcx\n\t"
                /* where the registers are */
                "subl $4, %%eax\n\tjae 1f\n\txorl %%eax, %%eax\n1:\tcmpl $3968, %%eax\n\tjbe 1f\n\t"
                "movl $3968, %%eax\n1:\taddq %%rax, %%rcx\n\tmovl %%ecx, %%eax\n\tsubl %k1, %%eax\n\t"
                /* which of their 32 numbers are the lanes' */
                "vpbroadcastd %%eax, %%zmm15\n\tvpsubd %%zmm15, %2, %%zmm15\n\tvprord $2, %%zmm15, %%zmm15\n\t"
                "vpsrld $5, %%zmm15, %0\n\tvptestmd %0, %0, %%k1%{%3%}\n\tkortestw %%k1, %%k1\n\tjnz 2f\n\t"
                "vmovdqu32 (%%rcx), %0\n\tvpermt2d 64(%%rcx), %%zmm15, %0%{%3%}%{z%}\n\tjmp 3f\n"
                "2:\tvpxord %x0, %x0, %x0\n\tkmovw %3, %%k1\n\tvgatherdps (%1,%2,1), %0%{%%k1%}\n3:",
        .result = "=&v",
        .inputs = {"r", "v", "Yk"},
        .clobbers = {"rax", "rcx", "k1", "xmm15"},
        .is_volatile = true};
    gcc_jit_type *type = jit_vector(e, kind, lanes_per_chunk(e, kind));
    return jit_asm(e, &code, type, 3, (rval[]){base, offset, mask});
}

struct lanes x86_gather_near(struct emit *e, const lval *mask, enum ir_kind kind, rval base, const struct lanes *offset)
{
    struct lanes made = lanes_made(e, *offset), r = lanes_varying(e, kind);
    for (unsigned c = 0; c < lanes_chunks(e, kind); c++) {
        if (mask) {
            rval offsets = jit_read(lanes_vectors(e, &made)[c]);
            r.chunk[c] = gather_running(e, kind, base, offsets, x86_bit_mask(e, mask, kind, c));
            continue;
        }
        r.chunk[c] = jit_local(e, jit_vector(e, kind, lanes_per_chunk(e, kind)));
        gather_chunk(e, kind, base, &made, c, r.chunk[c]);
    }
    return r;
}
