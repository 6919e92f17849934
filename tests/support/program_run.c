/* Random programs, run by the service. */
#include "tests/support/program_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a program works on, and the way in which it is submitted. No test library here: other threads run it. */
struct scene {
    fusion_session *session;
    fusion_module *module;
    const struct program *program;
    struct program_outcome *out;
    fusion_buffer *buffers[PROGRAM_BUFFERS];
    fusion_image *images[PROGRAM_IMAGES];
    int32_t *memory[PROGRAM_ARRAYS]; /* of arrays that the host sees */
    int32_t **table;
    fusion_graph *graph; /* BUILT: what steps are added to; else */
    fusion_queue *queue;
    fusion_node nodes[PROGRAM_MOST_STEPS];
    int32_t uploaded[PROGRAM_ROW];
};

/* Keeps the first failure. */
static bool good(struct scene *s, fusion_status status)
{
    if (status != FUSION_SUCCESS && s->out->status == FUSION_SUCCESS) {
        const fusion_error *e = fusion_last_error();
        s->out->status = status;
        snprintf(s->out->error, sizeof s->out->error, "%.100s: %.450s", e->object, e->reason);
    }
    return s->out->status == FUSION_SUCCESS;
}

/* ---- what it works on ---- */

static void make_buffers(struct scene *s)
{
    for (uint32_t i = 0; i < PROGRAM_BUFFERS; i++) {
        char name[4] = {'b', (char)('0' + i)};
        void *memory = NULL;
        unsigned properties = i < PROGRAM_KEPT ? 0 : FUSION_INTERNAL_MEMORY;
        good(s, fusion_buffer_create(s->session, name, FUSION_I32, PROGRAM_ELEMENTS, properties, &s->buffers[i]));
        if (i < PROGRAM_KEPT && good(s, fusion_buffer_map(s->buffers[i], &memory))) s->memory[i] = memory;
    }
    for (uint32_t i = 0; i < PROGRAM_USM; i++) {
        void *memory = NULL;
        good(s, fusion_malloc(s->session, FUSION_USM_SHARED, sizeof(int32_t[PROGRAM_ELEMENTS]), &memory));
        s->memory[PROGRAM_BUFFERS + i] = memory;
    }
    for (uint32_t i = 0; i < PROGRAM_ARRAYS; i++)
        for (int32_t k = 0; s->memory[i] && k < PROGRAM_ELEMENTS; k++)
            s->memory[i][k] = (k * 37 + (int32_t)i * 11) % 251 - 20;
    void *table = NULL;
    if (good(s, fusion_malloc(s->session, FUSION_USM_SHARED, sizeof(void *[PROGRAM_TABLE]), &table))) s->table = table;
    for (uint32_t i = 0; s->table && i < PROGRAM_TABLE; i++)
        s->table[i] = s->memory[PROGRAM_BUFFERS + i % PROGRAM_USM] + i / PROGRAM_USM * PROGRAM_ITEMS;
}

static void make_images(struct scene *s)
{
    for (uint32_t i = 0; i < PROGRAM_IMAGES; i++) {
        const fusion_image_desc desc = {.width = program_images[i].width,
                                        .height = program_images[i].height,
                                        .channel_order = FUSION_CHANNEL_RGBA,
                                        .channel_type = FUSION_SIGNED_INT32};
        char name[4] = {'m', (char)('0' + i)};
        int32_t pixels[4 * PROGRAM_PIXELS];
        for (int32_t k = 0; k < 4 * PROGRAM_PIXELS; k++) pixels[k] = k * 5 % 113 + (int32_t)i;
        if (good(s, fusion_image_create(s->session, name, &desc, &s->images[i])))
            good(s, fusion_image_write(s->images[i], NULL, pixels, 0));
    }
}

static void keep_outcome(struct scene *s)
{
    if (s->out->status != FUSION_SUCCESS) return;
    for (uint32_t i = 0; i < PROGRAM_ARRAYS; i++)
        if (s->memory[i]) memcpy(s->out->arrays[i], s->memory[i], sizeof s->out->arrays[i]);
    for (uint32_t i = 0; i < PROGRAM_IMAGES; i++) good(s, fusion_image_read(s->images[i], NULL, s->out->images[i], 0));
}

