/* The wire graph: what is encoded comes back the same; every rule of the decoder refuses its violation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/graph.h"
#include "proto/limits.h"

/* ---- a graph that uses everything ---- */

struct sample {
    struct proto_graph graph;
    struct proto_slot slots[4];
    struct proto_value values[2];
    struct proto_node nodes[6];
    struct proto_arg args[5];
    uint32_t deps[2];
};

static void make_sample(struct sample *s)
{
    *s = (struct sample){
        .graph = {.n_modules = 2, .n_slots = 4, .n_values = 2, .n_nodes = 6},
        .slots = {{"a", 4096, PROTO_ELEM_F32, 1, false, {0}, true},
                  {"t\xc3\xa4", 4096, PROTO_ELEM_F32, 4, false, {PROTO_SCOPE_WORK_ITEM, true, true}},
                  {"", 1 << 20, PROTO_ELEM_BYTES, 1, true, {PROTO_SCOPE_WORK_GROUP, false, false}},
                  {.name = "photo", .bytes = 4096, .lanes = 1, .image = {30, 32, 128, 0x10b5, 0x10d2}}},
        .values = {{4, 1, 77}, {128}},
        .args = {{PROTO_ARG_SLOT, PROTO_ACCESS_READ, 0, 16, 64, {0}},
                 {PROTO_ARG_SLOT, PROTO_ACCESS_WRITE, 1, 0, 0, {PROTO_SCOPE_WORK_ITEM, false, true}},
                 {PROTO_ARG_VALUE, 0, 1, 0, 128, {0}},
                 {PROTO_ARG_LOCAL, 0, 0, 0, 256, {0}},
                 {PROTO_ARG_SLOT, PROTO_ACCESS_READ, 3, 0, 0, {0}}},
        .deps = {3, 0},
    };
    s->nodes[0] = (struct proto_node){.kind = PROTO_NODE_KERNEL,
                                      .name = "add",
                                      .module = 1,
                                      .kernel = "add_f32",
                                      .dims = 2,
                                      .global = {64, 16, 1},
                                      .offset = {1, 2, 0},
                                      .local = {8, 2, 1},
                                      .n_args = 5,
                                      .args = s->args};
    s->nodes[1] = (struct proto_node){.kind = PROTO_NODE_COPY,
                                      .name = "copy",
                                      .from = 0,
                                      .to = 2,
                                      .from_offset = 4,
                                      .to_offset = 1000000,
                                      .bytes = 4092,
                                      .n_deps = 2,
                                      .deps = s->deps};
    s->nodes[2] = (struct proto_node){.kind = PROTO_NODE_FILL,
                                      .name = "fill",
                                      .to = 1,
                                      .to_offset = 96,
                                      .bytes = 4000,
                                      .pattern = {1, 2, 3, 4, 5, 6, 7, 8},
                                      .pattern_size = 8};
    s->nodes[3] = (struct proto_node){.kind = PROTO_NODE_HOST, .name = "host", .n_args = 1, .args = s->args};
    s->nodes[4] = (struct proto_node){.kind = PROTO_NODE_COPY,
                                      .name = "rectangle",
                                      .from = 3,
                                      .from_offset = 132,
                                      .from_pitch = 128,
                                      .to = 0,
                                      .to_offset = 64,
                                      .to_pitch = 40,
                                      .bytes = 40,
                                      .rows = 10};
    s->nodes[5] = (struct proto_node){.kind = PROTO_NODE_FILL,
                                      .name = "corner",
                                      .to = 3,
                                      .to_offset = 128,
                                      .to_pitch = 128,
                                      .bytes = 16,
                                      .rows = 30,
                                      .plane = 15,
                                      .to_slice_pitch = 1920,
                                      .pattern = {1, 2, 3, 4},
                                      .pattern_size = 4};
    s->graph.slots = s->slots;
    s->graph.values = s->values;
    s->graph.nodes = s->nodes;
}

static bool same_props(const struct proto_props *a, const struct proto_props *b)
{
    return a->access_scope == b->access_scope && a->internal_memory == b->internal_memory && a->no_init == b->no_init;
}

static void expect_same_arg(const struct proto_arg *a, const struct proto_arg *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->access, b->access);
    assert_int_equal(a->index, b->index);
    assert_true(a->offset == b->offset && a->bytes == b->bytes);
    assert_true(same_props(&a->props, &b->props));
}

