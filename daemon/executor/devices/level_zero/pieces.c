#include "daemon/executor/devices/level_zero/pieces.h"

#include <inttypes.h>
#include <spirv/unified1/spirv.h>

#include "proto/include/fusiond/status.h"

static int lack(struct error *e, const char *what, uint64_t wanted, uint64_t most)
{
    return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL, "%s: %" PRIu64 ", device level_zero (%s) has %" PRIu64,
                     what, wanted, level_zero.description.name, most);
}

/* ---- what the kernel sees ---- */

static bool tells_more_than_ids(uint32_t builtin)
{
    switch (builtin) {
    case SpvBuiltInNumWorkgroups:
    case SpvBuiltInWorkgroupSize:
    case SpvBuiltInWorkgroupId:
    case SpvBuiltInLocalInvocationId:
    case SpvBuiltInLocalInvocationIndex:
    case SpvBuiltInGlobalSize:
    case SpvBuiltInEnqueuedWorkgroupSize:
    case SpvBuiltInGlobalOffset:
    case SpvBuiltInGlobalLinearId: return true;
    default: return false;
    }
}

/* The words are of our own writer, but nothing is read beyond their end. */
static bool sees_ids_only(const struct gpu_object *o)
{
    enum { HEADER_WORDS = 5 };
    uint64_t n = o->header.n_words;
    for (uint64_t i = HEADER_WORDS; i + 3 < n && o->words[i] >> 16;) {
        const uint32_t *w = &o->words[i];
        bool builtin = (w[0] & 0xffff) == SpvOpDecorate && w[2] == SpvDecorationBuiltIn;
        if (builtin && tells_more_than_ids(w[3])) return false;
        i += w[0] >> 16;
    }
    return !o->header.whole_groups && !o->header.sub_group_size;
}

/* ---- dimensions ---- */

/* What a dimension divides into. */
struct cut {
    uint32_t n, first[2], groups[2], size[2];
};

static struct cut cut_dimension(const struct program_launch *l, unsigned d)
{
    uint64_t local = l->range.local[d], global = l->range.global[d];
    uint32_t whole = (uint32_t)(global / local), rest = (uint32_t)(global % local);
    if (!rest) return (struct cut){1, {0}, {whole}, {(uint32_t)local}};
    if (!whole) return (struct cut){1, {0}, {1}, {rest}};
    return (struct cut){2, {0, (uint32_t)(global - rest)}, {whole, 1}, {(uint32_t)local, rest}};
}

static int check_dimension(const struct program_launch *l, unsigned d, bool ids_only, struct error *e)
{
    const struct gpu_description *g = &level_zero.description;
    uint64_t local = l->range.local[d], global = l->range.global[d];
    if (local > g->max_group_sides[d])
        return lack(e, "work-items in a dimension of a work-group", local, g->max_group_sides[d]);
    if (l->num_groups[d] > g->max_groups[d]) return lack(e, "work-groups", l->num_groups[d], g->max_groups[d]);
    if (l->range.offset[d] + global > (level_zero.offsets_ranges ? UINT32_MAX : global))
        return lack(e, "global offset", l->range.offset[d], level_zero.offsets_ranges ? UINT32_MAX - global : 0);
    if (global % local != 0 && !(ids_only && level_zero.offsets_ranges))
        return error_set(e, FUSION_FEATURE_NOT_SUPPORTED, NULL,
                         "device level_zero has no incomplete work-groups, which a kernel would see: %" PRIu64
                         " work-items, %" PRIu64 " in a work-group",
                         global, local);
    return 0;
}

int level_zero_pieces_make(struct level_zero_piece pieces[LEVEL_ZERO_PIECES], const struct gpu_object *object,
                           const struct program_launch *launch, struct error *e)
{
    bool ids_only = sees_ids_only(object);
    struct cut cuts[3];
    if (launch->group_items > level_zero.description.max_work_group_size)
        return lack(e, "work-items in a work-group", launch->group_items, level_zero.description.max_work_group_size);
    for (unsigned d = 0; d < 3; d++) {
        if (check_dimension(launch, d, ids_only, e) != 0) return -1;
        cuts[d] = cut_dimension(launch, d);
    }
    int n = (int)(cuts[0].n * cuts[1].n * cuts[2].n);
    for (int i = 0; i < n; i++) {
        const uint32_t at[3] = {i % cuts[0].n, i / cuts[0].n % cuts[1].n, i / cuts[0].n / cuts[1].n};
        uint32_t groups[3];
        for (unsigned d = 0; d < 3; d++) {
            pieces[i].offset[d] = (uint32_t)launch->range.offset[d] + cuts[d].first[at[d]];
            pieces[i].size[d] = cuts[d].size[at[d]];
            groups[d] = cuts[d].groups[at[d]];
        }
        pieces[i].groups = (ze_group_count_t){groups[0], groups[1], groups[2]};
    }
    return n;
}
