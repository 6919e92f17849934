/* PoCL through OpenCL: buffers that are the caller's memory, a queue that works in order. */
#define CL_TARGET_OPENCL_VERSION 200
#include "tests/bench/opencl.h"

#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/bench/measure.h"

enum { MOST_MEMORY = 32, MOST_LAUNCHES = 24 };

struct opencl {
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernels[MOST_LAUNCHES]; /* one for each launch: its arguments stay */
    cl_mem memory[MOST_MEMORY];
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

static bool make_memory(struct opencl *o)
{
    for (unsigned i = 0; i < o->work.n_memory; i++) {
        const struct opencl_memory *m = &o->work.memory[i];
        cl_mem_flags flags = CL_MEM_READ_WRITE | (m->host ? CL_MEM_USE_HOST_PTR : 0);
        cl_int error;
        o->memory[i] = clCreateBuffer(o->context, flags, m->bytes, m->host, &error);
        if (error != CL_SUCCESS) return false;
    }
    return true;
}

static bool set_argument(const struct opencl *o, cl_kernel kernel, unsigned i, const struct launch_arg *arg)
{
    switch (arg->kind) {
    case ARG_INT: return clSetKernelArg(kernel, i, sizeof arg->number, &arg->number) == CL_SUCCESS;
    case ARG_FLOAT: return clSetKernelArg(kernel, i, sizeof arg->real, &arg->real) == CL_SUCCESS;
    case ARG_LOCAL: return clSetKernelArg(kernel, i, (size_t)arg->number, NULL) == CL_SUCCESS;
    default: return clSetKernelArg(kernel, i, sizeof(cl_mem), &o->memory[arg->number]) == CL_SUCCESS;
    }
}

static bool make_kernels(struct opencl *o)
{
    for (unsigned k = 0; k < o->work.n_launches; k++) {
        const struct launch *l = &o->work.launches[k];
        cl_int error;
        o->kernels[k] = clCreateKernel(o->program, l->kernel, &error);
        if (error != CL_SUCCESS) return false;
        for (unsigned i = 0; i < LAUNCH_MOST_ARGS && l->args[i].kind; i++)
            if (!set_argument(o, o->kernels[k], i, &l->args[i])) return false;
    }
    return true;
}

struct opencl *opencl_open(const struct opencl_work *work, const char **why)
{
    cl_device_id device;
    cl_int error;
    *why = "no such platform";
    if (!find_device(&device)) return NULL;
    *why = "the device refuses";
    if (work->n_memory > MOST_MEMORY || work->n_launches > MOST_LAUNCHES) return NULL;
    struct opencl *o = calloc(1, sizeof *o);
    if (!o) return NULL;
    o->work = *work;
    o->context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    if (error == CL_SUCCESS) o->queue = clCreateCommandQueueWithProperties(o->context, device, NULL, &error);
    if (error == CL_SUCCESS)
        o->program = clCreateProgramWithSource(o->context, 1, (const char *[]){work->source}, NULL, &error);
    if (error == CL_SUCCESS) error = clBuildProgram(o->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (error == CL_SUCCESS && make_memory(o) && make_kernels(o)) return o;
    opencl_close(o);
    return NULL;
}

/* Mapping makes what the device wrote visible in the caller's memory. */
static bool fetch(struct opencl *o)
{
    for (unsigned i = 0; i < o->work.n_memory; i++) {
        const struct opencl_memory *m = &o->work.memory[i];
        cl_int error;
        if (!m->read_back) continue;
        void *p = clEnqueueMapBuffer(o->queue, o->memory[i], CL_TRUE, CL_MAP_READ, 0, m->bytes, 0, NULL, NULL, &error);
        if (error != CL_SUCCESS) return false;
        clEnqueueUnmapMemObject(o->queue, o->memory[i], p, 0, NULL, NULL);
    }
    return clFinish(o->queue) == CL_SUCCESS;
}

static bool run_once(struct opencl *o)
{
    for (unsigned k = 0; k < o->work.n_launches; k++) {
        const struct launch *l = &o->work.launches[k];
        if (clEnqueueNDRangeKernel(o->queue, o->kernels[k], l->dims, NULL, l->global, l->local[0] ? l->local : NULL, 0,
                                   NULL, NULL) != CL_SUCCESS)
            return false;
    }
    return clFinish(o->queue) == CL_SUCCESS;
}

bool opencl_run(void *self, unsigned repeat, double *ms)
{
    struct opencl *o = self;
    double start = measure_now_ms();
    for (unsigned i = 0; i < repeat; i++)
        if (!run_once(o)) return false;
    *ms = (measure_now_ms() - start) / repeat;
    return fetch(o);
}

void opencl_close(struct opencl *o)
{
    if (!o) return;
    for (unsigned i = 0; i < MOST_MEMORY; i++)
        if (o->memory[i]) clReleaseMemObject(o->memory[i]);
    for (unsigned i = 0; i < MOST_LAUNCHES; i++)
        if (o->kernels[i]) clReleaseKernel(o->kernels[i]);
    if (o->program) clReleaseProgram(o->program);
    if (o->queue) clReleaseCommandQueue(o->queue);
    if (o->context) clReleaseContext(o->context);
    free(o);
}
