/* What the conformance tests share. */
#include "tests/conformance/kit.h"

static struct service service;

int kit_start(void **state)
{
    (void)state;
    service_start(&service, NULL);
    return 0;
}

int kit_stop(void **state)
{
    (void)state;
    service_clear(&service);
    return 0;
}

const struct service *kit_service(void)
{
    return &service;
}

/* ---- a graph ---- */

void kit_new_graph(struct kit *k)
{
    fusion_exec_destroy(k->exec);
    fusion_graph_destroy(k->graph);
    k->exec = NULL;
    expect_ok(fusion_graph_create(k->session, &k->graph));
}

void kit_open(struct kit *k)
{
    expect_ok(fusion_module_load_file(k->session, KERNELS, &k->module));
    kit_new_graph(k);
}

void kit_on(const char *device, void (*body)(struct kit *k))
{
    struct kit k = {.session = service_connect(&service), .device = device};
    kit_open(&k);
    body(&k);
    fusion_disconnect(k.session);
}

/* What devices there are, and their aspects, is asked once. */
static const fusion_device_info *devices(uint32_t *n)
{
    static fusion_device_info list[8];
    static uint32_t count;
    if (!count) {
        fusion_session *session = service_connect(&service);
        expect_ok(fusion_device_count(session, &count));
        assert_true(count <= sizeof list / sizeof *list);
        for (uint32_t i = 0; i < count; i++) expect_ok(fusion_device_get(session, i, &list[i]));
        fusion_disconnect(session);
    }
    *n = count;
    return list;
}

/* The names have one space between them. */
static bool has_aspect(const fusion_device_info *device, const char *aspect)
{
    char list[sizeof device->aspects + 2], name[64];
    snprintf(list, sizeof list, " %s ", device->aspects);
    snprintf(name, sizeof name, " %s ", aspect);
    return strstr(list, name);
}

void kit_on_devices(const char *aspect, void (*body)(struct kit *k))
{
    uint32_t n;
    bool found = false;
    const fusion_device_info *list = devices(&n);
    const char *only = getenv("FUSIOND_TEST_DEVICE");
    for (uint32_t i = 0; i < n; i++) {
        if (only && strcmp(list[i].name, only) != 0) continue;
        found = true;
        if (!aspect || has_aspect(&list[i], aspect)) kit_on(list[i].name, body);
    }
    assert_true(found);
}

fusion_buffer *kit_buffer(struct kit *k, const char *name, uint64_t count, unsigned properties)
{
    fusion_buffer *buffer = NULL;
    expect_ok(fusion_buffer_create(k->session, name, FUSION_I32, count, properties, &buffer));
    return buffer;
}

int *kit_map(fusion_buffer *buffer)
{
    void *memory = NULL;
    expect_ok(fusion_buffer_map(buffer, &memory));
    return memory;
}

fusion_buffer *kit_ramp(struct kit *k, const char *name, uint64_t count, int factor, int add)
{
    fusion_buffer *buffer = kit_buffer(k, name, count, 0);
    int *v = kit_map(buffer);
    for (uint64_t i = 0; i < count; i++) v[i] = (int)i * factor + add;
    return buffer;
}

fusion_arg kit_with(fusion_arg arg, unsigned properties)
{
    arg.properties = properties;
    return arg;
}

fusion_arg kit_part(fusion_arg arg, uint64_t first, uint64_t count)
{
    arg.offset = first * sizeof(int);
    arg.bytes = count * sizeof(int);
    return arg;
}

fusion_node kit_add_args(struct kit *k, const char *kernel, uint32_t dims, const uint64_t global[3],
                         const uint64_t local[3], const fusion_arg *args, uint32_t n_args)
{
    fusion_kernel_node node = {.module = k->module, .kernel = kernel, .dims = dims, .args = args, .n_args = n_args};
    fusion_node number = 0;
    memcpy(node.global, global, sizeof node.global);
    memcpy(node.local, local, sizeof node.local);
    expect_ok(fusion_graph_add_kernel(k->graph, &node, &number));
    return number;
}

/* ---- running ---- */

static fusion_finalize_options options_of(const struct kit *k, fusion_mode mode)
{
    return (fusion_finalize_options){
        .mode = mode, .device = k->device, .insert_barriers = k->barriers, .barriers = k->by_itself};
}

