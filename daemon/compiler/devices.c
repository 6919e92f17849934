/* The devices: cpu, for which code is generated, reference, which interprets and checks, those that are configured for
   tests, and a GPU. */
#include "daemon/compiler/devices.h"

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/compiler/configured_devices.h"
#include "daemon/compiler/gpu_compile.h"
#include "daemon/compiler/pack.h"
#include "daemon/gpu/architecture.h"
#include "daemon/gpu/description.h"
#include "daemon/gpu/properties.h"
#include "ir/core/aspects.h"
#include "proto/limits.h"
#include "proto/writer.h"

enum { MAX_WORK_GROUP = 4096, LOCAL_BYTES = 256 << 10, LEAST_CACHE = 2 << 20, MOST_CACHE = 16 << 20 };

enum { CPU, REFERENCE };
static struct device devices[MAX_DEVICES];
static unsigned n_devices;
static char cache_target[sizeof((struct cpu_target *)0)->text + 32];
static struct device gpu_device; /* with a name, once there is one */
static struct gpu_description gpu;
static struct cpu_target cpu_target;
static enum cpu_effort cpu_effort;

/* What the memory model and the service give every device. */
static const uint64_t common_aspects = IR_ASPECT_CPU | IR_ASPECT_ONLINE_COMPILER | IR_ASPECT_USM_DEVICE |
                                       IR_ASPECT_USM_HOST | IR_ASPECT_USM_SHARED | IR_ASPECT_GRAPH_FUSION;
/* What code generation does. */
static const uint64_t cpu_aspects = IR_ASPECT_FP16 | IR_ASPECT_FP64 | IR_ASPECT_IMAGE | IR_ASPECT_SUB_GROUPS |
                                    IR_ASPECT_ATOMIC64 | IR_ASPECT_FLOAT_ATOMICS | IR_ASPECT_GENERIC_SPACE |
                                    IR_ASPECT_PIPES;

static uint32_t available_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* FUSIOND_ISA lowers what code is made for: to test a lesser machine on a better one. */
static enum cpu_isa isa_limit(void)
{
    const char *wanted = getenv("FUSIOND_ISA");
    for (int isa = 0; wanted && isa < CPU_ISA_COUNT; isa++)
        if (strcmp(wanted, cpu_isa_name((enum cpu_isa)isa)) == 0) return (enum cpu_isa)isa;
    return CPU_ISA_COUNT - 1;
}

/* FUSIOND_EFFORT lowers what is made of kernels: to test what only large ones get on small ones. */
static enum cpu_effort effort_limit(void)
{
    const char *wanted = getenv("FUSIOND_EFFORT");
    for (int effort = 0; wanted && effort <= CPU_EFFORT_NONE; effort++)
        if (strcmp(wanted, cpu_effort_name((enum cpu_effort)effort)) == 0) return (enum cpu_effort)effort;
    return CPU_EFFORT_FULL;
}

/* Half of the last cache, which others use, too. Virtual machines are told of all caches that their host has, of which
 * a core reaches one. */
static uint64_t usual_cache(void)
{
    long last = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (last / 2 < LEAST_CACHE) return LEAST_CACHE;
    return last / 2 < MOST_CACHE ? (uint64_t)last / 2 : MOST_CACHE;
}

/* FUSIOND_CACHE lowers the bytes that are taken to stay near the cores: to test with small images what large ones get.
 */
static uint64_t cache_limit(void)
{
    const char *wanted = getenv("FUSIOND_CACHE");
    uint64_t bytes = wanted ? strtoull(wanted, NULL, 10) : usual_cache();
    return bytes < usual_cache() ? bytes : usual_cache();
}

/* What each core has for itself. */
static uint64_t own_cache(void)
{
    long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
    return bytes > 0 ? (uint64_t)bytes : LEAST_CACHE / 2;
}

static void set_sub_groups(struct fuser_device *d, const uint32_t *sizes)
{
    for (uint32_t i = 0; sizes[i]; i++) d->sub_group_sizes[d->n_sub_group_sizes++] = sizes[i];
    d->primary_sub_group_size = CPU_PRIMARY_SUB_GROUP_SIZE; /* on every device: what a kernel gives is the same */
}

static void add_target(struct fuser_device *d, const char *name)
{
    d->targets[d->n_targets++] = name;
}

