/*
 * The table of sub-group functions, written as SPIR-V: in the kernel dialect, read again and interpreted; and
 * dispatched on the device of Vulkan, or of Level Zero, that is there. Against the table's model.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuser/spirv/abi/abi.h"
#include "fuser/spirv/writer.h"
#include "ir/spirv/spirv.h"
#include "tests/spirv_out/dispatch.h"
#include "tests/spirv_out/records.h"
#include "tests/support/sub_group_table.h"

enum { KERNEL_WAY, DEVICE_WAY, MAX_ARGS = 16 };
/* Drivers take a tenth of a second for a kernel, and there are thousands: so many-th cases are run at one size, and
   those between at another, which the device may not have. FUSIOND_TEST_WHOLE runs all of them. */
enum { FEW = 8, LARGEST_EXCHANGE = 32, MOST_LANES = 1 };

static struct dispatcher *device;
static bool all; /* cases */

/* Halves are for devices that have them. PoCL takes seconds for a kernel with many barriers, which exchanges are. */
static bool device_takes(unsigned number, unsigned lanes)
{
    bool halves = strstr(sub_group_table_name(number), "half");
    if (halves && !(dispatch_target(device)->features & SPIRV_FLOAT16)) return false;
    return all || !*dispatch_pocl(device) || lanes <= MOST_LANES;
}

static bool takes(unsigned way, unsigned number, uint32_t size, unsigned lanes)
{
    if (way == DEVICE_WAY && !device_takes(number, lanes)) return false;
    if (all) return way != DEVICE_WAY || size <= LARGEST_EXCHANGE;
    static const uint32_t others[] = {1, 4, 16, LARGEST_EXCHANGE};
    if (number % FEW == FEW / 2) return size == others[number / FEW % 4];
    if (number % FEW != 0) return false;
    return size == (way == DEVICE_WAY ? dispatch_target(device)->sub_group : 16);
}

static bool written(const struct ir_function *f, const struct spirv_target *target, struct spirv_module *m)
{
    struct diag_list list = {0};
    int result = spirv_write(f, target, m, &list);
    char *text = result ? diag_format(&list) : NULL;
    if (text) fprintf(stderr, "# %s: %s", f->name, text);
    free(text);
    diag_clear(&list);
    return result == 0;
}

static bool run_again(const struct spirv_module *m, const char *name, const struct nd_range *range,
                      const struct interp_arg *args, uint32_t size)
{
    struct diag_list list = {0};
    struct interp_options options = {.sub_group_size = size};
    struct interp_result result = {0};
    struct records r;
    struct ir_module *back = ir_read_spirv(m->words, m->n_words * sizeof *m->words, "back", &list);
    const struct ir_function *f = back ? ir_module_find(back, name) : NULL;
    bool good = f != NULL;
    if (good) {
        records_open(&r, args, f);
        options.finder = &r.finder;
        good = interp_run(f, range, r.args, &options, &result) == 0 && result.n_findings == 0;
        records_close(&r);
    }
    interp_result_clear(&result);
    ir_module_free(back);
    diag_clear(&list);
    return good;
}

static void *host_memory(const struct interp_arg *a)
{
    return a->kind == INTERP_ARG_IMAGE ? ((const struct ir_image *)a->data)->data : a->data;
}

static uint64_t host_bytes(const struct interp_arg *a)
{
    return a->kind == INTERP_ARG_IMAGE ? record_image_bytes(a->data) : a->size;
}

/* Gives where the record is. */
static uint64_t put_image(const struct ir_image *image, const struct interp_arg *a, void **texels)
{
    uint64_t data = 0, address = 0;
    *texels = dispatch_memory(device, host_bytes(a), &data);
    memcpy(*texels, image->data, host_bytes(a));
    record_fill(a, data, dispatch_memory(device, record_bytes(a), &address));
    return address;
}

/* Buffers go to the device and come back. */
static bool run_on_device(const struct spirv_module *m, const struct ir_function *f, const struct nd_range *range,
                          const struct interp_arg *args)
{
    uint32_t offsets[MAX_ARGS], local = 0, own = dispatch_own_local(device, m, range);
    void *copies[MAX_ARGS] = {0};
    uint8_t *block = calloc(1, m->args_size + 8);
    dispatch_reset(device);
    ir_param_layout(f, offsets);
    for (uint32_t i = 0; i < f->n_params; i++) {
        uint64_t word = own + local;
        if (args[i].kind == INTERP_ARG_BUFFER) {
            copies[i] = dispatch_memory(device, args[i].size, &word);
            memcpy(copies[i], args[i].data, args[i].size);
        }
        if (args[i].kind == INTERP_ARG_IMAGE) word = put_image(args[i].data, &args[i], &copies[i]);
        bool inside = args[i].kind == INTERP_ARG_BYTES;
        memcpy(block + offsets[i], inside ? args[i].data : &word, inside ? args[i].size : sizeof word);
        if (args[i].kind == INTERP_ARG_LOCAL)
            local += (uint32_t)((args[i].size + SPIRV_BLOCK_ALIGN - 1) / SPIRV_BLOCK_ALIGN * SPIRV_BLOCK_ALIGN);
    }
    bool good = dispatch_run(device, m, range, block, local, 1);
    for (uint32_t i = 0; i < f->n_params; i++)
        if (copies[i]) memcpy(host_memory(&args[i]), copies[i], host_bytes(&args[i]));
    free(block);
    return good;
}

static bool run(unsigned way, const struct ir_function *f, const struct nd_range *range, const struct interp_arg *args,
                uint32_t *size)
{
    struct spirv_module m;
    uint32_t own = f->sub_group_size, device_size = way == DEVICE_WAY ? dispatch_target(device)->sub_group : 32;
    *size = own && own < IR_SUB_GROUP_AUTOMATIC ? own : device_size;
    if (!written(f, way == DEVICE_WAY ? dispatch_target(device) : &spirv_target_kernel, &m)) return false;
    bool good = way == DEVICE_WAY ? run_on_device(&m, f, range, args) : run_again(&m, f->name, range, args, *size);
    spirv_module_clear(&m);
    return good;
}

int main(void)
{
    all = getenv("FUSIOND_TEST_WHOLE") != NULL;
    device = dispatch_open();
    struct sub_group_runner runner = {"test_sub_groups_written", device ? 2 : 1, run, takes, NULL};
    int status = sub_group_table_main(&runner);
    dispatch_close(device);
    return status;
}