static void expect_same_node(const struct proto_node *a, const struct proto_node *b)
{
    assert_int_equal(a->kind, b->kind);
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->n_deps, b->n_deps);
    if (a->n_deps) assert_memory_equal(a->deps, b->deps, a->n_deps * sizeof *a->deps);
    if (a->kind == PROTO_NODE_KERNEL) {
        assert_int_equal(a->module, b->module);
        assert_string_equal(a->kernel, b->kernel);
        assert_int_equal(a->dims, b->dims);
        assert_memory_equal(a->global, b->global, sizeof a->global);
        assert_memory_equal(a->offset, b->offset, sizeof a->offset);
        assert_memory_equal(a->local, b->local, sizeof a->local);
        assert_int_equal(a->n_args, b->n_args);
        for (uint32_t i = 0; i < a->n_args; i++) expect_same_arg(&a->args[i], &b->args[i]);
    }
    assert_int_equal(a->from, b->from);
    assert_int_equal(a->to, b->to);
    assert_true(a->from_offset == b->from_offset && a->to_offset == b->to_offset && a->bytes == b->bytes);
    assert_int_equal(a->rows, b->rows);
    assert_true(a->from_pitch == b->from_pitch && a->to_pitch == b->to_pitch);
    assert_true(a->plane == b->plane && a->from_slice_pitch == b->from_slice_pitch);
    assert_true(a->to_slice_pitch == b->to_slice_pitch);
    assert_int_equal(a->pattern_size, b->pattern_size);
    assert_memory_equal(a->pattern, b->pattern, sizeof a->pattern);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s);
    size_t size, again_size;
    struct error e = {0};
    uint8_t *bytes = proto_graph_encode(&s.graph, &size);
    struct proto_graph *g = proto_graph_decode(bytes, size, &e);
    if (!g) fail_msg("%s", e.reason);
    assert_int_equal(g->n_modules, 2);
    assert_int_equal(g->n_slots, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_string_equal(g->slots[i].name, s.slots[i].name);
        assert_true(g->slots[i].bytes == s.slots[i].bytes);
        assert_int_equal(g->slots[i].elem, s.slots[i].elem);
        assert_int_equal(g->slots[i].lanes, s.slots[i].lanes);
        assert_int_equal(g->slots[i].usm, s.slots[i].usm);
        assert_true(same_props(&g->slots[i].props, &s.slots[i].props));
        assert_true(g->slots[i].unread == s.slots[i].unread);
        assert_true(proto_image_same(&g->slots[i].image, &s.slots[i].image));
    }
    assert_int_equal(g->n_values, 2);
    assert_memory_equal(g->values, s.values, sizeof s.values);
    assert_int_equal(g->n_nodes, 6);
    for (uint32_t i = 0; i < 6; i++) expect_same_node(&g->nodes[i], &s.nodes[i]);
    uint8_t *again = proto_graph_encode(g, &again_size);
    assert_int_equal(again_size, size);
    assert_memory_equal(again, bytes, size);
    free(again);
    free(bytes);
    proto_graph_free(g);
    proto_graph_free(NULL);
}

static void test_empty(void **state)
{
    (void)state;
    struct proto_graph empty = {0};
    size_t size;
    struct error e = {0};
    uint8_t *bytes = proto_graph_encode(&empty, &size);
    struct proto_graph *g = proto_graph_decode(bytes, size, &e);
    assert_non_null(g);
    assert_int_equal(g->n_nodes + g->n_slots + g->n_values + g->n_modules, 0);
    proto_graph_free(g);
    free(bytes);
}

/* Whatever is cut off or overwritten: a graph or a reason, never a crash or a leak. */
static void test_truncated_and_mutated(void **state)
{
    (void)state;
    struct sample s;
    make_sample(&s);
    size_t size;
    struct error e = {0};
    uint8_t *bytes = proto_graph_encode(&s.graph, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *part = malloc(cut ? cut : 1);
        memcpy(part, bytes, cut);
        error_clear(&e);
        assert_null(proto_graph_decode(part, cut, &e));
        assert_string_not_equal(e.reason, "");
        free(part);
    }
    for (size_t at = 0; at < size; at++) {
        uint8_t kept = bytes[at];
        for (int value = 0; value < 256; value++) {
            bytes[at] = (uint8_t)value;
            error_clear(&e);
            struct proto_graph *g = proto_graph_decode(bytes, size, &e);
            assert_true(g != NULL || e.reason[0] != 0);
            proto_graph_free(g);
        }
        bytes[at] = kept;
    }
    free(bytes);
}

/* ---- violations ---- */

