/* What the conformance tests share: a service, graphs of kernels out of a file, and what a report must say. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/service.h"

enum { SIZE = 512 };

static const unsigned kit_private = FUSION_ACCESS_SCOPE_WORK_ITEM | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;
static const unsigned kit_local = FUSION_ACCESS_SCOPE_WORK_GROUP | FUSION_INTERNAL_MEMORY | FUSION_NO_INIT;

/* One graph on one device, in a session of its own. */
struct kit {
    fusion_session *session;
    fusion_module *module;
    fusion_graph *graph;
    fusion_exec *exec;
    const char *device;
    bool barriers;             /* insert_barriers */
    fusion_barriers by_itself; /* others */
};

/* Of the group: starts and clears the service. */
int kit_start(void **state);
int kit_stop(void **state);
const struct service *kit_service(void);

/* Runs a test on devices; the struct kit is open, and closed afterwards. */
/* On all that this machine has, or the one in FUSIOND_TEST_DEVICE, which is to be there; of those, with an aspect, or
   NULL. */
void kit_on_devices(const char *aspect, void (*body)(struct kit *k));
void kit_on(const char *device, void (*body)(struct kit *k));
/* Module and graph of a kit that has its session. */
void kit_open(struct kit *k);
/* A new graph in the same session. */
void kit_new_graph(struct kit *k);

/* i32 buffers: of zeros, of value i * factor + add at i. */
fusion_buffer *kit_buffer(struct kit *k, const char *name, uint64_t count, unsigned properties);
fusion_buffer *kit_ramp(struct kit *k, const char *name, uint64_t count, int factor, int add);
int *kit_map(fusion_buffer *buffer);

/* An accessor with properties of its own. */
fusion_arg kit_with(fusion_arg arg, unsigned properties);
/* An accessor on elements first .. first + count of an i32 buffer. */
fusion_arg kit_part(fusion_arg arg, uint64_t first, uint64_t count);

/* Adds kernel over global work-items in groups of local (0: any). */
#define kit_add(k, kernel, global, local, ...)                                                                         \
    kit_add_args((k), (kernel), 1, (const uint64_t[3]){global, 1, 1},                                                  \
                 (const uint64_t[3]){local, local ? 1 : 0, local ? 1 : 0}, (const fusion_arg[]){__VA_ARGS__},          \
                 sizeof((const fusion_arg[]){__VA_ARGS__}) / sizeof(fusion_arg))
fusion_node kit_add_args(struct kit *k, const char *kernel, uint32_t dims, const uint64_t global[3],
                         const uint64_t local[3], const fusion_arg *args, uint32_t n_args);

const fusion_report *kit_finalize(struct kit *k, fusion_mode mode);
/* Finalizes, submits, waits. */
const fusion_report *kit_run(struct kit *k, fusion_mode mode);
void kit_submit(struct kit *k);
void kit_expect_finalize_error(struct kit *k, fusion_mode mode, fusion_status status, const char *part);

/* What the report says: printed, and expected. */
void kit_print(const struct kit *k);
void kit_expect_launches(const struct kit *k, uint32_t launches);
/* These buffers and no others, "name:private" or "name:local", separated by one space, in the order of their first use.
 */
void kit_expect_internalized(const struct kit *k, const char *list);
bool kit_has_remark(const struct kit *k, const char *code, const char *node, const char *buffer); /* NULL: any */
void kit_expect_remark(const struct kit *k, const char *code, const char *node, const char *buffer);
void kit_expect_no_remark(const struct kit *k, const char *code);

/* Runs the same graph unfused first, keeps the i32 contents of out, then runs it fused and compares. */
void kit_expect_like_unfused(struct kit *k, fusion_mode mode, fusion_buffer *out);

/* test_NAME, which runs NAME on all devices of this machine, on those with an aspect, on cpu alone. */
#define ON_DEVICES(name)                                                                                               \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        kit_on_devices(NULL, name);                                                                                    \
    }
#define ON_DEVICES_WITH(aspect, name)                                                                                  \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        kit_on_devices(aspect, name);                                                                                  \
    }
#define ON_CPU(name)                                                                                                   \
    static void test_##name(void **state)                                                                              \
    {                                                                                                                  \
        (void)state;                                                                                                   \
        kit_on("cpu", name);                                                                                           \
    }
