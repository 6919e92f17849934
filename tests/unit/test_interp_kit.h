/* What the interpreter's tests share: a kernel as text, run over a one-dimensional range, and its findings. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ir/interp/interp.h"
#include "ir/text/parse/parse.h"
#include "ir/verify/verify.h"

#define BUFFER(array)                                                                                                  \
    {                                                                                                                  \
        .kind = INTERP_ARG_BUFFER, .data = (array), .size = sizeof(array)                                              \
    }
#define BYTES(value)                                                                                                   \
    {                                                                                                                  \
        .kind = INTERP_ARG_BYTES, .data = &(value), .size = sizeof(value)                                              \
    }
#define LOCAL(bytes)                                                                                                   \
    {                                                                                                                  \
        .kind = INTERP_ARG_LOCAL, .size = (bytes)                                                                      \
    }

struct kit {
    struct ir_module *module;
    struct interp_result result;
    struct interp_options options;
    int rc;
};

static inline void kit_load(struct kit *k, const char *text)
{
    struct diag_list list = {0};
    memset(k, 0, sizeof *k);
    k->options = (struct interp_options){.check_races = true, .check_unwritten = true, .sub_group_size = 4};
    k->module = ir_parse(text, strlen(text), "test", &list);
    if (!k->module) {
        char *why = diag_format(&list);
        print_error("%s\n%s\n", why, text);
        free(why);
    }
    diag_clear(&list);
    assert_non_null(k->module);
}

static inline void kit_run_range(struct kit *k, const struct nd_range *range, const struct interp_arg *args)
{
    interp_result_clear(&k->result);
    k->rc = interp_run(ir_module_find(k->module, "k"), range, args, &k->options, &k->result);
}

static inline void kit_run(struct kit *k, uint64_t global, uint64_t local, const struct interp_arg *args)
{
    kit_run_range(k, &(struct nd_range){1, {global, 1, 1}, {0}, {local, 1, 1}}, args);
}

static inline void kit_free(struct kit *k)
{
    interp_result_clear(&k->result);
    ir_module_free(k->module);
}

static inline void kit_expect_clean(const struct kit *k)
{
    for (uint32_t i = 0; i < k->result.n_findings; i++)
        print_error("line %u: %s\n", k->result.findings[i].line, k->result.findings[i].text);
    assert_int_equal(k->rc, 0);
    assert_int_equal(k->result.n_findings, 0);
    assert_true(k->result.completed);
}

/* The one finding there must be. */
static inline const struct interp_finding *kit_expect(const struct kit *k, enum interp_finding_kind kind, uint32_t line,
                                                      const char *part)
{
    assert_int_equal(k->result.n_findings, 1);
    const struct interp_finding *f = &k->result.findings[0];
    if (f->kind != kind || f->line != line || !strstr(f->text, part))
        fail_msg("kind %d line %u: %s", f->kind, f->line, f->text);
    return f;
}

/* Loads, runs without a finding, frees. */
static inline void kit_clean_run(const char *text, uint64_t global, uint64_t local, const struct interp_arg *args)
{
    struct kit k;
    kit_load(&k, text);
    kit_run(&k, global, local, args);
    kit_expect_clean(&k);
    kit_free(&k);
}