static void refuse(const struct sample *s, const char *expected)
{
    size_t size;
    struct error e = {0};
    uint8_t *bytes = proto_graph_encode(&s->graph, &size);
    assert_non_null(bytes);
    struct proto_graph *g = proto_graph_decode(bytes, size, &e);
    free(bytes);
    proto_graph_free(g);
    if (g || !strstr(e.reason, expected)) fail_msg("\"%s\" expected, not \"%s\"", expected, g ? "a graph" : e.reason);
}

/* Changes one thing in a fresh sample. */
#define VIOLATION(change, expected)                                                                                    \
    do {                                                                                                               \
        struct sample s;                                                                                               \
        make_sample(&s);                                                                                               \
        change;                                                                                                        \
        refuse(&s, expected);                                                                                          \
    } while (0)

static void test_slots(void **state)
{
    (void)state;
    char name[300];
    memset(name, 'n', sizeof name);
    name[PROTO_MAX_NAME + 1] = 0;
    VIOLATION(s.slots[0].name = name, "256 bytes");
    VIOLATION(s.slots[0].name = "\xff", "UTF-8");
    VIOLATION(s.slots[0].name = "\xc0\x80", "UTF-8");
    VIOLATION(s.slots[0].name = "\xed\xa0\x80", "UTF-8");
    VIOLATION(s.slots[0].name = "\xf4\x90\x80\x80", "UTF-8");
    VIOLATION(s.slots[0].name = "\xe2\x82", "UTF-8");
    VIOLATION(s.slots[0].bytes = 0, "no bytes");
    VIOLATION(s.slots[0].bytes = UINT64_MAX, "size");
    VIOLATION(s.slots[0].elem = PROTO_ELEM_COUNT, "element type");
    VIOLATION(s.slots[0].lanes = 5, "5 lanes");
    VIOLATION(s.slots[0].lanes = 0, "0 lanes");
    VIOLATION(s.slots[0].lanes = 32, "lanes");
    VIOLATION(s.slots[0].props.access_scope = PROTO_SCOPE_COUNT, "access scope");
}

static void test_values(void **state)
{
    (void)state;
    VIOLATION(s.values[0].size = 0, "value 0 has no bytes");
    VIOLATION(s.values[0].alike = 2, "the value that another is like");
    VIOLATION(s.values[1].alike = 1, "value 1 is like one of another size");
    VIOLATION(s.values[0].size = PROTO_MAX_VALUE_BYTES + 1, "value's size");
    VIOLATION(s.args[2].bytes = 127, "it has 128");
    VIOLATION(s.args[2].index = 2, "value 2");
}

static void test_kernels(void **state)
{
    (void)state;
    VIOLATION(s.nodes[0].name = "", "empty");
    VIOLATION(s.nodes[0].kernel = "", "empty");
    VIOLATION(s.nodes[0].module = 2, "module 2");
    VIOLATION(s.nodes[0].kind = PROTO_NODE_COUNT, "kind");
    VIOLATION(s.nodes[0].dims = 0, "no dimensions");
    VIOLATION(s.nodes[0].local[1] = 0, "some dimensions only");
    VIOLATION(s.nodes[0].local[0] = 0, "some dimensions only");
    VIOLATION(s.nodes[0].global[0] = s.nodes[0].global[1] = UINT64_C(1) << 32, "2^63");
    VIOLATION(s.nodes[0].offset[0] = INT64_MAX, "2^63");
    VIOLATION(s.nodes[0].global[0] = UINT64_MAX, "global size");
    VIOLATION(s.nodes[0].local[0] = s.nodes[0].local[1] = 1 << 17, "2^32");
    VIOLATION(s.args[0].kind = PROTO_ARG_COUNT, "argument's kind");
    VIOLATION(s.args[0].access = PROTO_ACCESS_COUNT, "argument's access");
    VIOLATION(s.args[0].index = 4, "buffer 4");
    VIOLATION(s.args[0].offset = 4097, "which has 4096");
    VIOLATION(s.args[0].bytes = 4096, "bytes 16 to 4112");
    VIOLATION(s.args[3].bytes = 0, "local argument");
}

