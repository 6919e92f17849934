/*
 * A pixel belongs to one work-item where each id of the launch is a coordinate, with a constant added, the same in all
 * accesses. A read through a sampler that leads back into the image has to be inside of it.
 */
#include "fuser/plan/grouping/pixel_dependence.h"

#include <string.h>

static bool same_place(const struct access_pixel *x, const struct access_pixel *y)
{
    if (x->n != y->n) return false;
    for (uint32_t i = 0; i < x->n; i++)
        if (x->at[i].constant != y->at[i].constant ||
            memcmp(x->at[i].factor, y->at[i].factor, sizeof x->at[i].factor) != 0)
            return false;
    return true;
}

/* The coordinate is nothing but a constant and a multiple of this id. */
static bool tells(const struct affine *coordinate, unsigned id)
{
    for (unsigned i = 0; i < AFFINE_IDS; i++)
        if (i != id && coordinate->factor[i]) return false;
    return coordinate->factor[id] != 0;
}

static bool is_of_one(const struct access_pixel *x, const struct nd_range *range)
{
    for (unsigned d = 0; d < 3; d++) {
        bool told = range->global[d] == 1;
        for (uint32_t i = 0; i < x->n; i++) told |= tells(&x->at[i], AFFINE_GLOBAL + d);
        if (!told) return false;
    }
    return true;
}

static bool is_inside(const struct access_pixel *x, const struct fuser_buffer *image)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (x->low[i] < 0 || x->high[i] >= (int64_t)image->extent[i]) return false;
    return true;
}

static bool is_own_pixel(const struct access_pixel *x, const struct fuser_buffer *image, const struct nd_range *range)
{
    return is_of_one(x, range) && (!x->wraps || is_inside(x, image));
}

/* Ids mean the same in both kernels, and pixels are by coordinates alone: of arrays the layer is held back. */
static bool can_tell(const struct id_mapping *m, const struct plan_use *a, const struct plan_use *b)
{
    const struct fuser_buffer *image = &m->facts->graph->buffers[a->buffer];
    if (!image->image || m->nodes[a->node].linear || m->nodes[b->node].linear) return false;
    return image->form == IR_IMAGE_1D || image->form == IR_IMAGE_2D || image->form == IR_IMAGE_3D;
}

bool pixels_are_own(const struct id_mapping *m, const struct plan_use *a, const struct plan_use *b)
{
    const struct access_summary *s = &m->facts->nodes[a->node].access->params[a->arg],
                                *t = &m->facts->nodes[b->node].access->params[b->arg];
    const struct fuser_buffer *image = &m->facts->graph->buffers[a->buffer];
    const struct nd_range *launch = &m->nodes[a->node].launch;
    if (!can_tell(m, a, b) || s->pixels_unknown || t->pixels_unknown) return false;
    for (uint32_t i = 0; i < s->n_pixels; i++)
        for (uint32_t k = 0; k < t->n_pixels; k++) {
            const struct access_pixel *x = &s->pixels[i], *y = &t->pixels[k];
            if (!x->writes && !y->writes) continue;
            if (!same_place(x, y) || !is_own_pixel(x, image, launch) || !is_own_pixel(y, image, launch)) return false;
        }
    return true;
}
