/* fusion-inspect devices, status and module. */
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/load.h"

static void print_device(const fusion_device_info *d)
{
    printf("%s\n  %s\n  target: %s\n  aspects: %s\n  compute units: %" PRIu32 "\n  max work-group size: %" PRIu64
           "\n  local memory: %" PRIu64 " bytes\n  sub-group sizes:",
           d->name, d->description, d->target, d->aspects, d->compute_units, d->max_work_group_size,
           d->local_memory_bytes);
    for (uint32_t i = 0; i < d->n_sub_group_sizes; i++) printf(" %" PRIu32, d->sub_group_sizes[i]);
    printf(" (primary %" PRIu32 ", at most %" PRIu32 " sub-groups%s)\n", d->primary_sub_group_size,
           d->max_num_sub_groups, d->sub_group_independent_forward_progress ? ", independent forward progress" : "");
}

int command_devices(const struct context *c, int argc, char **argv)
{
    if (argc != 1) return fprintf(stderr, "usage: fusion-inspect %s\n", argv[0]), 2;
    fusion_session *s = connect_or_say(c);
    uint32_t n = 0;
    fusion_status status = s ? fusion_device_count(s, &n) : FUSION_CONNECTION;
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) {
        fusion_device_info info;
        status = fusion_device_get(s, i, &info);
        if (status == FUSION_SUCCESS) print_device(&info);
    }
    if (s && status != FUSION_SUCCESS) print_error("devices");
    fusion_disconnect(s);
    return status != FUSION_SUCCESS;
}

int command_status(const struct context *c, int argc, char **argv)
{
    bool raw = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !raw) return fprintf(stderr, "usage: fusion-inspect %s [--json]\n", argv[0]), 2;
    fusion_session *s = connect_or_say(c);
    char *text = NULL;
    if (s && fusion_session_status(s, &text) != FUSION_SUCCESS) print_error("status");
    json_object *json = text ? json_tokener_parse(text) : NULL;
    if (json && raw) puts(json_object_to_json_string_ext(json, JSON_C_TO_STRING_PRETTY));
    if (json && !raw) {
        json_object_object_foreach(json, key, value) printf("%-22s %s\n", key, json_object_to_json_string(value));
    }
    json_object_put(json);
    free(text);
    fusion_disconnect(s);
    return text ? 0 : 1;
}

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
}

static void print_on_device(const fusion_module *m, const char *kernel, const char *device)
{
    fusion_kernel_device_info i;
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

int command_module(const struct context *c, int argc, char **argv)
{
    bool ir = argc == 3 && strcmp(argv[1], "--ir") == 0;
    if (argc != 2 && !ir) return fprintf(stderr, "usage: fusion-inspect %s [--ir] FILE\n", argv[0]), 2;
    fusion_session *s = connect_or_say(c);
    if (!s) return 1;
    fusion_module *m;
    char *text = NULL;
    fusion_status status = fusion_module_load_file(s, argv[argc - 1], &m);
    if (status == FUSION_SUCCESS) status = print_kernels(s, m);
    if (status == FUSION_SUCCESS && ir) status = fusion_module_text(m, &text);
    if (status != FUSION_SUCCESS) print_error(argv[argc - 1]);
    if (text) printf("\n%s", text);
    free(text);
    fusion_disconnect(s);
    return status != FUSION_SUCCESS;
}