static void test_copies_and_fills(void **state)
{
    (void)state;
    VIOLATION(s.nodes[1].from = 4, "buffer 4");
    VIOLATION(s.nodes[1].to = 77, "buffer 77");
    VIOLATION(s.nodes[1].bytes = 4093, "which has 4096");
    VIOLATION(s.nodes[1].to_offset = 1 << 20, "which has 1048576");
    VIOLATION(s.nodes[3].args = &s.args[3], "argument 0 of host node `host` is no buffer");
    VIOLATION((s.nodes[1].to = 0, s.nodes[1].to_offset = 100, s.nodes[1].bytes = 97), "overlap");
    VIOLATION(s.nodes[2].to = 4, "buffer 4");
    VIOLATION(s.nodes[2].to_offset = 104, "which has 4096");
    VIOLATION(s.nodes[2].pattern_size = 3, "pattern of 3");
    VIOLATION(s.nodes[2].pattern_size = 0, "pattern of 0");
    VIOLATION(s.nodes[2].bytes = 3999, "fills 3999 bytes");
    VIOLATION(s.deps[0] = 6, "depends on node 6");
}

static void test_images(void **state)
{
    (void)state;
    VIOLATION(s.slots[3].bytes = 4097, "image `photo` has 4097 bytes, its rows 4096");
    VIOLATION(s.slots[3].image.height = 0, "30 x 0 pixels");
    VIOLATION(s.slots[3].image.width = 16385, "16385 x 32 pixels");
    VIOLATION(s.slots[3].image.row_pitch = 116, "a row of 30 pixels has 120");
    VIOLATION(s.slots[3].image.row_pitch = 130, "no multiple of a pixel's 4");
    VIOLATION(s.slots[3].image.row_pitch = UINT32_MAX, "at most 1048576");
    VIOLATION(s.slots[3].image.channel_order = 0x10bf, "sRGB is not supported");
    VIOLATION(s.slots[3].image.channel_order = 5, "none of OpenCL's");
    VIOLATION(s.slots[3].image.channel_type = 0x10d4, "UNORM_SHORT_565 needs the order RGB");
    VIOLATION(s.slots[3].image.channel_order = 0x10b8;
              s.slots[3].image.channel_type = 0x10d7, "INTENSITY needs a normalized or a float channel type");
    VIOLATION(s.slots[3].image.type = 6, "unknown type 6");
    VIOLATION(s.slots[3].image.slices = 2, "an image2d has none");
    VIOLATION(s.slots[3].image.type = PROTO_IMAGE_1D, "32 rows, but an image1d has one");
    VIOLATION(s.slots[3].image.type = PROTO_IMAGE_3D, "0 slices; an image3d has 1 to 16384");
    VIOLATION(s.slots[3].image.type = PROTO_IMAGE_2D_ARRAY; s.slots[3].image.slices = 2;
              s.slots[3].image.slice_pitch = 2048, "a slice pitch of 2048 bytes, but the rows of a slice have 4096");
    VIOLATION(s.slots[3].image.type = PROTO_IMAGE_3D; s.slots[3].image.slices = 2;
              s.slots[3].image.slice_pitch = 4097, "no multiple of the row pitch, 128");
    VIOLATION(s.slots[3].image.type = PROTO_IMAGE_1D_BUFFER; s.slots[3].image.height = 1, "has memory of its own");
    VIOLATION(s.slots[3].usm = true, "is USM");
    VIOLATION(s.slots[3].elem = PROTO_ELEM_I32, "elements that are not bytes");
    VIOLATION(s.slots[3].props.no_init = true, "properties");
    VIOLATION(s.args[4].offset = 4, "takes a part of image `photo`");
    VIOLATION(s.args[4].bytes = 4, "takes a part of image `photo`");
    VIOLATION(s.args[4].props.internal_memory = true, "gives it properties");
}

/* A buffer as an image. */
static void test_views(void **state)
{
    (void)state;
    const struct proto_image view = {16, 1, 64, 0x10b0, 0x10de, PROTO_IMAGE_1D_BUFFER, 0, 0};
    struct sample whole;
    struct error e = {0};
    size_t size;
    make_sample(&whole);
    whole.args[0].image = view;
    uint8_t *bytes = proto_graph_encode(&whole.graph, &size);
    struct proto_graph *g = proto_graph_decode(bytes, size, &e);
    free(bytes);
    if (!g) fail_msg("%s", e.reason);
    assert_true(proto_image_same(&g->nodes[0].args[0].image, &view));
    proto_graph_free(g);
    VIOLATION(s.args[0].image = view; s.args[0].image.width = 17, "a row of 17 pixels has 68");
    VIOLATION(s.args[0].image = view; s.args[0].bytes = 60, "takes 60 bytes of `a` as an image of 64");
    VIOLATION(s.args[0].image = view; s.args[0].image.type = PROTO_IMAGE_1D, "as an image of other than a buffer");
    VIOLATION(s.args[0].image = view; s.args[0].props.no_init = true, "gives properties to `a`");
    VIOLATION(s.args[4].image = view; s.args[4].bytes = 64, "as an image of other than a buffer");
}

