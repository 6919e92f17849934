/* Launches of kernels that are too large for code. */
#include "daemon/executor/devices/cpu/interpreted.h"

#include <stdlib.h>

#include "daemon/executor/devices/cpu/objects.h"
#include "daemon/executor/devices/interpreter/interpreter.h"
#include "fuser/cpu/abi/kernel_abi.h"

struct interpreted {
    struct launch_code code;
    struct object *object;
};

/* Pipes have another record here than the interpreter's, which stands for it while the kernel runs. */
static void take_pipe(const void *record, struct interp_pipe *pipe)
{
    const struct kernel_pipe *own = record;
    *pipe =
        (struct interp_pipe){(uint8_t *)own->packets, own->packet_size, own->capacity, own->read.done, own->write.done};
}

static void put_pipe(void *record, const struct interp_pipe *pipe)
{
    struct kernel_pipe *own = record;
    own->read.done = own->read.reserved = pipe->read;
    own->write.done = own->write.reserved = pipe->written;
}

/* No more ends a kernel than ends its code, and the time limit is the only one. */
static int interpreted_run(struct launch_code *code, struct executable *x, uint32_t launch,
                           const struct launch_context *context, struct error *e)
{
    struct interpreter_launch run = {.kernel = ((struct interpreted *)code)->object->kernel,
                                     .options = {.tolerant = true, .max_steps = UINT64_MAX},
                                     .take_pipe = take_pipe,
                                     .put_pipe = put_pipe};
    return interpreter_run(&run, x, launch, context, e);
}

static void interpreted_free(struct launch_code *code)
{
    objects_release(((struct interpreted *)code)->object);
    free(code);
}

struct launch_code *interpreted_code(struct executable *x, uint32_t launch, struct object *object, struct error *e)
{
    struct interpreted *i = calloc(1, sizeof *i);
    if (!i) abort();
    *i = (struct interpreted){{interpreted_run, interpreted_free}, object};
    if (interpreter_check_args(object->kernel, x, launch, e) == 0) return &i->code;
    interpreted_free(&i->code);
    return NULL;
}