static void clear(struct scene *s)
{
    for (uint32_t i = 0; i < PROGRAM_IMAGES; i++) fusion_image_destroy(s->images[i]);
    for (uint32_t i = 0; i < PROGRAM_BUFFERS; i++) fusion_buffer_destroy(s->buffers[i]);
    for (uint32_t i = 0; i < PROGRAM_USM; i++) fusion_free(s->session, s->memory[PROGRAM_BUFFERS + i]);
    fusion_free(s->session, s->table);
}

/* ---- steps ---- */

static fusion_arg array_arg(const struct scene *s, uint32_t array, fusion_access access)
{
    if (array >= PROGRAM_BUFFERS) return fusion_arg_pointer(s->memory[array], access, 0);
    return fusion_arg_buffer(s->buffers[array], access);
}

static fusion_memory place(const struct scene *s, uint32_t array, uint32_t offset)
{
    if (array >= PROGRAM_BUFFERS) return (fusion_memory){.pointer = (char *)s->memory[array] + offset};
    return (fusion_memory){.buffer = s->buffers[array], .offset = offset};
}

static fusion_arg arg_of(const struct scene *s, const struct program_step *step, char letter)
{
    switch (letter) {
    case 'o': return array_arg(s, step->arrays[0], FUSION_ACCESS_READ_WRITE);
    case 'a': return array_arg(s, step->arrays[1], FUSION_ACCESS_READ);
    case 'b': return array_arg(s, step->arrays[2], FUSION_ACCESS_READ);
    case 'q': return array_arg(s, step->arrays[3], FUSION_ACCESS_READ);
    case 'm': return fusion_arg_image(s->images[step->images[0]], FUSION_ACCESS_READ);
    case 'w': return fusion_arg_image(s->images[step->images[1]], FUSION_ACCESS_WRITE);
    case 't': return fusion_arg_pointer(s->table, FUSION_ACCESS_READ, 0);
    case 'l': return fusion_arg_local(sizeof(int32_t[16]));
    default: return fusion_arg_i32(step->number);
    }
}

/* Steps that nothing is known of wait for all before them, and all after them for the last such one. */
static uint32_t dependences(const struct scene *s, uint32_t step, fusion_node nodes[])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < step; i++)
        if (s->program->steps[step].hidden || s->program->steps[i].hidden) nodes[n++] = s->nodes[i];
    return n;
}

static bool kernel_step(struct scene *s, uint32_t i, const fusion_node *deps, uint32_t n_deps)
{
    static const fusion_kernel_node ranges[RANGES] = {
        [RANGE_LINE] = {.dims = 1, .global = {64, 1, 1}},
        [RANGE_GROUPS] = {.dims = 1, .global = {64, 1, 1}, .local = {16, 1, 1}},
        [RANGE_PART] = {.dims = 1, .global = {48, 1, 1}, .local = {16, 1, 1}},
        [RANGE_SHORT] = {.dims = 1, .global = {37, 1, 1}},
        [RANGE_PLANE] = {.dims = 2, .global = {8, 8, 1}},
    };
    const struct program_step *step = &s->program->steps[i];
    fusion_arg args[12];
    fusion_kernel_node node = ranges[step->range];
    node.module = s->module;
    node.kernel = step->kernel->name;
    for (const char *c = step->kernel->args; *c; c++) args[node.n_args++] = arg_of(s, step, *c);
    node.args = args;
    if (s->queue) return good(s, fusion_queue_submit(s->queue, &node, NULL));
    node.depends_on = deps;
    node.n_depends_on = n_deps;
    return good(s, fusion_graph_add_kernel(s->graph, &node, &s->nodes[i]));
}

static void host_task(void *data)
{
    int32_t *memory = data;
    for (int i = 0; i < PROGRAM_ITEMS; i++) memory[i] = memory[i] * 3 + i;
}

