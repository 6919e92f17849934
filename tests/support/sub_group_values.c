/* Cases in which each work-item gets a value: broadcasts, reductions, scans, shuffles. */
#include <stdlib.h>
#include <string.h>

#include "ir/base/strbuf.h"
#include "ir/text/print/print_type.h"
#include "tests/support/sub_group_case.h"

enum { MAX_RESULTS = 8 };

static const unsigned all_lanes[] = {1, 2, 3, 4, 8, 16};

static const char head_text[] = "    %x = load {T} %a[%i]\n    %y = load {T} %b[%i]\n    %id = sub_group_local_id\n"
                                "    %n = sub_group_size\n    %max = sub_group_max_size\n";

/* The text with a type's name for each {T}. */
static void add_with_type(struct strbuf *b, const char *text, const char *type)
{
    for (const char *at; (at = strstr(text, "{T}")); text = at + 3) {
        strbuf_add_bytes(b, text, (size_t)(at - text));
        strbuf_add(b, type);
    }
    strbuf_add(b, text);
}

/* A kernel that stores results %r0 ... for each work-item, one array after the other. */
static char *kernel_text(const struct sg_launch *l, const char *body, unsigned n)
{
    struct strbuf b = {0}, template = {0};
    char name[16];
    ir_print_type(NULL, ir_type_with_lanes(l->type.type, l->lanes), name, sizeof name);
    strbuf_printf(&template,
                  "kernel @k(%%a: ptr.global {T} read, %%b: ptr.global {T} read, %%o: ptr.global {T} write) ");
    strbuf_printf(&template, "sub_group_size(%u) {\n%s%s%s", l->size, sg_number_text, head_text, body);
    for (unsigned k = 0; k < n; k++)
        strbuf_printf(&template, "    %%at%u = add i64 %%i, %u\n    store {T} %%o[%%at%u], %%r%u\n", k, k * l->global,
                      k, k);
    strbuf_add(&template, "}\n");
    char *text = strbuf_take(&template);
    add_with_type(&b, text, name);
    free(text);
    return strbuf_take(&b);
}

static void check(const struct sg_try *t, const struct sg_launch *l, unsigned n, const void *out)
{
    for (unsigned k = 0; k < n; k++)
        for (uint32_t i = 0; i < l->global; i++)
            for (unsigned lane = 0; lane < l->lanes; lane++) {
                uint64_t want = 0,
                         got = sg_get(&l->type, out, ((uint64_t)k * l->global + i) * sg_stride(l->lanes) + lane);
                if (!t->c->family->model(l, k, i, lane, &want) || want == got) continue;
                fail_msg("%s, size %u, way %u: result %u of work-item %u, lane %u of %u: %#llx instead of %#llx",
                         t->c->name, t->size, t->way, k, i, lane, l->lanes, (unsigned long long)got,
                         (unsigned long long)want);
            }
}

static void run(const struct sg_try *t, unsigned lanes, const char *body, unsigned n)
{
    if (!sg_takes(t, lanes)) return;
    struct sg_launch l = sg_launch_of(t, lanes);
    uint32_t numbers = l.global * lanes;
    uint64_t *x = malloc(2 * numbers * sizeof *x), *y = x + numbers;
    assert_non_null(x);
    sg_fill(&l.type, t->c->number + 1, x, 2 * numbers);
    l.x = x;
    l.y = y;
    size_t bytes = (size_t)l.global * sg_stride(lanes) * sg_bytes(&l.type);
    void *a = sg_pack(&l.type, lanes, x, l.global), *b = sg_pack(&l.type, lanes, y, l.global), *out = calloc(n, bytes);
    struct interp_arg args[] = {{.kind = INTERP_ARG_BUFFER, .data = a, .size = bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = b, .size = bytes},
                                {.kind = INTERP_ARG_BUFFER, .data = out, .size = n * bytes}};
    char *text = kernel_text(&l, body, n);
    struct nd_range range = sg_range_of(&l);
    sg_execute(t, sg_name(t, lanes), text, &range, args);
    check(t, &l, n, out);
    free(text);
    free(out);
    free(b);
    free(a);
    free(x);
}

void sg_run_values(const struct sg_try *t)
{
    unsigned n = 0;
    for (const char *at = t->c->family->body; (at = strstr(at, "%r")); at++) n++;
    for (unsigned i = 0; i < sizeof all_lanes / sizeof *all_lanes; i++)
        if (all_lanes[i] <= t->c->family->lanes) run(t, all_lanes[i], t->c->family->body, n);
}

enum { OPS_OF_OPENCL = 3 }; /* add, min, max */

/* The family's body says which instruction; there is one for each operation of the type. */
void sg_run_reductions(const struct sg_try *t)
{
    struct strbuf b = {0};
    unsigned n = 0;
    for (; sg_group_op(&t->c->type, n) && !(t->runner->kernel && n == OPS_OF_OPENCL); n++)
        strbuf_printf(&b, "    %%r%u = %s {T} %%x, sub_group, %s\n", n, t->c->family->body,
                      sg_group_op(&t->c->type, n));
    char *body = strbuf_take(&b);
    run(t, 1, body, n);
    free(body);
}
