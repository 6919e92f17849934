/* PoCL through OpenCL: buffers that are the caller's memory, a queue that works in order. */
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/measure.h"
#include "tests/bench/opencl.h"

struct opencl {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem memory[5];
    struct opencl_work work;
};

static bool find_device(cl_device_id *device)
{
    cl_platform_id platforms[8];
    cl_uint n = 0;
    if (clGetPlatformIDs(8, platforms, &n) != CL_SUCCESS) return false;
    for (cl_uint i = 0; i < n && i < 8; i++) {
        char name[128] = "";
        clGetPlatformInfo(platforms[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (!strstr(name, "Portable Computing Language")) continue;
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_CPU, 1, device, NULL) == CL_SUCCESS) return true;
    }
    return false;
}

static bool set_argument(struct opencl *o, unsigned index, void *memory, size_t bytes, cl_mem_flags flags)
{
    cl_int error;
    o->memory[index] = clCreateBuffer(o->context, flags | CL_MEM_USE_HOST_PTR, bytes, memory, &error);
    return error == CL_SUCCESS && clSetKernelArg(o->kernel, index, sizeof(cl_mem), &o->memory[index]) == CL_SUCCESS;
}

static bool set_arguments(struct opencl *o, const struct peer_data *data)
{
    const struct opencl_work *w = &o->work;
    for (unsigned i = 0; i < w->n_in; i++)
        if (!set_argument(o, i, (void *)data->in[i], w->in_bytes[i], CL_MEM_READ_ONLY)) return false;
    for (unsigned i = 0; i < w->n_out; i++)
        if (!set_argument(o, w->n_in + i, data->out[i], w->out_bytes[i], CL_MEM_WRITE_ONLY)) return false;
    return true;
}

struct opencl *opencl_open(const struct opencl_work *work, const struct peer_data *data, const char **why)
{
    cl_device_id device;
    cl_int error;
    *why = "no such platform";
    if (!find_device(&device)) return NULL;
    struct opencl *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->work = *work;
    *why = "the device refuses";
    o->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error == CL_SUCCESS) o->queue = clCreateCommandQueueWithProperties(o->context, device, NULL, &error);
    if (error == CL_SUCCESS)
        o->program = clCreateProgramWithSource(o->context, 1, (const char *[]){work->source}, NULL, &error);
    if (error == CL_SUCCESS) error = clBuildProgram(o->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (error == CL_SUCCESS) o->kernel = clCreateKernel(o->program, work->kernel, &error);
    if (error == CL_SUCCESS && set_arguments(o, data)) return o;
    opencl_close(o);
    return NULL;
}

/* Mapping makes what the device wrote visible in the caller's memory. */
static bool fetch(struct opencl *o)
{
    const struct opencl_work *w = &o->work;
    for (unsigned i = w->n_in; i < w->n_in + w->n_out; i++) {
        cl_int error;
        void *p = clEnqueueMapBuffer(o->queue, o->memory[i], CL_TRUE, CL_MAP_READ, 0, w->out_bytes[i - w->n_in], 0,
                                     NULL, NULL, &error);
        if (error != CL_SUCCESS) return false;
        clEnqueueUnmapMemObject(o->queue, o->memory[i], p, 0, NULL, NULL);
    }
    return clFinish(o->queue) == CL_SUCCESS;
}

bool opencl_run(void *self, unsigned repeat, double *ms)
{
    struct opencl *o = self;
    const size_t *local = o->work.local[0] ? o->work.local : NULL;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++) {
        if (clEnqueueNDRangeKernel(o->queue, o->kernel, o->work.dims, NULL, o->work.global, local, 0, NULL, NULL) !=
            CL_SUCCESS)
            return false;
        if (clFinish(o->queue) != CL_SUCCESS) return false;
    }
    *ms = (measure_now_ms() - start) / repeat;
    return fetch(o);
}

void opencl_close(struct opencl *o)
{
    if (!o) return;
    for (unsigned i = 0; i < 5; i++)
        if (o->memory[i]) clReleaseMemObject(o->memory[i]);
    if (o->kernel) clReleaseKernel(o->kernel);
    if (o->program) clReleaseProgram(o->program);
    if (o->queue) clReleaseCommandQueue(o->queue);
    if (o->context) clReleaseContext(o->context);
    free(o);
}
