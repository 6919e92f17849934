/* Runs kernels on the first OpenCL device there is. */
#define CL_TARGET_OPENCL_VERSION 210
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "tests/corpus/corpus.h"

struct pocl {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
};

static bool good(cl_int code, const char *what, const char *object)
{
    if (code != CL_SUCCESS) fprintf(stderr, "# PoCL: %s of %s: error %d\n", what, object, code);
    return code == CL_SUCCESS;
}

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0) return NULL;
    *size = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = arena_realloc(NULL, *size + 1);
    if (fread(bytes, 1, *size, f) != *size) *size = 0;
    fclose(f);
    return bytes;
}

/* Why a program cannot be built, in the device's words. */
static void print_log(struct pocl *p)
{
    size_t size = 0;
    clGetProgramBuildInfo(p->program, p->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *text = arena_realloc(NULL, size + 1);
    clGetProgramBuildInfo(p->program, p->device, CL_PROGRAM_BUILD_LOG, size, text, NULL);
    text[size] = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) fprintf(stderr, "# PoCL: %s\n", line);
    free(text);
}

/* Whether the device reads SPIR-V; others take bitcode in SPIR form. */
static bool reads_spirv(const struct pocl *p)
{
    char versions[256] = "";
    clGetDeviceInfo(p->device, CL_DEVICE_IL_VERSION, sizeof versions, versions, NULL);
    return strstr(versions, "SPIR-V") != NULL;
}

/* PATH.spv or PATH.bc: the same module. */
static bool build(struct pocl *p, const char *path)
{
    bool spirv = reads_spirv(p);
    char *file = arena_realloc(NULL, strlen(path) + sizeof ".spv");
    sprintf(file, "%s%s", path, spirv ? ".spv" : ".bc");
    size_t size = 0;
    uint8_t *bytes = read_file(file, &size);
    const unsigned char *binary = bytes;
    cl_int code = CL_INVALID_BINARY;
    if (bytes && spirv) p->program = clCreateProgramWithIL(p->context, bytes, size, &code);
    if (bytes && !spirv) p->program = clCreateProgramWithBinary(p->context, 1, &p->device, &size, &binary, NULL, &code);
    free(bytes);
    bool created = good(code, spirv ? "clCreateProgramWithIL" : "clCreateProgramWithBinary", file);
    free(file);
    if (!created) return false;
    code = clBuildProgram(p->program, 1, &p->device, spirv ? "" : "-x spir -spir-std=1.2", NULL, NULL);
    if (code != CL_SUCCESS) print_log(p);
    return good(code, "clBuildProgram", path);
}

/* By its name: others may be installed, too. */
static cl_int find_platform(cl_platform_id *platform)
{
    enum { MAX = 16 };
    cl_platform_id all[MAX];
    cl_uint n = 0;
    cl_int code = clGetPlatformIDs(MAX, all, &n);
    for (cl_uint i = 0; code == CL_SUCCESS && i < n && i < MAX; i++) {
        char name[128] = "";
        clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name, name, NULL);
        if (strcmp(name, "Portable Computing Language") != 0) continue;
        *platform = all[i];
        return CL_SUCCESS;
    }
    return code == CL_SUCCESS ? CL_INVALID_PLATFORM : code;
}

static bool start(struct pocl *p, const char *path)
{
    cl_platform_id platform;
    cl_int code;
    if (!good(find_platform(&platform), "clGetPlatformIDs", path)) return false;
    if (!good(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &p->device, NULL), "clGetDeviceIDs", path)) return false;
    p->context = clCreateContext(NULL, 1, &p->device, NULL, NULL, &code);
    if (!good(code, "clCreateContext", path)) return false;
    p->queue = clCreateCommandQueue(p->context, p->device, 0, &code);
    return good(code, "clCreateCommandQueue", path) && build(p, path);
}

/* Not clCreateSamplerWithProperties(), which 1.2 has not. */
static cl_int set_sampler(struct pocl *p, cl_kernel kernel, uint32_t i, uint32_t bits)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP_TO_EDGE, CL_ADDRESS_CLAMP,
                                               CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
    cl_int code;
    cl_sampler sampler =
        clCreateSampler(p->context, bits & IR_SAMPLER_NORMALIZED, modes[(bits & IR_SAMPLER_ADDRESS) / 2],
                        bits & IR_SAMPLER_LINEAR ? CL_FILTER_LINEAR : CL_FILTER_NEAREST, &code);
    if (code != CL_SUCCESS) return code;
    code = clSetKernelArg(kernel, i, sizeof sampler, &sampler);
    return code; /* it lives as long as the process, which is short */
}

