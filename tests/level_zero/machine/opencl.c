#define CL_TARGET_OPENCL_VERSION 300
#include "tests/level_zero/machine/opencl.h"

#include <CL/cl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/level_zero/machine/translate.h"

struct opencl_program {
    cl_program program;
};

struct opencl_kernel {
    cl_kernel kernel;
    pthread_mutex_t arguments; /* are set and taken over by a launch under it */
};

static struct {
    bool reads_spirv;
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
} machine;

static uint64_t number(cl_device_info what, size_t size)
{
    uint64_t value = 0;
    clGetDeviceInfo(machine.device, what, size, &value, NULL);
    return value;
}

static bool says(cl_device_info what, const char *word)
{
    char text[4096] = "";
    clGetDeviceInfo(machine.device, what, sizeof text - 1, text, NULL);
    return strstr(text, word) != NULL;
}

static void ask(struct machine_facts *f)
{
    f->reads_spirv = says(CL_DEVICE_IL_VERSION, "SPIR-V");
    f->fp16 = says(CL_DEVICE_EXTENSIONS, "cl_khr_fp16");
    f->fp64 = says(CL_DEVICE_EXTENSIONS, "cl_khr_fp64");
    f->int64_atomics = says(CL_DEVICE_EXTENSIONS, "cl_khr_int64_base_atomics");
    f->sub_groups = says(CL_DEVICE_EXTENSIONS, "cl_khr_subgroups");
    f->work_group_functions = number(CL_DEVICE_WORK_GROUP_COLLECTIVE_FUNCTIONS_SUPPORT, sizeof(cl_bool)) != 0;
    f->memory = number(CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
    f->largest_allocation = number(CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
    f->compute_units = (uint32_t)number(CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
    f->clock = (uint32_t)number(CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint));
    f->local_memory = (uint32_t)number(CL_DEVICE_LOCAL_MEM_SIZE, sizeof(cl_ulong));
    f->largest_group = (uint32_t)number(CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t));
    f->cache = number(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, sizeof(cl_ulong));
}

/* Of PoCL, by its name: others may be installed, too. */
static bool find_device(void)
{
    enum { MAX = 16 };
    cl_platform_id all[MAX];
    cl_uint n = 0;
    if (clGetPlatformIDs(MAX, all, &n) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < n && i < MAX; i++) {
        char name[128] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language") != 0) continue;
        if (clGetDeviceIDs(all[i], CL_DEVICE_TYPE_CPU, 1, &machine.device, NULL) == CL_SUCCESS) return true;
    }
    return false;
}

bool opencl_start(struct machine_facts *facts)
{
    cl_int code;
    if (!find_device()) return false;
    machine.context = clCreateContext(NULL, 1, &machine.device, NULL, NULL, &code);
    if (code != CL_SUCCESS) return false;
    /* Out of order: launches of different queues of the driver do not wait for each other. */
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    machine.queue = clCreateCommandQueueWithProperties(machine.context, machine.device, properties, &code);
    if (code != CL_SUCCESS) return false;
    ask(facts);
    machine.reads_spirv = facts->reads_spirv;
    return true;
}

static char *build_log(cl_program program)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, machine.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = calloc(1, size + 1);
    if (text) clGetProgramBuildInfo(program, machine.device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    return text;
}

static cl_program create(const uint8_t *spirv, size_t size, char **log)
{
    cl_int code;
    cl_program program = NULL;
    if (machine.reads_spirv) {
        program = clCreateProgramWithIL(machine.context, spirv, size, &code);
        return code == CL_SUCCESS ? program : NULL;
    }
    size_t bitcode_size = 0;
    uint8_t *bitcode = translate_to_bitcode(spirv, size, &bitcode_size, log);
    if (!bitcode) return NULL;
    const unsigned char *bytes = bitcode;
    program = clCreateProgramWithBinary(machine.context, 1, &machine.device, &bitcode_size, &bytes, NULL, &code);
    free(bitcode);
    return code == CL_SUCCESS ? program : NULL;
}

struct opencl_program *opencl_build(const uint8_t *spirv, size_t size, char **log)
{
    *log = NULL;
    struct opencl_program *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->program = create(spirv, size, log);
    const char *options = machine.reads_spirv ? "" : "-x spir -spir-std=1.2";
    if (p->program && clBuildProgram(p->program, 1, &machine.device, options, NULL, NULL) == CL_SUCCESS) return p;
    if (p->program && !*log) *log = build_log(p->program);
    opencl_free_program(p);
    return NULL;
}

void opencl_free_program(struct opencl_program *p)
{
    if (p && p->program) clReleaseProgram(p->program);
    free(p);
}

struct opencl_kernel *opencl_kernel(struct opencl_program *p, const char *name)
{
    cl_int code;
    struct opencl_kernel *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->kernel = clCreateKernel(p->program, name, &code);
    pthread_mutex_init(&k->arguments, NULL);
    if (code == CL_SUCCESS) return k;
    opencl_free_kernel(k);
    return NULL;
}

void opencl_free_kernel(struct opencl_kernel *k)
{
    if (!k) return;
    if (k->kernel) clReleaseKernel(k->kernel);
    pthread_mutex_destroy(&k->arguments);
    free(k);
}

uint64_t opencl_local_memory(const struct opencl_kernel *k)
{
    cl_ulong bytes = 0;
    clGetKernelWorkGroupInfo(k->kernel, machine.device, CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes, &bytes, NULL);
    return bytes;
}

static cl_int set_argument(cl_kernel kernel, uint32_t i, const struct machine_sent_argument *a)
{
    if (a->kind == SPIRV_LOCAL_POINTER) return clSetKernelArg(kernel, i, a->size, NULL);
    if (a->kind != SPIRV_GLOBAL_POINTER) return clSetKernelArg(kernel, i, a->size, a->bytes);
    void *address;
    memcpy(&address, a->bytes, sizeof address);
    return clSetKernelArgSVMPointer(kernel, i, address);
}

static cl_int set_arguments(cl_kernel kernel, const struct machine_channel *launch)
{
    cl_int code = CL_SUCCESS;
    size_t at = 0;
    for (uint32_t i = 0; code == CL_SUCCESS && i < launch->n_arguments; i++) {
        const struct machine_sent_argument *a = (const struct machine_sent_argument *)(launch->text + at);
        code = set_argument(kernel, i, a);
        at += machine_sent_bytes(a->kind == SPIRV_LOCAL_POINTER ? 0 : a->size);
    }
    return code;
}

static cl_int enqueue(struct opencl_kernel *k, const struct machine_channel *launch, cl_event *done)
{
    size_t global[3], local[3], offset[3];
    for (unsigned d = 0; d < 3; d++) {
        local[d] = launch->range.group_size[d];
        global[d] = (size_t)launch->range.groups[d] * local[d];
        offset[d] = launch->range.offset[d];
    }
    pthread_mutex_lock(&k->arguments);
    cl_int code = set_arguments(k->kernel, launch);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(machine.queue, k->kernel, 3, offset, global, local, 0, NULL, done);
    pthread_mutex_unlock(&k->arguments);
    return code;
}

bool opencl_run(struct opencl_kernel *k, const struct machine_channel *launch)
{
    cl_event done;
    if (enqueue(k, launch, &done) != CL_SUCCESS) return false;
    clFlush(machine.queue);
    bool good = clWaitForEvents(1, &done) == CL_SUCCESS;
    clReleaseEvent(done);
    return good;
}
