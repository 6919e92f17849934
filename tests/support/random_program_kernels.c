/* The kernels of random programs, as text: each made of some ways to find an index, to read, to compute, to look at
   others and to write. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "tests/support/random_program_kernels.h"
#include "tests/support/rng.h"

struct making {
    struct rng rng;
    struct strbuf body;
    struct program_kernel *kernel;
    unsigned next;  /* number of the next value */
    unsigned width; /* of the block that begins at %start; 0: there is no %start yet */
    bool shifted;   /* reads and writes elsewhere, by a number that its neighbours shift by as well: by its kind */
    unsigned kind;
    const char *shift;
};

static uint32_t below(struct making *m, uint32_t n)
{
    return rng_below(&m->rng, n);
}

#define emit(m, ...) strbuf_printf(&(m)->body, __VA_ARGS__)

/* A new value: "  %vN = ..." is begun. */
static unsigned begin(struct making *m)
{
    emit(m, "  %%v%u = ", m->next);
    return m->next++;
}

/* ---- indices: i64 values, of elements below PROGRAM_ELEMENTS ---- */

static void want(struct making *m, char arg)
{
    char *args = m->kernel->args;
    if (strchr(args, arg)) return;
    args[strlen(args) + 1] = '\0';
    args[strlen(args)] = arg;
}

enum { KINDS = 5 };

/* 0 or 1, or a few, the same for all work-items: of addresses and sizes, as i64. */
static unsigned uniform_of(struct making *m, unsigned kind)
{
    unsigned v;
    switch (kind) {
    case 0:
        want(m, 'q');
        v = begin(m);
        emit(m, "ieq ptr.global %%a, %%q\n");
        break;
    case 1:
        want(m, 'q');
        v = begin(m);
        emit(m, "ine ptr.global %%q, null\n");
        break;
    case 2:
        want(m, 'm');
        v = begin(m);
        emit(m, "image_width %%m\n");
        break;
    case 3:
        want(m, 'k');
        v = begin(m);
        emit(m, "zext i64 %%k\n");
        return v;
    default:
        want(m, 'k');
        v = begin(m);
        emit(m, "and i32 %%k, 31\n");
    }
    unsigned wide = begin(m);
    emit(m, "zext i64 %%v%u\n", v);
    return wide;
}

static unsigned uniform(struct making *m)
{
    return uniform_of(m, below(m, KINDS));
}

static unsigned binary(struct making *m, const char *op, const char *left, const char *right)
{
    unsigned v = begin(m);
    emit(m, "%s i64 %s, %s\n", op, left, right);
    return v;
}

static unsigned shifted(struct making *m)
{
    char text[16];
    snprintf(text, sizeof text, "%%v%u", uniform_of(m, m->kind));
    return binary(m, m->shift, "%i", text);
}

static unsigned load_index(struct making *m)
{
    unsigned v = begin(m), w, x;
    emit(m, "load i32 %%b[%%i]\n");
    w = begin(m);
    emit(m, "and i32 %%v%u, 255\n", v);
    x = begin(m);
    emit(m, "zext i64 %%v%u\n", w);
    want(m, 'b');
    return x;
}

/* An element to read. own: %i for sure. */
static unsigned read_index(struct making *m, bool own)
{
    char text[16];
    unsigned v;
    if (m->shifted && rng_chance(&m->rng, 80)) return shifted(m);
    switch (own ? 0 : below(m, 10)) {
    case 1: return binary(m, "add", "%i", "1");
    case 2: return binary(m, "sub", "63", "%i");
    case 3: return binary(m, "mul", "%i", "4");
    case 4:
        v = binary(m, "shl", "%i", "1");
        snprintf(text, sizeof text, "%%v%u", v);
        return binary(m, "or", text, "1");
    case 5: return load_index(m);
    case 6: snprintf(text, sizeof text, "%%v%u", uniform(m)); return binary(m, "xor", "%i", text);
    case 7: snprintf(text, sizeof text, "%%v%u", uniform(m)); return binary(m, "add", "%i", text);
    case 8:
        v = binary(m, "sub", "%i", "1");
        snprintf(text, sizeof text, "%%v%u", v);
        return binary(m, "smax", text, "0");
    default: return binary(m, "add", "%i", "0");
    }
}

/* ---- values: i32 ---- */

