/* fusion-inspect module: what was understood of a file, or of several after linking. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/graph/graph_file.h"
#include "tools/inspect/graph/load.h"
#include "tools/inspect/graph/types.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/usage.h"

/* ---- kernels ---- */

static void print_kernel(const fusion_kernel_info *k)
{
    printf("kernel %s\n", k->name);
    for (uint32_t i = 0; i < k->n_args; i++) {
        const fusion_kernel_arg *a = &k->args[i];
        printf("  %" PRIu32 ": %-12s %s", i, a->name, a->type);
        if (*a->access)
            printf(", %s", a->access);
        else
            printf(", %" PRIu64 " bytes", a->size);
        putchar('\n');
    }
    if (k->work_group_size[0])
        printf("  work-group size: %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", k->work_group_size[0], k->work_group_size[1],
               k->work_group_size[2]);
    if (*k->sub_group_size) printf("  sub-group size: %s\n", k->sub_group_size);
    if (*k->aspects) printf("  aspects: %s\n", k->aspects);
    printf("  device image: %" PRIu32 "\n", k->image);
    if (*k->targets) printf("  targets: %s\n", k->targets);
}

static void print_on_device(const fusion_module *m, const char *kernel, const char *device)
{
    fusion_kernel_device_info i = {FUSION_SIZED(fusion_kernel_device_info)};
    if (fusion_kernel_device_get(m, kernel, device, &i) != FUSION_SUCCESS) {
        printf("  on %s: %s\n", device, fusion_last_error()->reason);
        return;
    }
    printf("  on %s: max work-group size %" PRIu64 ", preferred multiple %" PRIu32 ", local memory %" PRIu64
           " bytes, private memory %" PRIu64 " bytes\n    max sub-groups %" PRIu32,
           device, i.max_work_group_size, i.preferred_work_group_size_multiple, i.local_memory_bytes,
           i.private_memory_bytes, i.max_num_sub_groups);
    if (i.compile_num_sub_groups) printf(", required %" PRIu32, i.compile_num_sub_groups);
    if (i.compile_sub_group_size)
        printf(", sub-group size %" PRIu32 "\n", i.compile_sub_group_size);
    else
        puts(", sub-group size automatic");
}

static fusion_status print_kernels(fusion_session *s, const fusion_module *m)
{
    uint32_t n_devices = 0;
    fusion_status status = fusion_device_count(s, &n_devices);
    fusion_device_info *devices = calloc(n_devices + 1, sizeof *devices);
    for (uint32_t d = 0; d < n_devices && status == FUSION_SUCCESS; d++) status = fusion_device_get(s, d, &devices[d]);
    for (uint32_t i = 0; status == FUSION_SUCCESS && i < fusion_module_kernel_count(m); i++) {
        const fusion_kernel_info *k = fusion_module_kernel(m, i);
        print_kernel(k);
        for (uint32_t d = 0; d < n_devices; d++) print_on_device(m, k->name, devices[d].name);
    }
    free(devices);
    return status;
}

/* ---- arguments ---- */

enum { MAX_CONSTANTS = 64 };

struct request {
    bool ir;
    struct file_module module;
};

static void request_clear(struct request *r)
{
    for (uint32_t i = 0; i <= r->module.n_inputs; i++) file_input_clear(&r->module.inputs[i]);
    free(r->module.inputs);
}

/* "3=f32 1.5" */
static bool add_constant(struct file_input *in, const char *text)
{
    char *end;
    unsigned long long id = strtoull(text, &end, 10);
    if (!in->constants) in->constants = calloc(MAX_CONSTANTS, sizeof *in->constants);
    if (in->n_constants == MAX_CONSTANTS || end == text || *end != '=' || id > UINT32_MAX ||
        !constant_parse(end + 1, &in->constants[in->n_constants]))
        return false;
    in->constants[in->n_constants++].id = (uint32_t)id;
    return true;
}

/* An option of the file that comes next. */
static bool add_option(struct file_input *in, const char *option, const char *value)
{
    if (strcmp(option, "--constant") == 0) return add_constant(in, value);
    char **text = strcmp(option, "--sub-group-size") == 0 ? &in->sub_group_size
                  : strcmp(option, "--options") == 0      ? &in->options
                                                          : NULL;
    if (!text || *text) return false;
    *text = strdup(value);
    return true;
}

static bool request_read(struct request *r, int argc, char **argv)
{
    bool waits = false; /* an option, for its file */
    *r = (struct request){.module = {.name = "linked", .inputs = calloc((size_t)argc + 1, sizeof *r->module.inputs)}};
    for (int i = 1; i < argc; i++) {
        struct file_input *in = &r->module.inputs[r->module.n_inputs];
        if (strcmp(argv[i], "--ir") == 0) {
            r->ir = true;
        } else if (argv[i][0] != '-') {
            in->path = strdup(argv[i]);
            r->module.n_inputs++;
            waits = false;
        } else {
            if (i + 1 == argc || !add_option(in, argv[i], argv[i + 1])) return false;
            waits = true;
            i++;
        }
    }
    return r->module.n_inputs && !waits;
}

/* ---- the command ---- */

static bool show(fusion_session *s, const struct request *r)
{
    fusion_module *m;
    char *text = NULL;
    if (!load_module(s, NULL, &r->module, &m)) return false;
    fusion_status status = print_kernels(s, m);
    if (status == FUSION_SUCCESS && r->ir) status = fusion_module_text(m, &text);
    if (status != FUSION_SUCCESS) print_error("module");
    if (text) printf("\n%s", text);
    free(text);
    return status == FUSION_SUCCESS;
}

int command_module(const struct context *c, int argc, char **argv)
{
    struct request r;
    int status = 2;
    if (request_read(&r, argc, argv)) {
        fusion_session *s = connect_or_say(c);
        status = s && show(s, &r) ? 0 : 1;
        fusion_disconnect(s);
    } else {
        status = usage_of(argc, argv,
                          "[--ir] { [--sub-group-size SIZE] [--constant \"ID=TYPE VALUE\"] [--options \"-D N=4\"] "
                          "FILE } ...",
                          (const char *const[]){"--ir", "--sub-group-size", "--constant", "--options", NULL});
    }
    request_clear(&r);
    return status;
}
