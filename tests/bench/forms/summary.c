/* The list of forms, and what their ratios come to. */
#include <math.h>
#include <stdio.h>

#include "tests/bench/forms/form.h"

const struct form *const forms[] = {
    &form_chain_small,
    &form_chain,
    &form_chain_16,
    &form_layernorm,
    &form_mandelbrot,
    &form_black_scholes,
    &form_stencil,
    &form_softmax,
    &form_rms_norm,
    &form_blur,
    &form_edges,
    &form_corners,
    &form_unsharp,
    &form_bilateral_grid,
    &form_local_laplacian,
    &form_hydro_1024,
    &form_hydro_2048,
    &form_hydro_4096,
    &form_histogram,
    &form_prefix_sum,
    &form_cg,
    &form_cg_small,
    &form_n_body,
    &form_n_body_tiles,
    &form_sparse,
    &form_stencil_3d,
    &form_matmul,
    &form_transpose_naive,
    &form_transpose_tiles,
    NULL,
};

static double ratio_of(json_object *row, const char *peer)
{
    json_object *ratios, *ratio;
    if (!json_object_object_get_ex(row, "ratios", &ratios) || !json_object_object_get_ex(ratios, peer, &ratio))
        return 0;
    return json_object_get_double(ratio);
}

static void print_ratio(double ratio)
{
    if (ratio > 0)
        printf(" %9.2f", ratio);
    else
        printf(" %9s", "");
}

static double inverse(double ratio)
{
    return ratio > 0 ? 1 / ratio : 0;
}

static void print_row(json_object *row)
{
    json_object *work, *ms;
    json_object_object_get_ex(row, "work", &work);
    json_object_object_get_ex(row, "ours_ms", &ms);
    printf("%9.3f", json_object_get_double(ms));
    print_ratio(ratio_of(row, "c"));
    print_ratio(ratio_of(row, "own language"));
    print_ratio(inverse(ratio_of(row, "unfused")));
    print_ratio(inverse(ratio_of(row, "pocl")));
    print_ratio(inverse(ratio_of(row, "memory")));
    printf("  %s\n", json_object_get_string(work));
}

/* A geometric one. */
struct mean {
    double sum; /* of logarithms */
    unsigned n;
};

static void mean_add(struct mean *m, double ratio)
{
    if (ratio <= 0) return;
    m->sum += log(ratio);
    m->n++;
}

static void mean_print(const char *what, const struct mean *m)
{
    if (m->n) printf("geometric mean of %u: %s %.2f\n", m->n, what, exp(m->sum / m->n));
}

static bool is_pipeline(json_object *row)
{
    json_object *pipeline;
    return json_object_object_get_ex(row, "pipeline", &pipeline) && json_object_get_boolean(pipeline);
}

void form_summary(json_object *rows)
{
    struct mean c = {0}, pocl = {0}, pipelines = {0};
    bool any = false;
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        json_object *row = json_object_array_get_idx(rows, i), *form;
        if (!json_object_object_get_ex(row, "form", &form)) continue;
        if (!any)
            printf("\n%9s %9s %9s %9s %9s %9s\n", "ours, ms", "ours/C", "ours/own", "unf./ours", "PoCL/ours",
                   "of memory");
        any = true;
        print_row(row);
        mean_add(&c, ratio_of(row, "c"));
        mean_add(&pocl, inverse(ratio_of(row, "pocl")));
        if (is_pipeline(row)) mean_add(&pipelines, inverse(ratio_of(row, "unfused")));
    }
    mean_print("ours/C", &c);
    mean_print("PoCL/ours", &pocl);
    mean_print("image pipelines unfused/ours", &pipelines);
}
