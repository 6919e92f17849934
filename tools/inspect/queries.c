/* fusion-inspect devices and status. */
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/load.h"

static void print_device(const fusion_device_info *d)
{
    printf("%s\n  %s\n  target: %s\n  aspects: %s\n  extensions: %s\n  compute units: %" PRIu32
           "\n  max work-group size: %" PRIu64 "\n  local memory: %" PRIu64 " bytes\n  sub-group sizes:",
           d->name, d->description, d->target, d->aspects, d->extensions, d->compute_units, d->max_work_group_size,
           d->local_memory_bytes);
    for (uint32_t i = 0; i < d->n_sub_group_sizes; i++) printf(" %" PRIu32, d->sub_group_sizes[i]);
    printf(" (primary %" PRIu32 ", at most %" PRIu32 " sub-groups, %s independent forward progress)\n",
           d->primary_sub_group_size, d->max_num_sub_groups,
           d->sub_group_independent_forward_progress ? "with" : "without");
    if (d->image_max_width)
        printf("  images: up to %" PRIu32 " x %" PRIu32 " pixels, %" PRIu32 " slices or layers; of a buffer %" PRIu32
               " pixels\n",
               d->image_max_width, d->image_max_height, d->image_max_slices, d->image_max_buffer_size);
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
    char name[64], reason[256];
    for (uint32_t i = 0; status == FUSION_SUCCESS && fusion_device_absent(s, i, name, reason) == FUSION_SUCCESS; i++)
        printf("%s\n  absent: %s\n", name, reason);
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
