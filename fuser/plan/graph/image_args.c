/* Images as arguments of kernels: what the parameter's type says is what the kernel does with it. */
#include "fuser/plan/graph/image_args.h"

#include "ir/text/print/print_type.h"

bool image_args_have(const struct fuser_graph *g, uint32_t buffer)
{
    return g->buffers[buffer].image || g->buffers[buffer].viewed;
}

bool image_arg_is_use(const struct fuser_graph *g, const struct plan_use *use)
{
    const struct fuser_node *n = &g->nodes[use->node];
    return n->kind == FUSER_NODE_KERNEL && use->arg < n->n_args &&
           ir_type_kind(n->kernel->params[use->arg].value->type) == IR_KIND_IMAGE;
}

bool image_arg_is_read(ir_type type)
{
    return ir_type_handle_access(type) != IR_HANDLE_WRITE;
}

bool image_arg_is_written(ir_type type)
{
    return ir_type_handle_access(type) != IR_HANDLE_READ;
}

static const char *param_name(const struct fuser_node *node, uint32_t i)
{
    const char *name = node->kernel->params[i].value->name;
    return name ? name : "unnamed";
}

static bool check_access(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                         uint32_t i)
{
    ir_type type = node->kernel->params[i].value->type;
    enum ir_access access = node->args[i].access;
    bool read = access != IR_ACCESS_WRITE, written = access != IR_ACCESS_READ;
    if ((read || !image_arg_is_read(type)) && (written || !image_arg_is_written(type))) return true;
    return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                     "argument %u (image %s) was declared to be %s only, but parameter %s of kernel %s is an image "
                     "that is %s",
                     i, g->buffers[node->args[i].index].name, read ? "read" : "written", param_name(node, i),
                     node->kernel->name,
                     !image_arg_is_written(type) ? "read"
                     : image_arg_is_read(type)   ? "read and written"
                                                 : "written");
}

/* May the kernel write what argument k is? Of pointers what was declared counts. */
static bool is_written(const struct fuser_node *node, uint32_t k)
{
    ir_type type = node->kernel->params[k].value->type;
    if (ir_type_kind(type) == IR_KIND_IMAGE) return image_arg_is_written(type);
    if (ir_type_is_ptr(type) && ir_type_space(type) == IR_SPACE_CONSTANT) return false;
    return node->args[k].access != IR_ACCESS_READ;
}

/* Distinct parameters of a kernel never alias, images neither, nor a buffer and an image of it. */
static bool check_apart(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node,
                        uint32_t i)
{
    for (uint32_t k = 0; k < node->n_args; k++) {
        const struct fuser_arg *arg = &node->args[k], *image = &node->args[i];
        if (k == i || arg->kind != FUSER_ARG_BUFFER || arg->index != image->index) continue;
        if (!is_written(node, k) && !is_written(node, i)) continue;
        if (image->view && arg->bytes &&
            (arg->offset >= image->offset + image->bytes || image->offset >= arg->offset + arg->bytes))
            continue;
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "arguments %u and %u are both %s %s, and one of them is written", k < i ? k : i, k < i ? i : k,
                         image->view ? "memory of buffer" : "image", g->buffers[arg->index].name);
    }
    return true;
}

static const char *type_text(ir_type type, char text[32])
{
    return ir_print_type(NULL, type, text, 32);
}

static bool check_form(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node, uint32_t i)
{
    const struct fuser_buffer *b = &g->buffers[node->args[i].index];
    enum ir_image_form form = node->args[i].view ? IR_IMAGE_1D_BUFFER : b->form;
    ir_type type = node->kernel->params[i].value->type;
    char wanted[32], given[32];
    if (ir_type_image_form(type) == form) return true;
    return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                     "argument %u (%s) of kernel %s is an %s, but image %s is an %s", i, param_name(node, i),
                     node->kernel->name, type_text(type, wanted), b->name,
                     type_text(IR_IMAGE(form, ir_type_handle_access(type)), given));
}

bool image_arg_check(struct plan_context *ctx, const struct fuser_graph *g, const struct fuser_node *node, uint32_t i)
{
    const struct fuser_arg *arg = &node->args[i];
    if (arg->kind != FUSER_ARG_BUFFER || !(g->buffers[arg->index].image || arg->view))
        return plan_fail(ctx, FUSER_INVALID, "node", node->name,
                         "argument %u (%s) of kernel %s is an image, but none was given", i, param_name(node, i),
                         node->kernel->name);
    return check_form(ctx, g, node, i) && check_access(ctx, g, node, i) && check_apart(ctx, g, node, i);
}
