/*
 * The executor's reader of programs. What it lets through is used without further checks, so everything that could
 * reach outside of a buffer, of the argument block or of an array is checked here again.
 */
#include <string.h>

#include "daemon/executor/program/program.h"
#include "tests/fuzz/fuzz.h"

static void check_place(const struct program *p, uint32_t slot, uint64_t offset, uint64_t bytes)
{
    fuzz_check(slot < p->n_slots, "a slot that is not there");
    fuzz_check(p->slots[slot].needed, "a slot without memory");
    fuzz_check(offset <= p->slots[slot].bytes && bytes <= p->slots[slot].bytes - offset, "bytes beyond a slot");
}

static void check_param(const struct program *p, const struct program_launch *l, const struct program_param *param)
{
    fuzz_check((uint64_t)param->at + param->size <= l->args_size, "an argument outside of its block");
    switch (param->kind) {
    case PROGRAM_PARAM_SLOT:
        fuzz_check(param->index < p->n_slots, "a slot that is not there");
        if (!p->slots[param->index].spare || !l->is_spare) check_place(p, param->index, param->offset, 0);
        fuzz_check(param->size == sizeof(void *), "an address of another size");
        fuzz_check(!param->writes || p->slots[param->index].written, "a written slot that does not say so");
        break;
    case PROGRAM_PARAM_IMAGE:
        check_place(p, param->index, param->offset,
                    param->image.slices ? param->image.slice_pitch * param->image.slices
                                        : (uint64_t)param->image.row_pitch * param->image.height);
        fuzz_check(param->image.width, "an image that is none");
        fuzz_check(param->size == sizeof(void *), "an address of another size");
        fuzz_check(!param->writes || p->slots[param->index].written, "a written image that does not say so");
        break;
    case PROGRAM_PARAM_VALUE:
        fuzz_check(param->index < p->n_values, "a value that is not there");
        fuzz_check(param->size == p->value_sizes[param->index], "a value of another size");
        break;
    case PROGRAM_PARAM_STATE:
        fuzz_check(param->index < p->n_states, "a state that is not there");
        fuzz_check(param->size == sizeof(void *), "an address of another size");
        break;
    default:
        fuzz_check(param->kind == PROGRAM_PARAM_LOCAL, "a parameter of no kind");
        fuzz_check(param->size == sizeof(uint64_t), "an offset of another size");
    }
}

static volatile uint64_t seen;

/* What it begins with is read, so that a sanitizer sees whether it is all there. */
static void check_state(const struct program_state *s)
{
    fuzz_check(s->bytes <= MAX_STATE_BYTES && (uint64_t)s->packet_size * s->capacity <= MAX_STATE_BYTES,
               "a state that is too large");
    fuzz_check(!s->packet_size == !s->capacity, "half a pipe");
    fuzz_check(!s->init || !s->packet_size, "a pipe with contents");
    for (uint64_t i = 0; s->init && i < s->bytes; i++) seen += s->init[i];
}

static void check_launch(const struct program *p, const struct program_launch *l)
{
    const struct nd_range *range = &l->range;
    fuzz_check(range->dims >= 1 && range->dims <= 3, "a range of no dimensions, or too many");
    uint64_t groups = 1, items = 1;
    for (int i = 0; i < 3; i++) {
        fuzz_check(range->global[i] && range->local[i], "an empty range");
        fuzz_check(l->num_groups[i] == (range->global[i] + range->local[i] - 1) / range->local[i], "wrong groups");
        groups *= l->num_groups[i];
        items *= range->local[i];
    }
    fuzz_check(groups == l->n_groups && items == l->group_items, "wrong numbers of groups or items");
    fuzz_check(l->name && strlen(l->name) < 256, "a launch without a name");
    fuzz_check(p->device->takes_objects || l->ir, "nothing to interpret");
    for (uint32_t i = 0; i < l->n_params; i++) check_param(p, l, &l->params[i]);
    for (uint32_t i = 0; i < l->n_conditions; i++) {
        const struct program_condition *c = &l->conditions[i];
        fuzz_check(c->value < p->n_values && c->like < p->n_values, "a condition on no value");
        fuzz_check(p->value_sizes[c->value] == p->value_sizes[c->like], "values of two sizes");
        fuzz_check(c->value != c->like || p->value_sizes[c->value] <= sizeof c->number, "a number that is too long");
    }
    for (uint32_t i = 0; i < l->n_spares; i++)
        fuzz_check(l->first_spare + i < p->n_launches && p->launches[l->first_spare + i].is_spare,
                   "a spare that is none");
}