const fusion_report *kit_finalize(struct kit *k, fusion_mode mode)
{
    fusion_finalize_options options = options_of(k, mode);
    fusion_exec_destroy(k->exec);
    k->exec = NULL;
    expect_ok(fusion_graph_finalize(k->graph, &options, &k->exec));
    return fusion_exec_report(k->exec);
}

void kit_submit(struct kit *k)
{
    fusion_event event;
    expect_ok(fusion_exec_submit(k->exec, NULL, 0, &event));
    expect_ok(fusion_event_wait(k->session, event, 20000, NULL));
}

const fusion_report *kit_run(struct kit *k, fusion_mode mode)
{
    const fusion_report *report = kit_finalize(k, mode);
    kit_submit(k);
    return report;
}

void kit_expect_finalize_error(struct kit *k, fusion_mode mode, fusion_status status, const char *part)
{
    fusion_finalize_options options = options_of(k, mode);
    fusion_exec *exec = NULL;
    expect_error(fusion_graph_finalize(k->graph, &options, &exec), status);
    expect_in_reason(part);
}

/* ---- the report ---- */

void kit_print(const struct kit *k)
{
    const fusion_report *r = fusion_exec_report(k->exec);
    print_error("device %s: %u launches\n", k->device, r->launches);
    for (uint32_t i = 0; i < r->n_internalized; i++)
        print_error("  internalized %s: %s\n", r->internalized[i].buffer, r->internalized[i].memory);
    for (uint32_t i = 0; i < r->n_remarks; i++)
        print_error("  %s [%s] [%s]: %s\n", r->remarks[i].code, r->remarks[i].node, r->remarks[i].buffer,
                    r->remarks[i].text);
}

void kit_expect_launches(const struct kit *k, uint32_t launches)
{
    if (fusion_exec_report(k->exec)->launches == launches) return;
    kit_print(k);
    fail_msg("%u launches were wanted", launches);
}

void kit_expect_internalized(const struct kit *k, const char *list)
{
    const fusion_report *r = fusion_exec_report(k->exec);
    char found[512] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < r->n_internalized && n < sizeof found; i++)
        n += (size_t)snprintf(found + n, sizeof found - n, "%s%s:%s", i ? " " : "", r->internalized[i].buffer,
                              r->internalized[i].memory);
    if (strcmp(found, list) == 0) return;
    kit_print(k);
    fail_msg("internalized should be \"%s\"", list);
}

bool kit_has_remark(const struct kit *k, const char *code, const char *node, const char *buffer)
{
    const fusion_report *r = fusion_exec_report(k->exec);
    for (uint32_t i = 0; i < r->n_remarks; i++) {
        const fusion_remark *m = &r->remarks[i];
        if (strcmp(m->code, code) == 0 && (!node || strcmp(m->node, node) == 0) &&
            (!buffer || strcmp(m->buffer, buffer) == 0))
            return true;
    }
    return false;
}

void kit_expect_remark(const struct kit *k, const char *code, const char *node, const char *buffer)
{
    if (kit_has_remark(k, code, node, buffer)) return;
    kit_print(k);
    fail_msg("no remark %s about node %s, buffer %s", code, node ? node : "(any)", buffer ? buffer : "(any)");
}

void kit_expect_no_remark(const struct kit *k, const char *code)
{
    if (!kit_has_remark(k, code, NULL, NULL)) return;
    kit_print(k);
    fail_msg("there is a remark %s", code);
}

void kit_expect_like_unfused(struct kit *k, fusion_mode mode, fusion_buffer *out)
{
    uint64_t bytes = fusion_buffer_bytes(out);
    int *values = malloc(bytes);
    assert_non_null(values);
    kit_run(k, FUSION_NONE);
    memcpy(values, kit_map(out), bytes);
    memset(kit_map(out), 0x5a, bytes);
    kit_run(k, mode);
    for (uint64_t i = 0; i < bytes / sizeof *values; i++)
        if (kit_map(out)[i] != values[i])
            fail_msg("device %s, element %d: %d fused, %d unfused", k->device, (int)i, kit_map(out)[i], values[i]);
    free(values);
}
