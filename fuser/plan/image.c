/* Images as arguments of kernels: what the parameter's type says is what the kernel does with it. */
#include "fuser/plan/planner.h"

bool plan_image_read(ir_type type)
{
    return ir_type_handle_access(type) != IR_HANDLE_WRITE;
}

bool plan_image_written(ir_type type)
{
    return ir_type_handle_access(type) != IR_HANDLE_READ;
}

static const char *param_name(const struct fuser_node *node, uint32_t i)
{
    const char *name = node->kernel->params[i].value->name;
    return name ? name : "unnamed";
}

static bool check_access(struct planner *p, const struct fuser_node *node, uint32_t i)
{
    ir_type type = node->kernel->params[i].value->type;
    enum ir_access access = node->args[i].access;
    bool read = access != IR_ACCESS_WRITE, written = access != IR_ACCESS_READ;
    if ((read || !plan_image_read(type)) && (written || !plan_image_written(type))) return true;
    return plan_fail(p, FUSER_INVALID, "node", node->name,
                     "argument %u (image %s) was declared to be %s only, but parameter %s of kernel %s is an image "
                     "that is %s",
                     i, p->graph->buffers[node->args[i].index].name, read ? "read" : "written", param_name(node, i),
                     node->kernel->name,
                     !plan_image_written(type) ? "read"
                     : plan_image_read(type)   ? "read and written"
                                               : "written");
}

/* Distinct parameters of a kernel never alias, images neither. */
static bool check_apart(struct planner *p, const struct fuser_node *node, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++) {
        const struct fuser_arg *arg = &node->args[k];
        if (arg->kind != FUSER_ARG_BUFFER || arg->index != node->args[i].index) continue;
        ir_type types[] = {node->kernel->params[k].value->type, node->kernel->params[i].value->type};
        if (!plan_image_written(types[0]) && !plan_image_written(types[1])) continue;
        return plan_fail(p, FUSER_INVALID, "node", node->name,
                         "arguments %u and %u are both image %s, and one of them is written", k, i,
                         p->graph->buffers[arg->index].name);
    }
    return true;
}

bool plan_check_image(struct planner *p, const struct fuser_node *node, uint32_t i)
{
    const struct fuser_arg *arg = &node->args[i];
    if (arg->kind != FUSER_ARG_BUFFER || !p->graph->buffers[arg->index].image)
        return plan_fail(p, FUSER_INVALID, "node", node->name,
                         "argument %u (%s) of kernel %s is an image, but none was given", i, param_name(node, i),
                         node->kernel->name);
    return check_access(p, node, i) && check_apart(p, node, i);
}