static unsigned load(struct making *m, char array, bool own)
{
    unsigned at = read_index(m, own), v;
    want(m, array);
    v = begin(m);
    emit(m, "load i32 %%%c[%%v%u]\n", array, at);
    return v;
}

static unsigned image_read(struct making *m)
{
    unsigned v;
    want(m, 'm');
    v = begin(m);
    emit(m, "image_read i32x4 %%m, %%at\n");
    emit(m, "  %%v%u = extract i32x4 %%v%u, %u\n", m->next, v, below(m, 4));
    return m->next++;
}

static unsigned follow(struct making *m)
{
    unsigned p, v;
    want(m, 't');
    m->kernel->loose = true;
    p = begin(m);
    emit(m, "load ptr.global %%t[%u]\n", below(m, PROGRAM_TABLE));
    v = begin(m);
    emit(m, "load i32 %%v%u[%%i]\n", p);
    return v;
}

/* The sum of a row of four. */
static unsigned row(struct making *m)
{
    unsigned base = binary(m, "shl", "%i", "2"), v;
    want(m, 'a');
    v = begin(m);
    emit(m,
         "loop (%%n%u: i64 = 0, %%s%u: i32 = 0) -> i32 {\n    %%c%u = ult i64 %%n%u, 4\n    if %%c%u {\n"
         "      %%j%u = add i64 %%v%u, %%n%u\n      %%x%u = load i32 %%a[%%j%u]\n      %%y%u = mul i32 %%s%u, 3\n"
         "      %%z%u = add i32 %%y%u, %%x%u\n      %%w%u = add i64 %%n%u, 1\n      continue %%w%u, %%z%u\n    }\n"
         "    break %%s%u\n  }\n",
         v, v, v, v, v, v, base, v, v, v, v, v, v, v, v, v, v, v, v, v);
    return v;
}

static unsigned value(struct making *m, bool own)
{
    unsigned v;
    switch (below(m, 9)) {
    case 0: return image_read(m);
    case 1: return own ? load(m, 'a', true) : row(m);
    case 2:
        v = begin(m);
        emit(m, "trunc i32 %%i\n");
        return v;
    case 3:
        if (below(m, 3) == 0) return follow(m);
        return load(m, 'b', false);
    case 4: return load(m, 'b', false);
    default: return load(m, 'a', own);
    }
}

/* Numbers of a few thousand as f32, computed with, and their bits. */
static unsigned as_float(struct making *m, unsigned x, unsigned y)
{
    static const char *const ops[] = {"fadd", "fmul", "fsub", "fdiv", "fmin"};
    static const char *const functions[] = {"sqrt", "fabs", "sin",  "cos",  "exp",
                                            "log",  "tanh", "cbrt", "atan", "rsqrt"};
    enum { FUNCTIONS = sizeof functions / sizeof *functions, FIRST_OF_LIBRARY = 2, LAST_OF_LIBRARY = FUNCTIONS - 2 };
    unsigned a[2], first = 0;
    for (int i = 0; i < 2; i++) {
        unsigned low = begin(m);
        emit(m, "and i32 %%v%u, 4095\n", i ? y : x);
        a[i] = begin(m);
        emit(m, "stof f32 %%v%u\n", low);
    }
    for (unsigned i = 0; i <= below(m, 3); i++) {
        unsigned v = begin(m);
        emit(m, "%s f32 %%v%u, %%v%u%s\n", ops[below(m, 5)], a[0], a[1], below(m, 2) ? ", contract" : "");
        a[first++ & 1] = v;
    }
    unsigned root = begin(m), function = below(m, FUNCTIONS), bits;
    emit(m, "%s f32 %%v%u\n", functions[function], a[(first - 1) & 1]);
    if (function >= FIRST_OF_LIBRARY && function <= LAST_OF_LIBRARY) m->kernel->by_library = true;
    bits = begin(m);
    emit(m, "bitcast i32 %%v%u\n", root);
    /* Which NaN comes out of an operation on NaNs is not defined. */
    unsigned nan = begin(m), number;
    emit(m, "isnan f32 %%v%u\n", root);
    number = begin(m);
    emit(m, "select i32 %%v%u, 77, %%v%u\n", nan, bits);
    return number;
}

