/* A copy or fill as a kernel: each work-item moves what a work-item of another kernel is at. */
#include "fuser/plan/commands/command_kernel.h"

#include <string.h>

enum { MAX_ELEMENTS = 16 };

/* ---- the shape ---- */

/* One number, or vector of them, that is as long as its memory. */
static bool is_plain_type(ir_type t)
{
    return ir_type_is_number(t) && !ir_type_is_bool(t) && ir_type_lanes(t) != 3;
}

static uint64_t type_bytes(ir_type t)
{
    return ir_type_bits(t) / 8 * ir_type_lanes(t);
}

static bool is_by_ids(const struct access_site *s)
{
    for (unsigned k = AFFINE_LOCAL; k < AFFINE_IDS; k++)
        if (s->index.factor[k]) return false;
    return s->index.known && !s->index.n_symbols && !s->index.jump && s->found_one && is_plain_type(s->type) &&
           s->bytes == type_bytes(s->type) && s->index.factor[AFFINE_GLOBAL] > 0;
}

static int64_t round_down(int64_t a, int64_t to)
{
    return a >= 0 ? a / to * to : -((-a + to - 1) / to * to);
}

/* Where the work-items' strips begin, ids aside: what all accesses touch lies in the strip; a kernel that looks at its
   neighbours' is taken to have its own at 0. */
static int64_t strip_start(const struct access_summary *a, const struct access_site *like)
{
    int64_t low = INT64_MAX, end = INT64_MIN, strip = like->index.factor[AFFINE_GLOBAL];
    for (uint32_t i = 0; i < a->n_sites; i++) {
        const struct affine *x = &a->sites[i].index;
        if (!x->known || !affine_same_factors(x, &like->index)) continue;
        if (x->constant + x->low < low) low = x->constant + x->low;
        if (x->constant + x->high + (int64_t)a->sites[i].bytes > end)
            end = x->constant + x->high + (int64_t)a->sites[i].bytes;
    }
    int64_t even = round_down(low, strip);
    return end - even <= strip ? even : end - low <= strip ? low : 0;
}

/* How many work-items each dimension has, from the factors of the ids: a row ends where the next begins. */
static bool find_sizes(uint64_t bytes, struct command_shape *s)
{
    int64_t below = 0;
    unsigned last = 0;
    for (unsigned d = 0; d < s->range.dims; d++) {
        if (s->range.global[d] == 1 && d) {
            s->factor[d] = 0;
            continue;
        }
        if (below && (s->factor[d] <= below || s->factor[d] % below)) return false;
        if (below) s->range.global[last] = (uint64_t)(s->factor[d] / below);
        below = s->factor[d];
        last = d;
    }
    s->range.global[last] = bytes / (uint64_t)below;
    return bytes % (uint64_t)below == 0;
}

/* Bytes of the region, which begins `start` bytes behind the first work-item's, are a box of ids: rows are whole, so it
   begins with one. */
static bool find_offsets(int64_t start, const struct nd_range *range, struct command_shape *s)
{
    for (unsigned d = s->range.dims; d-- > 0;) {
        if (!s->factor[d]) continue;
        int64_t ids = round_down(start, s->factor[d]) / s->factor[d];
        bool leading = true;
        for (unsigned e = d + 1; e < s->range.dims; e++) leading &= !s->factor[e];
        if (ids && !leading) return false;
        if (ids + (int64_t)range->offset[d] < 0) return false;
        s->range.offset[d] = (uint64_t)((int64_t)range->offset[d] + ids);
        start -= ids * s->factor[d];
    }
    return start == 0;
}

/* After how many bytes the pattern repeats. */
static uint32_t period(const struct fuser_node *fill)
{
    uint32_t n = fill->pattern_size;
    while (n > 1 && memcmp(fill->pattern, fill->pattern + n / 2, n / 2) == 0) n /= 2;
    return n;
}

/* All strips are filled alike, or elements are copied to where elements are. */
static bool content_fits(const struct fuser_node *n, const struct command_shape *s)
{
    if (n->kind == FUSER_NODE_FILL) return (uint64_t)s->factor[0] % period(n) == 0;
    uint64_t size = type_bytes(s->type);
    return n->from.offset % size == 0 && n->to.offset % size == 0;
}