/* Bytes from the first to the last of a step's rows. */
static uint64_t span(const struct program_step *s, uint64_t pitch, uint64_t slice_pitch)
{
    uint64_t bytes;
    if (s->rows < 2) return s->bytes;
    uint64_t plane = s->plane ? s->plane : s->rows, last = s->rows / plane - 1;
    fuzz_check(s->rows % plane == 0, "a part of a slice");
    fuzz_check(!__builtin_mul_overflow(pitch, plane - 1, &bytes) && !__builtin_add_overflow(bytes, s->bytes, &bytes) &&
                   !__builtin_mul_overflow(slice_pitch, last, &slice_pitch) &&
                   !__builtin_add_overflow(bytes, slice_pitch, &bytes),
               "rows beyond 2^64 bytes");
    return bytes;
}

static void check_step(const struct program *p, const struct program_step *s)
{
    if (s->kind == PROGRAM_STEP_LAUNCH) {
        fuzz_check(s->launch < p->n_launches, "a launch that is not there");
        return;
    }
    if (s->kind == PROGRAM_STEP_HOST) return; /* the client's */
    fuzz_check(!s->rows || s->bytes, "rows of no bytes");
    check_place(p, s->to, s->to_offset, span(s, s->to_pitch, s->to_slice_pitch));
    fuzz_check(p->slots[s->to].written, "a written slot that does not say so");
    if (s->kind == PROGRAM_STEP_COPY)
        check_place(p, s->from, s->from_offset, span(s, s->from_pitch, s->from_slice_pitch));
    else
        fuzz_check(s->kind == PROGRAM_STEP_FILL && s->pattern_size && s->bytes % s->pattern_size == 0, "a bad pattern");
}

static int no_debugging(struct executable *x, uint32_t part, struct slot_memory *slots, struct error *e)
{
    (void)x, (void)part, (void)slots, (void)e;
    return -1;
}

/* The devices that there are, as far as a program depends on them. */
static const struct device *find_device(const char *name)
{
    static const struct device devices[] = {{.name = "cpu", .takes_objects = true},
                                            {.name = "reference", .debug_begin = no_debugging}};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(devices[i].name, name) == 0) return &devices[i];
    return NULL;
}

/* Each band goes on where the one before ended, and the last one ends with the launch. */
static void check_bands(const struct program *p, const struct program_bands *b)
{
    fuzz_check(b->first_step <= p->n_steps && b->n_steps && b->n_steps <= p->n_steps - b->first_step,
               "bands of no steps");
    fuzz_check(b->at_once && b->at_once <= b->n_bands, "no bands, or more at a time than there are");
    for (uint32_t i = 0; i < b->n_steps; i++) {
        const struct program_step *s = &p->steps[b->first_step + i];
        uint64_t done = 0;
        fuzz_check(s->kind == PROGRAM_STEP_LAUNCH, "bands of what is no launch");
        for (uint32_t band = 0; band < b->n_bands; band++) {
            uint64_t end = b->ends[(uint64_t)band * b->n_steps + i];
            fuzz_check(end >= done, "a band that goes back");
            done = end;
        }
        fuzz_check(done == p->launches[s->launch].n_groups, "a launch that is not over, or more");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct error e = {0};
    struct program *p = program_decode(data, size, find_device, &e);
    fuzz_check(p || e.reason[0], "refused without a reason");
    if (!p) return 0;
    for (uint32_t i = 0; i < p->n_launches; i++) check_launch(p, &p->launches[i]);
    for (uint32_t i = 0; i < p->n_states; i++) check_state(&p->states[i]);
    for (uint32_t i = 0; i < p->n_steps; i++) check_step(p, &p->steps[i]);
    for (uint32_t i = 0; i < p->n_bands; i++) check_bands(p, &p->bands[i]);
    for (uint32_t i = 0; i < p->n_slots; i++) fuzz_check(p->slots[i].ring <= p->slots[i].bytes, "a ring of more");
    program_free(p);
    return 0;
}