static void init_reference(struct device *d)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 0};
    *d = (struct device){
        .properties = {.name = "reference",
                       .aspects = common_aspects | cpu_aspects,
                       .max_work_group_size = MAX_WORK_GROUP,
                       .max_local_bytes = LOCAL_BYTES,
                       .fma = cpu_target.isa >= CPU_ISA_AVX2, /* as the cpu: the same results */
                       .can_fuse = true},
        .description = "Interpreter: slow, reports out-of-bounds accesses, unwritten memory and data races",
        .target = "interpreter",
        .compute_units = 1,
        .runs_as = "reference",
    };
    set_sub_groups(&d->properties, sizes);
    add_target(&d->properties, "spir64");
}

/* What code may be fixed to and runs here: each instruction set up to this machine's. */
static void add_cpu_targets(struct fuser_device *d)
{
    static const struct {
        enum cpu_isa isa;
        const char *name;
    } targets[] = {{CPU_ISA_SSE4, "x86_64_sse4"}, {CPU_ISA_AVX2, "x86_64_avx2"}, {CPU_ISA_AVX512, "x86_64_avx512"}};
    add_target(d, "spir64");
    add_target(d, "x86_64");
    for (unsigned i = 0; i < sizeof targets / sizeof *targets; i++)
        if (cpu_target.isa >= targets[i].isa) add_target(d, targets[i].name);
}

static void init_cpu(struct device *d)
{
    cpu_target = cpu_target_host(isa_limit());
    cpu_effort = effort_limit();
    size_t used = strlen(cpu_target.text);
    if (cpu_effort != CPU_EFFORT_FULL)
        snprintf(cpu_target.text + used, sizeof cpu_target.text - used, " %s", cpu_effort_name(cpu_effort));
    used = strlen(cpu_target.text);
    if (cache_limit() != usual_cache())
        snprintf(cpu_target.text + used, sizeof cpu_target.text - used, " cache %llu",
                 (unsigned long long)cache_limit());
    *d = (struct device){
        .properties = {.name = "cpu",
                       .aspects = common_aspects | cpu_aspects,
                       .max_work_group_size = MAX_WORK_GROUP,
                       .max_local_bytes = LOCAL_BYTES,
                       .register_bytes = cpu_register_bytes(cpu_target.isa),
                       .machine = {.cache_bytes = cache_limit(), .own_bytes = own_cache(), .cores = available_cores()},
                       .fma = cpu_target.isa >= CPU_ISA_AVX2,
                       .last_groups = true,
                       .can_fuse = true},
        .description = "The processor's cores, through libgccjit",
        .compute_units = available_cores(),
        .check = cpu_check,
        .runs_as = "cpu",
    };
    snprintf(d->target, sizeof d->target, "%s", cpu_target.text);
    set_sub_groups(&d->properties, cpu_sub_group_sizes());
    add_cpu_targets(&d->properties);
}

static bool is_measured(const struct cost_machine *m)
{
    return m->operations && m->bytes && m->launch_ns;
}

/* FUSIOND_MACHINE=usual: no figures are measured or taken, so that plans are the same on every machine. */
bool devices_take_figures(const void *bytes, size_t size)
{
    const char *wanted = getenv("FUSIOND_MACHINE");
    struct fuser_device *d = &devices[CPU].properties;
    if (wanted && strcmp(wanted, "usual") == 0) return false;
    if (bytes && cost_figures_read(&d->machine, bytes, size)) return true;
    if (!is_measured(&d->machine))
        cost_measure(&d->machine, cpu_target.isa >= CPU_ISA_AVX512 ? 16 : cpu_target.isa >= CPU_ISA_AVX2 ? 8 : 4);
    return is_measured(&d->machine);
}

bool devices_init(void)
{
    const char *path = getenv("FUSIOND_DEVICES");
    init_cpu(&devices[CPU]);
    init_reference(&devices[REFERENCE]);
    n_devices = REFERENCE + 1;
    int used = snprintf(cache_target, sizeof cache_target, "%s", cpu_target.text);
    if (!path) return true;
    int n = configured_devices(path, devices, n_devices, MAX_DEVICES);
    if (n < 0) return false;
    snprintf(cache_target + used, sizeof cache_target - (size_t)used, " devices %016" PRIx64,
             configured_devices_hash(devices + n_devices, (unsigned)n - n_devices));
    n_devices = (unsigned)n;
    return true;
}

unsigned devices_count(void)
{
    return n_devices;
}

const char *devices_cache_target(void)
{
    return cache_target;
}

static bool gpu_check(const struct ir_function *kernel, struct diag_list *findings)
{
    return gpu_can_compile(kernel, &gpu, findings);
}

static bool fuses(uint64_t features)
{
    return features & SPIRV_FMA32 && (features & SPIRV_FMA64 || !(features & SPIRV_FLOAT64));
}