static bool shape_like(const struct fuser_node *n, int64_t ahead, const struct access_summary *a,
                       const struct access_site *like, const struct nd_range *range, struct command_shape *s)
{
    *s = (struct command_shape){.type = like->type, .range = *range};
    memset(s->range.local, 0, sizeof s->range.local);
    uint64_t strip = (uint64_t)like->index.factor[AFFINE_GLOBAL], size = type_bytes(like->type);
    int64_t start = ahead - strip_start(a, like);
    for (unsigned d = 0; d < range->dims; d++) {
        s->factor[d] = like->index.factor[AFFINE_GLOBAL + d];
        start -= s->factor[d] * (int64_t)range->offset[d];
    }
    if (strip % size || strip / size > MAX_ELEMENTS) return false;
    s->elements = (unsigned)(strip / size);
    return content_fits(n, s) && find_sizes(n->bytes, s) && find_offsets(start, range, s);
}

bool command_shape_find(const struct fuser_node *command, int64_t ahead, const struct access_summary *accesses,
                        const struct nd_range *range, struct command_shape *out)
{
    for (uint32_t i = 0; i < accesses->n_sites; i++)
        if (is_by_ids(&accesses->sites[i]) && shape_like(command, ahead, accesses, &accesses->sites[i], range, out))
            return true;
    return false;
}

/* ---- the kernel ---- */

/* In elements from the first byte on. */
static struct ir_value *first_element(struct ir_builder *b, const struct command_shape *s)
{
    struct ir_value *sum = NULL;
    int64_t size = (int64_t)type_bytes(s->type), before = 0;
    for (unsigned d = 0; d < s->range.dims; d++) {
        if (!s->factor[d]) continue;
        int64_t step = s->factor[d] / size;
        struct ir_value *id = ir_build_id(b, IR_OP_GLOBAL_ID, d);
        if (step != 1) id = ir_build2(b, IR_OP_MUL, IR_I64, id, ir_const_int(b->module, IR_I64, (uint64_t)step));
        sum = sum ? ir_build2(b, IR_OP_ADD, IR_I64, sum, id) : id;
        before += step * (int64_t)s->range.offset[d];
    }
    if (!before) return sum;
    return ir_build2(b, IR_OP_SUB, IR_I64, sum, ir_const_int(b->module, IR_I64, (uint64_t)before));
}

/* The bytes of the pattern from `at` on. */
static struct ir_value *pattern_at(struct ir_module *m, const struct fuser_node *fill, ir_type type, uint64_t at)
{
    uint64_t lanes[IR_MAX_LANES] = {0};
    unsigned bytes = ir_type_bits(type) / 8;
    for (unsigned i = 0; i < ir_type_lanes(type) * bytes; i++)
        lanes[i / bytes] |= (uint64_t)fill->pattern[(at + i) % fill->pattern_size] << 8 * (i % bytes);
    return ir_const(m, type, lanes);
}

struct ir_module *command_kernel_new(const struct fuser_node *command, const struct command_shape *s)
{
    bool copy = command->kind == FUSER_NODE_COPY;
    const char *name = copy ? "copy" : "fill";
    struct ir_module *m = ir_module_new(name);
    struct ir_function *f = ir_function_new(m, name, IR_LINKAGE_KERNEL, IR_VOID, copy ? 2 : 1);
    if (copy) ir_function_set_param(f, 0, "from", IR_PTR(IR_SPACE_GLOBAL));
    ir_function_set_param(f, copy, "to", IR_PTR(IR_SPACE_GLOBAL));
    struct ir_builder b = ir_builder_at_end(f->body);
    struct ir_value *first = first_element(&b, s), *to = f->params[copy].value;
    for (unsigned i = 0; i < s->elements; i++) {
        struct ir_value *at = i ? ir_build2(&b, IR_OP_ADD, IR_I64, first, ir_const_int(m, IR_I64, i)) : first;
        ir_build_store(&b, s->type, to, at,
                       copy ? ir_build_load(&b, s->type, f->params[0].value, at)
                            : pattern_at(m, command, s->type, i * type_bytes(s->type)));
    }
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    return m;
}