static bool host_step(struct scene *s, uint32_t i, const fusion_node *deps, uint32_t n_deps)
{
    const struct program_step *step = &s->program->steps[i];
    fusion_arg arg = array_arg(s, step->from, FUSION_ACCESS_READ_WRITE);
    uint32_t n = step->kind == STEP_HIDDEN_HOST ? 0 : 1;
    if (s->queue) return good(s, fusion_queue_host_task(s->queue, &arg, n, host_task, s->memory[step->from], NULL));
    return good(s, fusion_graph_add_host_task(s->graph, NULL, &arg, n, host_task, s->memory[step->from], deps, n_deps,
                                              &s->nodes[i]));
}

static bool copy_step(struct scene *s, uint32_t i, const fusion_node *deps, uint32_t n_deps)
{
    const struct program_step *step = &s->program->steps[i];
    fusion_memory from = place(s, step->from, step->from_offset), to = place(s, step->to, step->to_offset);
    uint64_t bytes = sizeof(int32_t[PROGRAM_ROW]);
    if (step->kind == STEP_UPLOAD) from = (fusion_memory){.host = s->uploaded};
    if (step->kind == STEP_DOWNLOAD) to = (fusion_memory){.host = s->out->own[i]};
    if (step->kind == STEP_COPY_ROWS) {
        if (s->queue) return good(s, fusion_queue_copy_2d(s->queue, from, 32, to, 48, 16, 4, NULL));
        return good(s, fusion_graph_add_copy_2d(s->graph, NULL, from, 32, to, 48, 16, 4, deps, n_deps, &s->nodes[i]));
    }
    if (s->queue) return good(s, fusion_queue_copy(s->queue, from, to, bytes, NULL));
    return good(s, fusion_graph_add_copy(s->graph, NULL, from, to, bytes, deps, n_deps, &s->nodes[i]));
}

static bool fill_step(struct scene *s, uint32_t i, const fusion_node *deps, uint32_t n_deps)
{
    const struct program_step *step = &s->program->steps[i];
    fusion_memory to = place(s, step->to, step->to_offset);
    if (s->queue) return good(s, fusion_queue_fill(s->queue, to, 64, &step->number, 4, NULL));
    return good(s, fusion_graph_add_fill(s->graph, NULL, to, 64, &step->number, 4, deps, n_deps, &s->nodes[i]));
}

static bool image_step(struct scene *s, uint32_t i, const fusion_node *deps, uint32_t n_deps)
{
    const struct program_step *step = &s->program->steps[i];
    const fusion_region region = {1, 2, 5, 4};
    const int32_t pixel[4] = {step->number, 1, 2, 3};
    fusion_pixels from = {.image = s->images[step->from], .x = 1, .y = 3}, to = {.image = s->images[step->to], .y = 1};
    if (step->kind == STEP_FILL_IMAGE) {
        if (s->queue) return good(s, fusion_queue_fill_image(s->queue, s->images[step->to], &region, pixel, NULL));
        return good(s, fusion_graph_add_fill_image(s->graph, NULL, s->images[step->to], &region, pixel, deps, n_deps,
                                                   &s->nodes[i]));
    }
    if (s->queue) return good(s, fusion_queue_copy_pixels(s->queue, from, to, 6, 5, NULL));
    return good(s, fusion_graph_add_copy_pixels(s->graph, NULL, from, to, 6, 5, deps, n_deps, &s->nodes[i]));
}

static bool add_steps(struct scene *s)
{
    static bool (*const add[])(struct scene * s, uint32_t i, const fusion_node *deps, uint32_t n_deps) = {
        [STEP_KERNEL] = kernel_step,   [STEP_COPY] = copy_step,        [STEP_COPY_ROWS] = copy_step,
        [STEP_FILL] = fill_step,       [STEP_UPLOAD] = copy_step,      [STEP_DOWNLOAD] = copy_step,
        [STEP_HOST] = host_step,       [STEP_HIDDEN_HOST] = host_step, [STEP_COPY_IMAGE] = image_step,
        [STEP_FILL_IMAGE] = image_step};
    bool all = s->out->status == FUSION_SUCCESS;
    for (uint32_t i = 0; all && i < s->program->n_steps; i++) {
        fusion_node deps[PROGRAM_MOST_STEPS];
        uint32_t n = dependences(s, i, deps);
        all = add[s->program->steps[i].kind](s, i, deps, n);
    }
    return all;
}