static unsigned combine(struct making *m, unsigned x, unsigned y)
{
    static const char *const ops[] = {"add", "sub", "mul", "xor", "smin", "umax", "and", "or"};
    unsigned v;
    switch (below(m, 6)) {
    case 0: return as_float(m, x, y);
    case 1:
        v = begin(m);
        emit(m, "slt i32 %%v%u, %%v%u\n", x, y);
        emit(m, "  %%v%u = select i32 %%v%u, %%v%u, %%v%u\n", m->next, v, below(m, 2) ? x : y, x);
        return m->next++;
    default:
        v = begin(m);
        emit(m, "%s i32 %%v%u, %%v%u\n", ops[below(m, 8)], x, y);
        return v;
    }
}

/* ---- looking at others ---- */

/* The first element of the sub-group's block of `width` for each work-item, as %start. */
static void block_start(struct making *m, unsigned width)
{
    if (m->width) return;
    emit(m, "  %%lane = sub_group_local_id\n  %%lane64 = zext i64 %%lane\n  %%base = sub i64 %%i, %%lane64\n");
    emit(m, "  %%start = mul i64 %%base, %u\n", width);
    m->width = width;
}

static unsigned block_read(struct making *m)
{
    unsigned at, block, low, high;
    block_start(m, 1 + below(m, 2));
    at = begin(m);
    emit(m, "elem i32 %%a, %%start\n");
    block = begin(m);
    emit(m, m->width > 1 ? "block_read i32x2 %%v%u\n" : "block_read i32 %%v%u\n", at);
    if (m->width == 1) return block;
    low = begin(m);
    emit(m, "extract i32x2 %%v%u, 0\n", block);
    high = begin(m);
    emit(m, "extract i32x2 %%v%u, 1\n", block);
    return combine(m, low, high);
}

static void block_write(struct making *m, unsigned v, unsigned w)
{
    block_start(m, 1 + below(m, 2));
    m->kernel->in_groups = true;
    emit(m, "  %%bw = elem i32 %%o, %%start\n");
    if (m->width > 1) emit(m, "  %%pair = vec i32x2 %%v%u, %%v%u\n  block_write i32x2 %%bw, %%pair\n", v, w);
    if (m->width == 1) emit(m, "  block_write i32 %%bw, %%v%u\n", v);
}

/* Something that the whole work-group or sub-group does. */
static unsigned meet(struct making *m, unsigned x)
{
    unsigned v;
    m->kernel->in_groups = true;
    switch (below(m, 5)) {
    case 0:
        want(m, 'l');
        emit(m, "  %%lid = local_id x\n  store i32 %%l[%%lid], %%v%u\n  barrier local\n", x);
        emit(m, "  %%l1 = add i64 %%lid, 1\n  %%l2 = and i64 %%l1, 15\n");
        v = begin(m);
        emit(m, "load i32 %%l[%%l2]\n");
        return v;
    case 1:
        v = begin(m);
        emit(m, "group_reduce i32 %%v%u, work_group, add\n", x);
        return v;
    case 2:
        v = begin(m);
        emit(m, "sub_group_shuffle_xor i32 %%v%u, %u\n", x, 1 + below(m, 3));
        return v;
    case 3:
        v = begin(m);
        emit(m, "group_scan_incl i32 %%v%u, sub_group, add\n", x);
        return v;
    default: return block_read(m);
    }
}

/* What leaves nothing behind. */
static void look(struct making *m)
{
    want(m, 'q');
    switch (below(m, 3)) {
    case 0: emit(m, "  %%pf = elem i32 %%q, %%i\n  prefetch i32 %%pf, 1\n"); break;
    case 1:
        emit(m, "  loop (%%no: i32 = 0) {\n    %%never = ult i32 %%no, 0\n    if %%never {\n      %%nx = load i32 "
                "%%q[%%no]\n"
                "      %%nn = add i32 %%no, %%nx\n      continue %%nn\n    }\n    break\n  }\n");
        break;
    default: emit(m, "  %%isnull = ieq ptr.global %%q, null\n  if %%isnull { return }\n");
    }
}

/* ---- writing ---- */

