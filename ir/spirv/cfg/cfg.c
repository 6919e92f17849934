/* The analyses in their order. */
#include "ir/spirv/cfg/cfg.h"

#include "ir/spirv/cfg/live_out.h"
#include "ir/spirv/cfg/loops.h"

struct cfg_ids cfg_ids_new(struct spirv_reader *r)
{
    return (struct cfg_ids){
        .block = arena_alloc(r->arena, (size_t)r->index.bound * sizeof(uint32_t)),
        .left_depth = arena_alloc(r->arena, r->index.bound),
    };
}

bool cfg_build(struct cfg *g, struct spirv_reader *r, const struct cfg_ids *ids, const struct spirv_function *f)
{
    *g = (struct cfg){.r = r, .ids = ids};
    if (!cfg_build_graph(g, f) || !cfg_find_loops(g)) return false;
    cfg_find_live_out(g, f);
    return true;
}