/* As many 32-bit registers for each work-item as let all be there at a time that a GPU has room for; eight times as
   many (256) is the most that one can have. */
enum { GPU_REGISTER_BYTES = 32 * 4 };

bool devices_add_gpu(const void *description, size_t size)
{
    if (!gpu_description_decode(&gpu, description, size)) return false;
    gpu_device = (struct device){
        .properties = {.name = gpu.device,
                       .aspects = gpu_aspects(&gpu),
                       .max_work_group_size = gpu.max_work_group_size,
                       .max_local_bytes = gpu.max_local_bytes,
                       .primary_sub_group_size = gpu.target.sub_group,
                       .register_bytes = GPU_REGISTER_BYTES,
                       .fma = fuses(gpu.target.features),
                       .is_gpu = true,
                       .can_fuse = true},
        .description = gpu.name,
        .compute_units = gpu.compute_units,
        .check = gpu_check,
        .gpu = &gpu,
        .runs_as = gpu.device,
    };
    const char *names[GPU_MAX_TARGETS];
    uint32_t n = gpu_architecture_names(gpu.architecture, names);
    add_target(&gpu_device.properties, "spir64");
    for (uint32_t i = 0; i < n; i++) add_target(&gpu_device.properties, names[i]);
    gpu_target_text(&gpu, gpu_device.target, sizeof gpu_device.target);
    gpu_device.properties.n_sub_group_sizes = gpu_sub_group_sizes(&gpu, gpu_device.properties.sub_group_sizes);
    return true;
}

const struct device *devices_gpu(void)
{
    return gpu_device.gpu ? &gpu_device : NULL;
}

const struct device *devices_get(unsigned index)
{
    return index < n_devices ? &devices[index] : NULL;
}

const struct device *devices_find(const char *name)
{
    for (unsigned i = 0; i < n_devices; i++)
        if (strcmp(devices[i].properties.name, name) == 0) return &devices[i];
    if (gpu_device.gpu && strcmp(gpu.device, name) == 0) return &gpu_device;
    return NULL;
}

const struct device *devices_debugger(void)
{
    return &devices[REFERENCE];
}

const struct cpu_target *devices_cpu_target(void)
{
    return &cpu_target;
}

enum cpu_effort devices_cpu_effort(void)
{
    return cpu_effort;
}

static void pack_sub_groups(struct proto_writer *w, const struct device *d)
{
    const struct fuser_device *p = &d->properties;
    proto_pack_uint(w, "max_num_sub_groups", p->n_sub_group_sizes ? p->max_work_group_size / p->sub_group_sizes[0] : 0);
    proto_pack_uint(w, "primary_sub_group_size", p->primary_sub_group_size);
    proto_pack_key(w, "sub_group_sizes");
    msgpack_pack_array(&w->packer, p->n_sub_group_sizes);
    for (uint32_t i = 0; i < p->n_sub_group_sizes; i++) msgpack_pack_uint32(&w->packer, p->sub_group_sizes[i]);
    proto_pack_bool(w, "sub_group_independent_forward_progress", d->independent_forward_progress);
}

static void pack_extensions(struct proto_writer *w, uint64_t aspects)
{
    unsigned n = 0;
    for (unsigned i = 0; ir_extension_next(&i, aspects);) n++;
    proto_pack_key(w, "extensions");
    msgpack_pack_array(&w->packer, n);
    const char *name;
    for (unsigned i = 0; (name = ir_extension_next(&i, aspects));)
        msgpack_pack_str_with_body(&w->packer, name, strlen(name));
}

void devices_pack(struct proto_writer *w, const struct device *d)
{
    const struct fuser_device *p = &d->properties;
    uint64_t side = p->aspects & IR_ASPECT_IMAGE ? PROTO_MAX_IMAGE_SIDE : 0;
    proto_pack_map(w, 16);
    proto_pack_string(w, "name", p->name);
    proto_pack_string(w, "description", d->description);
    proto_pack_string(w, "target", d->target);
    pack_aspects(w, p->aspects);
    pack_extensions(w, p->aspects);
    proto_pack_uint(w, "max_work_group_size", p->max_work_group_size);
    proto_pack_uint(w, "local_memory_bytes", p->max_local_bytes);
    proto_pack_uint(w, "compute_units", d->compute_units);
    pack_sub_groups(w, d);
    proto_pack_uint(w, "image_max_width", side);
    proto_pack_uint(w, "image_max_height", side);
    proto_pack_uint(w, "image_max_slices", side);
    proto_pack_uint(w, "image_max_buffer_size", side ? PROTO_MAX_IMAGE_BUFFER : 0);
}
