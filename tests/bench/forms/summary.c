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

static void print_row(json_object *row)
{
    json_object *work, *ms;
    double memory = ratio_of(row, "memory"), pocl = ratio_of(row, "pocl");
    json_object_object_get_ex(row, "work", &work);
    json_object_object_get_ex(row, "ours_ms", &ms);
    printf("%9.3f", json_object_get_double(ms));
    print_ratio(ratio_of(row, "c"));
    print_ratio(ratio_of(row, "own language"));
    print_ratio(pocl > 0 ? 1 / pocl : 0);
    print_ratio(memory > 0 ? 1 / memory : 0);
    printf("  %s\n", json_object_get_string(work));
}

void form_summary(json_object *rows)
{
    double c_sum = 0, pocl_sum = 0;
    unsigned n_c = 0, n_pocl = 0;
    for (size_t i = 0; i < json_object_array_length(rows); i++) {
        json_object *row = json_object_array_get_idx(rows, i), *form;
        if (!json_object_object_get_ex(row, "form", &form)) continue;
        if (n_c == 0) printf("\n%9s %9s %9s %9s %9s\n", "ours, ms", "ours/C", "ours/own", "PoCL/ours", "of memory");
        print_row(row);
        double c = ratio_of(row, "c"), pocl = ratio_of(row, "pocl");
        if (c > 0) c_sum += log(c), n_c++;
        if (pocl > 0) pocl_sum -= log(pocl), n_pocl++;
    }
    if (n_c)
        printf("geometric means: ours/C %.2f, PoCL/ours %.2f\n", exp(c_sum / n_c), exp(pocl_sum / (n_pocl + !n_pocl)));
}