/* Rows in slices. */
static void test_boxes(void **state)
{
    (void)state;
    VIOLATION(s.nodes[4].plane = 3, "10 rows in slices of 3");
    VIOLATION(s.nodes[4].plane = 5; s.nodes[4].from_slice_pitch = 640;
              s.nodes[4].to_slice_pitch = 199, "slices of 200 bytes, but 199 from each");
    VIOLATION(s.nodes[4].plane = 5; s.nodes[4].from_slice_pitch = 3900;
              s.nodes[4].to_slice_pitch = 200, "which has 4096");
    VIOLATION(s.nodes[4].plane = 1; s.nodes[4].from_slice_pitch = INT64_MAX;
              s.nodes[4].to_slice_pitch = 40, "beyond 2^64");
    VIOLATION(s.nodes[1].plane = 1, "a pitch, but no rows");
}

static void test_rectangles(void **state)
{
    (void)state;
    VIOLATION(s.nodes[4].rows = 33, "which has 4096");
    VIOLATION(s.nodes[4].bytes = 41, "rows of 41 bytes, but 40 from each");
    VIOLATION(s.nodes[4].bytes = 0, "rows of no bytes");
    VIOLATION(s.nodes[4].rows = 0, "a pitch, but no rows");
    VIOLATION(s.nodes[4].to_pitch = 500, "which has 4096");
    VIOLATION(s.nodes[4].from_pitch = INT64_MAX, "beyond 2^64");
    VIOLATION(s.nodes[5].rows = 45, "which has 4096");
    VIOLATION(s.nodes[5].rows = UINT32_MAX, "which has 4096");
    VIOLATION(s.nodes[5].to_pitch = 12, "rows of 16 bytes, but 12");
    VIOLATION(s.nodes[5].bytes = 18, "fills 18 bytes");
}

static void test_limits(void **state)
{
    (void)state;
    VIOLATION(s.graph.n_modules = PROTO_MAX_MODULES + 1, "number of modules");
    struct sample s;
    make_sample(&s);
    s.graph.n_slots = PROTO_MAX_SLOTS + 1;
    s.graph.slots = calloc(s.graph.n_slots, sizeof *s.graph.slots);
    refuse(&s, "4097 buffers");
    free(s.graph.slots);
    make_sample(&s);
    s.graph.n_nodes = PROTO_MAX_NODES + 1;
    s.graph.nodes = calloc(s.graph.n_nodes, sizeof *s.graph.nodes);
    refuse(&s, "65537 nodes");
    free(s.graph.nodes);
    make_sample(&s);
    s.nodes[0].n_args = PROTO_MAX_ARGS + 1;
    s.nodes[0].args = calloc(PROTO_MAX_ARGS + 1, sizeof *s.nodes[0].args);
    refuse(&s, "1025 arguments");
    free(s.nodes[0].args);
}

static void test_other_formats(void **state)
{
    (void)state;
    struct error e = {0};
    assert_null(proto_graph_decode("\x95\x06\x00\x90\x90\x90", 6, &e));
    assert_non_null(strstr(e.reason, "format 6"));
    assert_null(proto_graph_decode("\x94\x05\x00\x90\x90", 5, &e));
    assert_non_null(strstr(e.reason, "fields"));
    assert_null(proto_graph_decode("\x95\x05\x00\x90\x90\x90\x90", 7, &e));
    assert_non_null(strstr(e.reason, "after its end"));
    assert_null(proto_graph_decode("\x95\x05\x00\xdd\xff\xff\xff\xff", 8, &e));
    assert_null(proto_graph_decode("", 0, &e));
}

/* What the fuzzer starts from is of today's format: else it would never get behind the first byte. */
static void test_fuzz_seeds(void **state)
{
    (void)state;
    static const char *const names[] = {"graph", "graph-one", "graph-images"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[4096];
        struct error e = {0};
        uint8_t bytes[4096];
        snprintf(path, sizeof path, "%s/tests/fuzz/corpus/fuzz_message/%s", getenv("FUSIOND_SOURCE_ROOT"), names[i]);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_int_equal(bytes[0], 2);
        struct proto_graph *g = proto_graph_decode(bytes + 1, size - 1, &e);
        if (!g) fail_msg("%s: %s", names[i], e.reason);
        proto_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_truncated_and_mutated),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_copies_and_fills),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_views),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_rectangles),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_other_formats),
        cmocka_unit_test(test_fuzz_seeds),
    };
    return cmocka_run_group_tests_name("proto_graph", tests, NULL, NULL);
}