/* The buffer of an image of one lives as long as the process. */
static cl_mem make_image(struct pocl *p, const struct corpus_arg *a, uint8_t *data, cl_int *code)
{
    static const cl_mem_object_type types[] = {
        [IR_IMAGE_2D] = CL_MEM_OBJECT_IMAGE2D,
        [IR_IMAGE_1D] = CL_MEM_OBJECT_IMAGE1D,
        [IR_IMAGE_1D_ARRAY] = CL_MEM_OBJECT_IMAGE1D_ARRAY,
        [IR_IMAGE_1D_BUFFER] = CL_MEM_OBJECT_IMAGE1D_BUFFER,
        [IR_IMAGE_2D_ARRAY] = CL_MEM_OBJECT_IMAGE2D_ARRAY,
        [IR_IMAGE_3D] = CL_MEM_OBJECT_IMAGE3D,
    };
    const struct ir_image *image = &a->image;
    bool array = ir_image_is_array(a->form), buffer = a->form == IR_IMAGE_1D_BUFFER;
    cl_image_format format = {image->channel_order, image->channel_type};
    cl_image_desc description = {.image_type = types[a->form],
                                 .image_width = image->width,
                                 .image_height = image->height,
                                 .image_depth = array ? 0 : image->slices,
                                 .image_array_size = array ? image->slices : 0};
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    if (!buffer) return clCreateImage(p->context, flags, &format, &description, data, code);
    description.buffer = clCreateBuffer(p->context, flags, a->size, data, code);
    return clCreateImage(p->context, CL_MEM_READ_WRITE, &format, &description, NULL, code);
}

static cl_int read_back(struct pocl *p, const struct corpus_arg *a, cl_mem memory, uint8_t *data)
{
    size_t origin[3] = {0}, region[3] = {a->image.width, a->image.height, ir_image_slices(&a->image)};
    if (a->form == IR_IMAGE_1D_ARRAY) { /* its layers are counted where others have rows */
        region[1] = region[2];
        region[2] = 1;
    }
    if (a->kind == INTERP_ARG_IMAGE)
        return clEnqueueReadImage(p->queue, memory, CL_TRUE, origin, region, 0, 0, data, 0, NULL, NULL);
    return clEnqueueReadBuffer(p->queue, memory, CL_TRUE, 0, a->size, data, 0, NULL, NULL);
}

static cl_int set_argument(struct pocl *p, cl_kernel kernel, uint32_t i, const struct corpus_arg *a, uint8_t *data,
                           cl_mem *memory)
{
    cl_int code;
    if (a->is_sampler) {
        uint32_t bits;
        memcpy(&bits, a->value, sizeof bits);
        return set_sampler(p, kernel, i, bits);
    }
    if (a->kind == INTERP_ARG_BYTES) return clSetKernelArg(kernel, i, a->size, a->value);
    if (a->kind == INTERP_ARG_LOCAL) return clSetKernelArg(kernel, i, a->size, NULL);
    if (a->kind == INTERP_ARG_IMAGE)
        *memory = make_image(p, a, data, &code);
    else
        *memory = clCreateBuffer(p->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, a->size, data, &code);
    return code == CL_SUCCESS ? clSetKernelArg(kernel, i, sizeof *memory, memory) : code;
}

static bool launch(struct pocl *p, cl_kernel kernel, const struct nd_range *r, const char *name)
{
    size_t global[3], local[3], offset[3];
    for (unsigned d = 0; d < 3; d++) {
        global[d] = r->global[d];
        local[d] = r->local[d];
        offset[d] = r->offset[d];
    }
    cl_int code = clEnqueueNDRangeKernel(p->queue, kernel, r->dims, offset, global, local, 0, NULL, NULL);
    return good(code, "clEnqueueNDRangeKernel", name) && good(clFinish(p->queue), "clFinish", name);
}

static bool run(struct pocl *p, const struct corpus_kernel *k, uint8_t *data)
{
    cl_int code;
    cl_mem memory[CORPUS_MAX_ARGS] = {0};
    cl_kernel kernel = clCreateKernel(p->program, k->name, &code);
    if (!good(code, "clCreateKernel", k->name)) return false;
    bool ran = true;
    for (uint32_t i = 0; ran && i < k->n_args; i++)
        ran = good(set_argument(p, kernel, i, &k->args[i], data + corpus_buffer_at(k, i), &memory[i]), "an argument",
                   k->name);
    ran = ran && launch(p, kernel, &k->range, k->name);
    for (uint32_t i = 0; ran && i < k->n_args; i++)
        if (memory[i])
            ran = good(read_back(p, &k->args[i], memory[i], data + corpus_buffer_at(k, i)), "results", k->name);
    for (uint32_t i = 0; i < k->n_args; i++)
        if (memory[i]) clReleaseMemObject(memory[i]);
    clReleaseKernel(kernel);
    return ran;
}

void corpus_pocl_version(char *version, size_t size)
{
    cl_platform_id platform;
    char text[256] = "";
    if (find_platform(&platform) == CL_SUCCESS)
        clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text, text, NULL);
    const char *at = strstr(text, "PoCL ");
    at = at ? at + strlen("PoCL ") : "";
    snprintf(version, size, "%.*s", (int)strspn(at, "0123456789."), at);
}

bool corpus_pocl_run(const char *path, const struct corpus *c, uint32_t first, uint8_t *const *data,
                     volatile uint8_t *status)
{
    struct pocl p = {0};
    if (!start(&p, path)) return false;
    for (uint32_t i = first; i < c->n; i++) {
        if (c->kernels[i]->no_pocl) continue;
        status[i] = CORPUS_POCL_TRIED;
        if (run(&p, c->kernels[i], data[i])) status[i] = CORPUS_POCL_RAN;
    }
    return true;
}
