/* fusion-inspect devices. */
#include <inttypes.h>
#include <json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/inspect/commands.h"
#include "tools/inspect/graph/load.h"
#include "tools/inspect/terminal/complain.h"
#include "tools/inspect/terminal/json.h"
#include "tools/inspect/terminal/usage.h"

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

/* Words separated by one space. */
static json_object *words_json(const char *text)
{
    json_object *list = json_object_new_array();
    for (size_t n; *text; text += n + (text[n] == ' ')) {
        n = strcspn(text, " ");
        if (n) json_object_array_add(list, json_object_new_string_len(text, (int)n));
    }
    return list;
}

static void add_number(json_object *o, const char *key, uint64_t value)
{
    json_object_object_add(o, key, json_object_new_int64((int64_t)value));
}

static json_object *device_json(const fusion_device_info *d)
{
    json_object *o = json_object_new_object(), *sizes = json_object_new_array();
    json_object_object_add(o, "name", json_object_new_string(d->name));
    json_object_object_add(o, "description", json_object_new_string(d->description));
    json_object_object_add(o, "target", json_object_new_string(d->target));
    json_object_object_add(o, "aspects", words_json(d->aspects));
    json_object_object_add(o, "extensions", words_json(d->extensions));
    add_number(o, "compute_units", d->compute_units);
    add_number(o, "max_work_group_size", d->max_work_group_size);
    add_number(o, "local_memory_bytes", d->local_memory_bytes);
    for (uint32_t i = 0; i < d->n_sub_group_sizes; i++)
        json_object_array_add(sizes, json_object_new_int64(d->sub_group_sizes[i]));
    json_object_object_add(o, "sub_group_sizes", sizes);
    add_number(o, "primary_sub_group_size", d->primary_sub_group_size);
    add_number(o, "max_num_sub_groups", d->max_num_sub_groups);
    json_object_object_add(o, "sub_group_independent_forward_progress",
                           json_object_new_boolean(d->sub_group_independent_forward_progress));
    add_number(o, "image_max_width", d->image_max_width);
    add_number(o, "image_max_height", d->image_max_height);
    add_number(o, "image_max_slices", d->image_max_slices);
    add_number(o, "image_max_buffer_size", d->image_max_buffer_size);
    return o;
}

static json_object *absent_json(const char *name, const char *reason)
{
    json_object *o = json_object_new_object();
    json_object_object_add(o, "name", json_object_new_string(name));
    json_object_object_add(o, "absent", json_object_new_string(reason));
    return o;
}

/* list: NULL for text. */
static fusion_status tell_devices(fusion_session *s, json_object *list)
{
    uint32_t n = 0;
    char name[64], reason[256];
    fusion_device_info info = {FUSION_SIZED(fusion_device_info)};
    fusion_status status = fusion_device_count(s, &n);
    for (uint32_t i = 0; i < n && status == FUSION_SUCCESS; i++) {
        status = fusion_device_get(s, i, &info);
        if (status == FUSION_SUCCESS && list) json_object_array_add(list, device_json(&info));
        if (status == FUSION_SUCCESS && !list) print_device(&info);
    }
    for (uint32_t i = 0; status == FUSION_SUCCESS && fusion_device_absent(s, i, name, reason) == FUSION_SUCCESS; i++)
        if (list)
            json_object_array_add(list, absent_json(name, reason));
        else
            printf("%s\n  absent: %s\n", name, reason);
    return status;
}

int command_devices(const struct context *c, int argc, char **argv)
{
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc != 1 && !json) return usage_of(argc, argv, "[--json]", (const char *const[]){"--json", NULL});
    if (json) complain_as_json();
    fusion_session *s = connect_or_say(c);
    json_object *list = json ? json_object_new_array() : NULL;
    fusion_status status = s ? tell_devices(s, list) : FUSION_CONNECTION;
    if (s && status != FUSION_SUCCESS) print_error("devices");
    if (status == FUSION_SUCCESS && json) print_json(list);
    json_object_put(list);
    fusion_disconnect(s);
    return status != FUSION_SUCCESS;
}
