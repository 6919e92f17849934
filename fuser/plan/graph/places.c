/* Uses that are of a few bytes at known places. */
#include "fuser/plan/graph/places.h"

#include "fuser/plan/graph/image_args.h"

enum { MOST_PLACES = 8 };

static const struct access_summary *summary_of(const struct plan_facts *f, const struct plan_use *use)
{
    return &f->nodes[use->node].access->params[use->arg];
}

/* The first byte in the buffer. */
static uint64_t first_of(const struct plan_use *use, const struct access_site *site)
{
    return use->first + (uint64_t)site->index.constant;
}

bool places_are_known(const struct plan_facts *f, const struct plan_use *use)
{
    if (!f->nodes[use->node].access || image_args_have(f->graph, use->buffer)) return false;
    const struct access_summary *s = summary_of(f, use);
    if (s->escapes || !s->n_sites || s->n_sites > MOST_PLACES) return false;
    for (uint32_t i = 0; i < s->n_sites; i++) {
        const struct access_site *site = &s->sites[i];
        uint64_t room = use->end - use->first;
        if (!site->found_one || !site->bytes || !affine_is_constant(&site->index) || site->index.constant < 0 ||
            site->bytes > room || (uint64_t)site->index.constant > room - site->bytes)
            return false;
    }
    return true;
}

bool places_are_apart(const struct plan_facts *f, const struct plan_use *a, const struct plan_use *b)
{
    const struct access_summary *s = summary_of(f, a), *t = summary_of(f, b);
    for (uint32_t i = 0; i < s->n_sites; i++)
        for (uint32_t k = 0; k < t->n_sites; k++) {
            const struct access_site *x = &s->sites[i], *y = &t->sites[k];
            uint64_t first = first_of(a, x), second = first_of(b, y);
            if ((x->writes || y->writes) && first < second + y->bytes && second < first + x->bytes) return false;
        }
    return true;
}

static bool is_covered(const struct access_summary *by, const struct plan_use *a, uint64_t first, uint64_t bytes)
{
    for (uint32_t i = 0; i < by->n_sites; i++) {
        const struct access_site *site = &by->sites[i];
        uint64_t at = first_of(a, site);
        if (site->writes && at <= first && first + bytes <= at + site->bytes) return true;
    }
    return false;
}

bool places_cover(const struct plan_facts *f, const struct plan_use *a, const struct plan_use *b)
{
    const struct access_summary *s = summary_of(f, a), *t = summary_of(f, b);
    for (uint32_t i = 0; i < t->n_sites; i++)
        if (!is_covered(s, a, first_of(b, &t->sites[i]), t->sites[i].bytes)) return false;
    return true;
}