/* False: other elements than those with the work-item's number. */
static bool store(struct making *m, unsigned v, unsigned w)
{
    unsigned at;
    char text[16];
    if (m->shifted) {
        at = shifted(m);
        emit(m, "  store i32 %%o[%%v%u], %%v%u\n", at, v);
        return false;
    }
    switch (below(m, 8)) {
    case 0:
        emit(m,
             "  %%e0 = shl i64 %%i, 1\n  %%e1 = or i64 %%e0, 1\n  store i32 %%o[%%e0], %%v%u\n"
             "  store i32 %%o[%%e1], %%v%u\n",
             v, w);
        return false;
    case 1:
        emit(m, "  %%e1 = add i64 %%i, 128\n  store i32 %%o[%%i], %%v%u\n  store i32 %%o[%%e1], %%v%u\n", v, w);
        return false;
    case 2:
        snprintf(text, sizeof text, "%%v%u", uniform(m));
        at = binary(m, below(m, 2) ? "add" : "xor", "%i", text);
        emit(m, "  store i32 %%o[%%v%u], %%v%u\n", at, v);
        return false;
    case 3:
        emit(m, "  %%cond = slt i32 %%v%u, %%v%u\n  if %%cond {\n    store i32 %%o[%%i], %%v%u\n  }\n", v, w, w);
        return true;
    default: emit(m, "  store i32 %%o[%%i], %%v%u\n", v); return true;
    }
}

static void image_write(struct making *m, unsigned v, unsigned w)
{
    want(m, 'w');
    emit(m, "  %%px = vec i32x4 %%v%u, %%v%u, %%v%u, 7\n  image_write i32x4 %%w, %%at, %%px\n", v, w, v);
}

static void follow_and_store(struct making *m, unsigned v)
{
    want(m, 't');
    m->kernel->loose = m->kernel->loose_writes = true;
    emit(m, "  %%tp = load ptr.global %%t[%u]\n  store i32 %%tp[%%i], %%v%u\n", below(m, PROGRAM_TABLE), v);
}

/* ---- the kernel ---- */

static const char *const types[] = {
    ['o'] = "ptr.global i32", ['a'] = "ptr.global i32", ['b'] = "ptr.global i32",        ['q'] = "ptr.global i32",
    ['m'] = "image2d.read",   ['w'] = "image2d.write",  ['t'] = "ptr.global ptr.global", ['k'] = "i32",
    ['l'] = "ptr.local i32"};

static void make_body(struct making *m)
{
    bool own = rng_chance(&m->rng, 40);
    unsigned x = value(m, own), y = value(m, own);
    m->kernel->in_place = own;
    unsigned v = combine(m, x, y), n = below(m, 3);
    for (unsigned i = 0; i < n; i++) v = combine(m, v, below(m, 2) ? x : value(m, own));
    if (rng_chance(&m->rng, 20)) {
        v = combine(m, meet(m, v), v);
        m->kernel->in_place = false;
    }
    if (rng_chance(&m->rng, 12)) {
        block_write(m, v, y);
        m->kernel->in_place = false;
        return;
    }
    if (rng_chance(&m->rng, 25)) look(m);
    if (rng_chance(&m->rng, 15)) image_write(m, v, y);
    if (rng_chance(&m->rng, 4)) follow_and_store(m, y);
    if (!store(m, v, y)) m->kernel->in_place = false;
}

void program_kernel_make(struct program_kernel *kernel, struct strbuf *out, uint64_t number)
{
    struct making m = {.rng = {number * 7919 + 5}, .kernel = kernel};
    m.shifted = rng_chance(&m.rng, 20);
    m.kind = (unsigned)(number / PROGRAM_NEIGHBOURS % KINDS);
    m.shift = number / PROGRAM_NEIGHBOURS / KINDS % 2 ? "xor" : "add";
    *kernel = (struct program_kernel){.args = "oa"};
    snprintf(kernel->name, sizeof kernel->name, "k%u", (unsigned)number);
    make_body(&m);
    strbuf_printf(out, "kernel @%s(", kernel->name);
    for (const char *c = kernel->args; *c; c++)
        strbuf_printf(out, "%s%%%c: %s", c == kernel->args ? "" : ", ", *c, types[(int)*c]);
    strbuf_printf(out,
                  ")%s {\n  %%i = global_linear_id\n  %%i32 = trunc i32 %%i\n  %%ix = and i32 %%i32, 7\n"
                  "  %%iy = lshr i32 %%i32, 3\n  %%at = vec i32x2 %%ix, %%iy\n%s}\n",
                  kernel->in_groups ? " sub_group_size(8)" : "", m.body.text);
    free(m.body.text);
}
