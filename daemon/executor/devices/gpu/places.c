/* The memory that launches of a program use, by numbers. */
#include "daemon/executor/devices/gpu/places.h"

uint32_t gpu_places(const struct program *p)
{
    return p->n_slots + p->n_states;
}

int64_t gpu_place(const struct program *p, const struct program_param *param)
{
    if (param->kind == PROGRAM_PARAM_SLOT || param->kind == PROGRAM_PARAM_IMAGE) return param->index;
    return param->kind == PROGRAM_PARAM_STATE ? (int64_t)p->n_slots + param->index : -1;
}

bool gpu_meet(const struct program *p, const struct program_launch *a, const struct program_launch *b)
{
    if (a->anywhere || b->anywhere) return true;
    for (uint32_t i = 0; i < a->n_params; i++)
        for (uint32_t k = 0; k < b->n_params; k++) {
            int64_t place = gpu_place(p, &a->params[i]);
            if (place < 0 || place != gpu_place(p, &b->params[k])) continue;
            if (a->params[i].kind == PROGRAM_PARAM_STATE || a->params[i].writes || b->params[k].writes) return true;
        }
    return false;
}