/* ---- ways ---- */

static void run_by_command(struct scene *s)
{
    if (!good(s, fusion_queue_create(s->session, &s->queue))) return;
    for (int i = 0; i < PROGRAM_RUNS && add_steps(s); i++) good(s, fusion_queue_wait(s->queue));
    fusion_queue_destroy(s->queue);
}

static bool make_graph(struct scene *s, bool records)
{
    if (!good(s, fusion_graph_create(s->session, &s->graph))) return false;
    if (!records) return add_steps(s);
    if (!good(s, fusion_queue_create(s->session, &s->queue))) return false;
    bool all = good(s, fusion_graph_begin_recording(s->graph, s->queue)) && add_steps(s) &&
               good(s, fusion_graph_end_recording(s->graph));
    fusion_queue_destroy(s->queue);
    return all;
}

static void run_graph(struct scene *s, bool records, const fusion_finalize_options *options)
{
    fusion_exec *exec = NULL;
    if (!make_graph(s, records) || !good(s, fusion_graph_finalize(s->graph, options, &exec))) goto done;
    const fusion_report *report = fusion_exec_report(exec);
    s->out->launches = report->launches;
    s->out->internalized = report->n_internalized;
    for (uint32_t i = 0; i < report->n_remarks; i++)
        s->out->vouched |= strcmp(report->remarks[i].code, "vouched_by_require") == 0;
    for (int i = 0; i < PROGRAM_RUNS; i++) {
        fusion_event event;
        if (good(s, fusion_exec_submit(exec, NULL, 0, &event)))
            good(s, fusion_event_wait(s->session, event, PROGRAM_PATIENCE_MS, NULL));
    }
done:
    fusion_exec_destroy(exec);
    fusion_graph_destroy(s->graph);
}

void program_run(fusion_session *session, fusion_module *module, const struct program *p, enum program_way way,
                 const fusion_finalize_options *options, struct program_outcome *out)
{
    struct scene s = {.session = session, .module = module, .program = p, .out = out};
    memset(out, 0, sizeof *out);
    for (int i = 0; i < PROGRAM_ROW; i++) s.uploaded[i] = i * 7;
    make_buffers(&s);
    make_images(&s);
    if (out->status == FUSION_SUCCESS && way == PROGRAM_BY_COMMAND) run_by_command(&s);
    if (out->status == FUSION_SUCCESS && way != PROGRAM_BY_COMMAND) run_graph(&s, way == PROGRAM_RECORDED, options);
    keep_outcome(&s);
    clear(&s);
}

static bool find_difference(const int32_t *a, const int32_t *b, uint32_t n, const char *what, uint32_t which,
                            char *text, size_t size)
{
    for (uint32_t i = 0; i < n; i++) {
        if (a[i] == b[i]) continue;
        snprintf(text, size, "%s %u has %d at %u, not %d", what, which, b[i], i, a[i]);
        return true;
    }
    return false;
}

bool program_differs(const struct program_outcome *a, const struct program_outcome *b, char *text, size_t size)
{
    for (uint32_t i = 0; i < PROGRAM_ARRAYS; i++)
        if (find_difference(a->arrays[i], b->arrays[i], PROGRAM_ELEMENTS, "array", i, text, size)) return true;
    for (uint32_t i = 0; i < PROGRAM_IMAGES; i++)
        if (find_difference(a->images[i], b->images[i], 4 * PROGRAM_PIXELS, "image", i, text, size)) return true;
    for (uint32_t i = 0; i < PROGRAM_MOST_STEPS; i++)
        if (find_difference(a->own[i], b->own[i], PROGRAM_ROW, "what was copied out by step", i, text, size))
            return true;
    return false;
}
