/* What each device makes of a kernel. */
#include "daemon/compiler/kernel_query.h"

#include "daemon/compiler/devices.h"
#include "proto/writer.h"

/* ---- work-groups and memory ---- */

static uint64_t required_items(const struct ir_function *kernel)
{
    uint64_t items = 1;
    for (unsigned d = 0; d < 3; d++) items *= kernel->work_group_size[d];
    return items; /* 0: none required */
}

/* The size the kernel gets; 0: the device lacks the one it asks for. */
static uint32_t sub_group_size(const struct fuser_device *device, uint32_t asked)
{
    if (!asked || asked == IR_SUB_GROUP_AUTOMATIC || asked == IR_SUB_GROUP_PRIMARY)
        return device->primary_sub_group_size;
    for (uint32_t i = 0; i < device->n_sub_group_sizes; i++)
        if (device->sub_group_sizes[i] == asked) return asked;
    return 0;
}

static uint64_t max_work_group(const struct fuser_device *device, const struct ir_function *kernel)
{
    uint64_t required = required_items(kernel);
    if (!required)
        required = (uint64_t)kernel->sub_groups_per_work_group * sub_group_size(device, kernel->sub_group_size);
    return required ? required : device->max_work_group_size;
}

struct variables {
    const struct ir_module *module;
    uint64_t bytes;
};

static void add_variable(struct ir_inst *inst, void *data)
{
    struct variables *v = data;
    if (inst->op == IR_OP_VAR) v->bytes += ir_type_size(v->module, inst->type);
}

/* Of the variables in the source; values in registers are not counted. */
static uint64_t private_bytes(const struct access_analysis *a)
{
    struct variables v = {.module = a->kernel->module};
    ir_walk(a->kernel->body, add_variable, &v);
    return v.bytes;
}

/* ---- sub-groups ---- */

/* No attribute stands for primary. */
static uint32_t compile_sub_group_size(const struct fuser_device *device, uint32_t asked)
{
    if (asked == IR_SUB_GROUP_AUTOMATIC) return 0;
    return asked && asked != IR_SUB_GROUP_PRIMARY ? asked : device->primary_sub_group_size;
}

static uint64_t sub_groups_of(uint64_t items, uint32_t size)
{
    return size ? (items + size - 1) / size : 0;
}

/* What the kernel says, or what follows from both sizes where it says them: primary is a size, and no attribute is
   primary; automatic is none. */
static uint64_t compile_num_sub_groups(const struct ir_function *kernel, uint32_t size)
{
    if (kernel->sub_groups_per_work_group) return kernel->sub_groups_per_work_group;
    return kernel->sub_group_size == IR_SUB_GROUP_AUTOMATIC ? 0 : sub_groups_of(required_items(kernel), size);
}

static void pack_device(struct proto_writer *w, const struct fuser_device *device, const struct ir_function *kernel,
                        const struct access_analysis *a)
{
    uint32_t size = sub_group_size(device, kernel->sub_group_size);
    proto_pack_map(w, 9);
    proto_pack_string(w, "device", device->name);
    proto_pack_uint(w, "max_work_group_size", max_work_group(device, kernel));
    proto_pack_uint(w, "preferred_work_group_size_multiple", size ? size : 1);
    proto_pack_uint(w, "local_memory_bytes", a->local_bytes);
    proto_pack_uint(w, "private_memory_bytes", private_bytes(a));
    proto_pack_uint(w, "max_num_sub_groups", sub_groups_of(max_work_group(device, kernel), size));
    proto_pack_uint(w, "compile_num_sub_groups", compile_num_sub_groups(kernel, size));
    proto_pack_uint(w, "max_sub_group_size", size);
    proto_pack_uint(w, "compile_sub_group_size", compile_sub_group_size(device, kernel->sub_group_size));
}

void kernel_query_pack(struct proto_writer *w, const struct ir_function *kernel, const struct access_analysis *a)
{
    proto_pack_key(w, "devices");
    msgpack_pack_array(&w->packer, devices_count());
    for (unsigned i = 0; i < devices_count(); i++) pack_device(w, &devices_get(i)->properties, kernel, a);
}
