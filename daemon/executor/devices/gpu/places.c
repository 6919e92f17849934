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
