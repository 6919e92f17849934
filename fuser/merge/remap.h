/* Buffers without memory of which a work-item or work-group touches several elements: where each access goes. */
#pragma once

#include "fuser/access/sites.h"
#include "fuser/merge/merge_state.h"

static inline bool remap_is_needed(const struct fuse_param *p)
{
    return p->storage == FUSER_STORAGE_LOCAL || (p->storage == FUSER_STORAGE_PRIVATE && p->n_slices);
}
/* Makes the variables or the array of a parameter of the request. */
void remap_frame(struct fuse *f, struct ir_builder *b, uint32_t param);
/* Sends each access through parameter i of the part there. The variables become parameters of the copy, their
   addresses go to f->extra. summary: of the parameter, of the copy as it is. */
bool remap_accesses(struct fuse *f, const struct fuse_part *part, struct ir_function *copy, uint32_t i,
                    const struct access_summary *summary);
