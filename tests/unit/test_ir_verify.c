/* The verifier: each kind of violation is found, alone, and told with its function, block and line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/core/pipe_properties.h"
#include "ir/verify/verify.h"

enum { LINE = 7 };

/* A valid function for a case to break: instructions go to `b`; `end` is made last. */
struct scene {
    struct ir_module *m;
    struct ir_function *f;
    struct ir_builder b;
    struct ir_value *i32, *i64, *f32, *vec, *cond, *global, *constant, *image, *sampler, *pipe;
    bool ended; /* the case made the terminator itself */
};

static void set_params(struct scene *s)
{
    static const struct {
        const char *name;
        ir_type type;
    } params[] = {
        {"i", IR_I32},
        {"j", IR_I64},
        {"x", IR_F32},
        {"v", IR_TYPE(IR_KIND_F32, 4, 0)},
        {"c", IR_BOOL},
        {"p", IR_PTR(IR_SPACE_GLOBAL)},
        {"k", IR_PTR(IR_SPACE_CONSTANT)},
        {"img", IR_TYPE(IR_KIND_IMAGE, 1, 0)},
        {"smp", IR_TYPE(IR_KIND_SAMPLER, 1, 0)},
        {"pipe", IR_TYPE(IR_KIND_PIPE, 1, 1)},
    };
    struct ir_value **values[] = {&s->i32,    &s->i64,      &s->f32,   &s->vec,     &s->cond,
                                  &s->global, &s->constant, &s->image, &s->sampler, &s->pipe};
    for (uint32_t i = 0; i < 10; i++) {
        ir_function_set_param(s->f, i, params[i].name, params[i].type);
        *values[i] = s->f->params[i].value;
    }
}

static struct scene open_scene(void)
{
    struct scene s = {.m = ir_module_new("test")};
    s.f = ir_function_new(s.m, "f", IR_LINKAGE_EXPORT, IR_VOID, 10);
    s.f->loc.line = 2;
    set_params(&s);
    s.b = ir_builder_at_end(s.f->body);
    s.b.loc.line = LINE;
    return s;
}

static void end(struct scene *s, struct ir_block *block, enum ir_op op)
{
    struct ir_builder b = ir_builder_at_end(block);
    b.loc.line = LINE;
    ir_build(&b, op, IR_VOID, NULL, 0);
    if (block == s->f->body) s->ended = true;
}

/* An if or a loop without results whose blocks have no terminators yet. */
static struct ir_inst *open_if(struct scene *s)
{
    return ir_build_if(&s->b, s->cond, NULL, 0);
}

static struct ir_inst *open_loop(struct scene *s)
{
    return ir_build_loop(&s->b, NULL, 0, NULL, 0);
}

static struct ir_inst *build(struct scene *s, enum ir_op op, ir_type t, uint32_t n, ...)
{
    struct ir_value *operands[8];
    va_list args;
    va_start(args, n);
    for (uint32_t i = 0; i < n; i++) operands[i] = va_arg(args, struct ir_value *);
    va_end(args);
    return ir_build(&s->b, op, t, operands, n);
}

static struct ir_function *helper(struct scene *s, const char *name, enum ir_linkage linkage)
{
    struct ir_function *f = ir_function_new(s->m, name, linkage, IR_VOID, 0);
    f->loc.line = 20;
    if (f->body) {
        struct ir_builder b = ir_builder_at_end(f->body);
        b.loc.line = 21;
        ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
    }
    return f;
}

static struct ir_function *calls(struct scene *s, const char *name, struct ir_function *callee)
{
    struct ir_function *f = helper(s, name, IR_LINKAGE_INTERNAL);
    struct ir_builder b = ir_builder_before(f->body->first);
    ir_build_call(&b, callee, NULL, 0);
    return f;
}

/* ---- instructions against the table ---- */

static void op_range(struct scene *s)
{
    build(s, IR_OP_FENCE, IR_VOID, 0)->op = IR_OP_COUNT;
}
static void operand_type(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 2, s->f32, s->i32);
}
static void operand_count(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 1, s->f32);
}
static void operand_missing(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 2, s->f32, NULL);
}
static void type_class(struct scene *s)
{
    build(s, IR_OP_FADD, IR_I32, 2, s->i32, s->i32);
}
static void type_unwanted(struct scene *s)
{
    build(s, IR_OP_WORK_DIM, IR_VOID, 0)->type = IR_I32;
}
static void type_unknown(struct scene *s)
{
    build(s, IR_OP_UNREACHABLE, IR_VOID, 0);
    s->ended = true;
    s->f->body->first->type = 31;
}
static void type_struct_value(struct scene *s)
{
    struct ir_struct *st = ir_struct_new(s->m, "st", 0);
    build(s, IR_OP_LOAD, ir_struct_type(s->m, st), 1, s->global)->results[0]->type = IR_I32;
}
static void result_type(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 2, s->f32, s->f32)->results[0]->type = IR_I32;
}
static void result_count(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 2, s->f32, s->f32)->n_results = 0;
}
static void result_link(struct scene *s)
{
    build(s, IR_OP_FADD, IR_F32, 2, s->f32, s->f32)->results[0]->index = 3;
}
static void attribute_range(struct scene *s)
{
    build(s, IR_OP_GLOBAL_ID, IR_VOID, 0)->attrs.dim = 3;
}
static void attribute_unwanted(struct scene *s)
{
    build(s, IR_OP_ADD, IR_I32, 2, s->i32, s->i32)->attrs.is_volatile = true;
}
static void align_power(struct scene *s)
{
    build(s, IR_OP_LOAD, IR_F32, 1, s->global)->attrs.align = 12;
}
static void mask_unwanted(struct scene *s)
{
    build(s, IR_OP_ADD, IR_I32, 2, s->i32, s->i32)->attrs.mask[2] = 1;
}
static void mask_range(struct scene *s)
{
    build(s, IR_OP_SHUFFLE, s->vec->type, 2, s->vec, s->vec)->attrs.mask[1] = 8;
}
static void constant_width(struct scene *s)
{
    uint64_t lane = 256;
    build(s, IR_OP_NEG, IR_I8, 1, ir_const(s->m, IR_I8, &lane));
}
static void file_range(struct scene *s)
{
    build(s, IR_OP_WORK_DIM, IR_VOID, 0)->loc.file = 1;
}

/* ---- rules of single operations ---- */

static void trunc_wider(struct scene *s)
{
    build(s, IR_OP_ITRUNC, IR_I64, 1, s->i32);
}
static void zext_same(struct scene *s)
{
    build(s, IR_OP_ZEXT, IR_I32, 1, s->i32);
}
static void sext_float(struct scene *s)
{
    build(s, IR_OP_SEXT, IR_I64, 1, s->f32);
}
static void fpconv_same(struct scene *s)
{
    build(s, IR_OP_FPCONV, IR_F32, 1, s->f32);
}
static void ftos_int(struct scene *s)
{
    build(s, IR_OP_FTOS, IR_I64, 1, s->i32);
}
static void bitcast_size(struct scene *s)
{
    build(s, IR_OP_BITCAST, IR_I64, 1, s->f32);
}
static void bitcast_pointer(struct scene *s)
{
    build(s, IR_OP_BITCAST, IR_I64, 1, s->global);
}
static void compare_floats(struct scene *s)
{
    build(s, IR_OP_IEQ, IR_F32, 2, s->f32, s->f32);
}
static void geometric_lanes(struct scene *s)
{
    struct ir_value *v = ir_undef(s->m, IR_TYPE(IR_KIND_F32, 8, 0));
    build(s, IR_OP_LENGTH, v->type, 1, v);
}
static void cross_lanes(struct scene *s)
{
    build(s, IR_OP_CROSS, IR_F32, 2, s->f32, s->f32);
}
static void vec_lanes(struct scene *s)
{
    build(s, IR_OP_VEC, s->vec->type, 3, s->f32, s->f32, s->f32);
}
static void vec_element(struct scene *s)
{
    build(s, IR_OP_VEC, ir_type_with_lanes(IR_F32, 2), 2, s->f32, s->i32);
}
static void store_constant(struct scene *s)
{
    build(s, IR_OP_STORE, IR_F32, 2, s->constant, s->f32);
}
static void atomic_narrow(struct scene *s)
{
    build(s, IR_OP_ATOMIC_ADD, IR_I8, 2, s->global, ir_const_int(s->m, IR_I8, 1));
}
static void atomic_order(struct scene *s)
{
    build(s, IR_OP_ATOMIC_LOAD, IR_I32, 1, s->global)->attrs.order = IR_ORDER_RELEASE;
}
static void atomic_constant(struct scene *s)
{
    build(s, IR_OP_ATOMIC_ADD, IR_I32, 2, s->constant, s->i32);
}
static void spacecast_named(struct scene *s)
{
    ir_build_ptr(&s->b, IR_OP_SPACECAST, IR_VOID, IR_SPACE_LOCAL, &s->global, 1);
}
static void var_space(struct scene *s)
{
    ir_build_ptr(&s->b, IR_OP_VAR, IR_F32, IR_SPACE_LOCAL, NULL, 0);
}
static void field_range(struct scene *s)
{
    struct ir_struct *st = ir_struct_new(s->m, "st", 1);
    st->fields[0].type = IR_I32;
    ir_struct_natural_layout(s->m, st);
    build(s, IR_OP_FIELD, ir_struct_type(s->m, st), 1, s->global)->attrs.index = 1;
}
static void global_foreign(struct scene *s)
{
    struct ir_module *other = ir_module_new(NULL);
    struct ir_global *g = ir_global_new(other, "g", IR_SPACE_GLOBAL, IR_I32);
    struct ir_global *mine = ir_alloc(s->m, sizeof *mine); /* lives on, but is no global of the module */
    *mine = *g;
    ir_module_free(other);
    ir_build_global(&s->b, mine);
}
static void barrier_scope(struct scene *s)
{
    build(s, IR_OP_BARRIER, IR_VOID, 0)->attrs.scope = IR_SCOPE_DEVICE;
}
static void broadcast_ids(struct scene *s)
{
    build(s, IR_OP_GROUP_BROADCAST, IR_F32, 3, s->f32, s->i32, s->i32)->attrs.scope = IR_SCOPE_SUB_GROUP;
}
static void reduce_floats(struct scene *s)
{
    struct ir_attrs *a = &build(s, IR_OP_GROUP_REDUCE, IR_F32, 1, s->f32)->attrs;
    a->scope = IR_SCOPE_WORK_GROUP;
    a->group_op = IR_GROUP_XOR;
}
static void block_lanes(struct scene *s)
{
    build(s, IR_OP_BLOCK_READ, ir_type_with_lanes(IR_I32, 3), 1, s->global);
}
static void texel_type(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, ir_type_with_lanes(IR_I32, 2));
    build(s, IR_OP_IMAGE_READ, ir_type_with_lanes(IR_F32, 2), 2, s->image, at);
}
static void texel_sampler(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, ir_type_with_lanes(IR_F32, 2));
    build(s, IR_OP_IMAGE_READ, s->vec->type, 2, s->image, at);
}
static struct ir_value *image_of(struct scene *s, enum ir_image_form form)
{
    ir_function_set_param(s->f, s->image->index, "img", IR_IMAGE(form, IR_HANDLE_READ));
    return s->f->params[s->image->index].value;
}
static void image_coordinates(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, ir_type_with_lanes(IR_I32, 2));
    build(s, IR_OP_IMAGE_READ, s->vec->type, 2, image_of(s, IR_IMAGE_3D), at);
}
static void image_sampled_buffer(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, IR_F32);
    build(s, IR_OP_IMAGE_READ, s->vec->type, 3, image_of(s, IR_IMAGE_1D_BUFFER), at, s->sampler);
}
static void image_query(struct scene *s)
{
    build(s, IR_OP_IMAGE_ARRAY_SIZE, IR_VOID, 1, image_of(s, IR_IMAGE_3D));
}
static void image_block(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, ir_type_with_lanes(IR_I32, 2));
    build(s, IR_OP_IMAGE_BLOCK_READ, IR_I32, 2, image_of(s, IR_IMAGE_2D_ARRAY), at);
}
static void image_form(struct scene *s)
{
    image_of(s, IR_IMAGE_FORM_COUNT);
}
static void image_access(struct scene *s)
{
    struct ir_value *at = ir_undef(s->m, ir_type_with_lanes(IR_I32, 2));
    build(s, IR_OP_IMAGE_WRITE, s->vec->type, 3, s->image, at, s->vec);
}
static void pipe_access(struct scene *s)
{
    build(s, IR_OP_PIPE_READ, IR_I32, 2, s->pipe, s->global);
}
static void pipe_access_reserved(struct scene *s)
{
    build(s, IR_OP_PIPE_RESERVE_READ, IR_VOID, 2, s->pipe, s->i32);
}
static void pipe_reservation(struct scene *s)
{
    build(s, IR_OP_PIPE_COMMIT_WRITE, IR_VOID, 2, s->pipe, s->i32);
}

/* ---- calls ---- */

static void call_kernel(struct scene *s)
{
    ir_build_call(&s->b, helper(s, "k", IR_LINKAGE_KERNEL), NULL, 0);
}
static void call_arguments(struct scene *s)
{
    ir_build_call(&s->b, helper(s, "g", IR_LINKAGE_INTERNAL), &s->i32, 1);
}
static void call_argument_type(struct scene *s)
{
    struct ir_function *g = ir_function_new(s->m, "g", IR_LINKAGE_IMPORT, IR_VOID, 1);
    ir_function_set_param(g, 0, "a", IR_F32);
    ir_build_call(&s->b, g, &s->i32, 1);
}
static void call_nothing(struct scene *s)
{
    ir_build_call(&s->b, helper(s, "g", IR_LINKAGE_INTERNAL), NULL, 0)->attrs.callee = NULL;
}
static void recursion(struct scene *s)
{
    struct ir_function *g = calls(s, "g", s->f);
    s->f->n_params = 0;
    struct ir_builder b = s->b;
    ir_build_call(&b, g, NULL, 0);
}
static void call_depth(struct scene *s)
{
    struct ir_function *f = helper(s, "deepest", IR_LINKAGE_INTERNAL);
    for (int i = 0; i < IR_MAX_CALL_DEPTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        f = calls(s, name, f);
    }
}

/* ---- blocks, terminators, values in sight ---- */

static void no_terminator(struct scene *s)
{
    build(s, IR_OP_WORK_DIM, IR_VOID, 0);
    s->ended = true;
}
static void empty_block(struct scene *s)
{
    end(s, open_if(s)->blocks[1], IR_OP_YIELD);
}
static void early_terminator(struct scene *s)
{
    build(s, IR_OP_RETURN, IR_VOID, 0);
}
static void yield_in_body(struct scene *s)
{
    end(s, s->f->body, IR_OP_YIELD);
}
static void yield_in_loop(struct scene *s)
{
    end(s, open_loop(s)->blocks[0], IR_OP_YIELD);
}
static void break_outside(struct scene *s)
{
    struct ir_inst *inst = open_if(s);
    end(s, inst->blocks[0], IR_OP_BREAK);
    end(s, inst->blocks[1], IR_OP_YIELD);
}
static void yield_count(struct scene *s)
{
    ir_type t = IR_I32;
    struct ir_inst *inst = ir_build_if(&s->b, s->cond, &t, 1);
    struct ir_builder b = ir_builder_at_end(inst->blocks[0]);
    b.loc.line = LINE;
    ir_build(&b, IR_OP_YIELD, IR_VOID, &s->i32, 1);
    end(s, inst->blocks[1], IR_OP_YIELD);
}
static void continue_type(struct scene *s)
{
    struct ir_inst *inst = ir_build_loop(&s->b, &s->i32, 1, NULL, 0);
    struct ir_builder b = ir_builder_at_end(inst->blocks[0]);
    b.loc.line = LINE;
    ir_build(&b, IR_OP_CONTINUE, IR_VOID, &s->i64, 1);
}
static void loop_init(struct scene *s)
{
    struct ir_inst *inst = ir_build_loop(&s->b, &s->i32, 1, NULL, 0);
    inst->operands[0] = s->i64;
    end(s, inst->blocks[0], IR_OP_BREAK);
}
static void return_value(struct scene *s)
{
    build(s, IR_OP_RETURN, IR_VOID, 1, s->i32);
    s->ended = true;
}
static void used_before(struct scene *s)
{
    struct ir_inst *use = build(s, IR_OP_NEG, IR_I32, 1, s->i32);
    s->b.loc.line = 9;
    use->operands[0] = build(s, IR_OP_NEG, IR_I32, 1, s->i32)->results[0];
    s->b.loc.line = LINE;
}
static void out_of_sight(struct scene *s)
{
    struct ir_inst *inst = open_if(s);
    struct ir_builder b = ir_builder_at_end(inst->blocks[0]);
    b.loc.line = 5;
    struct ir_value *inside = ir_build1(&b, IR_OP_NEG, IR_I32, s->i32);
    inside->name = "inside";
    end(s, inst->blocks[0], IR_OP_YIELD);
    end(s, inst->blocks[1], IR_OP_YIELD);
    build(s, IR_OP_NEG, IR_I32, 1, inside);
}
static void other_function(struct scene *s)
{
    struct ir_function *g = ir_function_new(s->m, "g", IR_LINKAGE_IMPORT, IR_VOID, 1);
    ir_function_set_param(g, 0, "a", IR_I32);
    build(s, IR_OP_NEG, IR_I32, 1, g->params[0].value);
}
static void own_operand(struct scene *s)
{
    struct ir_inst *inst = build(s, IR_OP_NEG, IR_I32, 1, s->i32);
    inst->operands[0] = inst->results[0];
}
static void prev_link(struct scene *s)
{
    build(s, IR_OP_WORK_DIM, IR_VOID, 0);
    struct ir_inst *second = build(s, IR_OP_WORK_DIM, IR_VOID, 0);
    second->prev = second;
}
static void parent_link(struct scene *s)
{
    build(s, IR_OP_WORK_DIM, IR_VOID, 0)->parent = NULL;
}
static void last_link(struct scene *s)
{
    end(s, s->f->body, IR_OP_RETURN);
    s->f->body->last = NULL;
}
static void circular_list(struct scene *s)
{
    struct ir_inst *first = build(s, IR_OP_WORK_DIM, IR_VOID, 0);
    first->next = first;
    s->ended = true;
}
static void shared_block(struct scene *s)
{
    struct ir_inst *inst = open_if(s);
    end(s, inst->blocks[0], IR_OP_YIELD);
    inst->blocks[1] = inst->blocks[0];
}
static void missing_block(struct scene *s)
{
    open_loop(s)->blocks[0] = NULL;
}
static void block_args(struct scene *s)
{
    struct ir_inst *inst = open_if(s), *loop = ir_build_loop(&s->b, &s->i32, 1, NULL, 0);
    end(s, inst->blocks[0], IR_OP_YIELD);
    end(s, inst->blocks[1], IR_OP_YIELD);
    end(s, loop->blocks[0], IR_OP_BREAK);
    inst->blocks[0]->n_args = 1;
    inst->blocks[0]->args = ir_alloc(s->m, sizeof(struct ir_value *));
    struct ir_value *arg = inst->blocks[0]->args[0] = ir_alloc(s->m, sizeof *arg);
    *arg = (struct ir_value){.type = IR_I32, .kind = IR_VALUE_BLOCK_ARG, .of.block = inst->blocks[0]};
}
static void block_depth(struct scene *s)
{
    struct ir_builder b = s->b;
    for (int i = 0; i < IR_MAX_BLOCK_DEPTH; i++) {
        struct ir_inst *inst = ir_build_if(&b, s->cond, NULL, 0);
        end(s, inst->blocks[1], IR_OP_YIELD);
        struct ir_builder after = b;
        if (i) ir_build(&after, IR_OP_YIELD, IR_VOID, NULL, 0);
        b = ir_builder_at_end(inst->blocks[0]);
        b.loc.line = LINE;
    }
    ir_build(&b, IR_OP_YIELD, IR_VOID, NULL, 0);
}

/* ---- functions ---- */

static void same_names(struct scene *s)
{
    build(s, IR_OP_NEG, IR_I32, 1, s->i32)->results[0]->name = "x";
}
static void bad_name(struct scene *s)
{
    build(s, IR_OP_NEG, IR_I32, 1, s->i32)->results[0]->name = "0";
}
static void same_functions(struct scene *s)
{
    helper(s, "f", IR_LINKAGE_INTERNAL);
}
static void import_body(struct scene *s)
{
    s->f->linkage = IR_LINKAGE_IMPORT;
}
static void no_body(struct scene *s)
{
    s->f->body = NULL;
    s->ended = true;
}
static void kernel_result(struct scene *s)
{
    struct ir_function *k = ir_function_new(s->m, "k", IR_LINKAGE_KERNEL, IR_I32, 0);
    struct ir_builder b = ir_builder_at_end(k->body);
    struct ir_value *one = ir_const_int(s->m, IR_I32, 1);
    ir_build(&b, IR_OP_RETURN, IR_VOID, &one, 1);
}
static void kernel_private(struct scene *s)
{
    struct ir_function *k = ir_function_new(s->m, "k", IR_LINKAGE_KERNEL, IR_VOID, 1);
    ir_function_set_param(k, 0, "p", IR_PTR(IR_SPACE_PRIVATE));
    struct ir_builder b = ir_builder_at_end(k->body);
    ir_build(&b, IR_OP_RETURN, IR_VOID, NULL, 0);
}
static void by_value_number(struct scene *s)
{
    s->f->params[5].by_value = true;
    s->f->params[5].elem = ir_array_type(s->m, IR_I32, 2);
}
static void by_value_elem(struct scene *s)
{
    s->global->type = IR_PTR(IR_SPACE_PRIVATE);
    s->f->params[5].by_value = true;
    s->f->params[5].elem = IR_I32;
}
static void param_struct(struct scene *s)
{
    s->f32->type = ir_struct_type(s->m, ir_struct_new(s->m, "st", 0));
}
static void param_access(struct scene *s)
{
    s->f->params[0].access = IR_ACCESS_READ;
}
static void param_link(struct scene *s)
{
    s->f->params[0].value->index = 1;
}
static void sub_group(struct scene *s)
{
    s->f->sub_group_size = 12;
}
static void assumption(struct scene *s)
{
    s->f->assumes = 1 << IR_ASSUME_COUNT;
}
static void assumption_of_function(struct scene *s)
{
    s->f->assumes = IR_ASSUME_SMALL_IDS;
}
static void work_group(struct scene *s)
{
    s->f->work_group_size[0] = 8;
}
static void work_group_large(struct scene *s)
{
    for (int i = 0; i < 3; i++) s->f->work_group_size[i] = 65536;
}
static void aspect_unknown(struct scene *s)
{
    s->f->has_declared = true;
    s->f->aspects_declared = UINT64_MAX;
}
static struct ir_struct *pair(struct scene *s, const char *name, ir_type first, ir_type second);
static void aspect_used(struct scene *s)
{
    s->f->aspects_used = UINT64_MAX;
}
static void struct_aspect(struct scene *s)
{
    pair(s, "half_t", IR_I32, IR_I32)->aspects_used = UINT64_MAX;
}
static void aspect_numbered_twice(struct scene *s)
{
    ir_module_number_aspect(s->m, "ext", 1);
    ir_module_number_aspect(s->m, "ext", 2);
}
static void targets_not_fixed(struct scene *s)
{
    static const char *one[] = {"cpu"};
    s->f->targets = one;
    s->f->n_targets = 1;
}
static void target_name(struct scene *s)
{
    static const char *none[] = {""};
    s->f->has_targets = true;
    s->f->targets = none;
    s->f->n_targets = 1;
}

static void compiled_for_nothing(struct scene *s)
{
    static const char *one[] = {"cpu"};
    s->f->compiled = one;
    s->f->n_compiled = 1;
}
static void compiled_function(struct scene *s)
{
    s->f->linkage = IR_LINKAGE_INTERNAL;
    s->f->has_compiled = true;
}

/* ---- types and globals ---- */

static struct ir_struct *pair(struct scene *s, const char *name, ir_type first, ir_type second)
{
    struct ir_struct *st = ir_struct_new(s->m, name, 2);
    st->fields[0] = (struct ir_field){"first", first, 0};
    st->fields[1] = (struct ir_field){"second", second, 0};
    ir_struct_natural_layout(s->m, st);
    return st;
}
static void field_overlap(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32)->fields[1].offset = 0;
}
static void field_beyond(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32)->size = 4;
}
static void field_align(struct scene *s)
{
    struct ir_struct *st = pair(s, "st", IR_I8, IR_I32);
    st->fields[1].offset = 2;
}
static void struct_align(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32)->align = 3;
}
static void struct_size(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32)->size = 10;
}
static void struct_itself(struct scene *s)
{
    struct ir_struct *st = pair(s, "st", IR_I32, IR_I32);
    st->fields[1].type = ir_struct_type(s->m, st);
}
static void struct_order(struct scene *s)
{
    struct ir_struct *st = pair(s, "st", IR_I32, IR_I32), *later = pair(s, "later", IR_I32, IR_I32);
    st->fields[1].type = ir_struct_type(s->m, later);
    st->size = 16;
}
static void same_fields(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32)->fields[1].name = "first";
}
static void same_structs(struct scene *s)
{
    pair(s, "st", IR_I32, IR_I32);
    pair(s, "st", IR_I8, IR_I32);
}
static void array_itself(struct scene *s)
{
    ir_type t = ir_array_type(s->m, IR_I32, 2);
    s->m->arrays[0].element = t;
}
static void array_empty(struct scene *s)
{
    ir_array_type(s->m, IR_I32, 0);
}
static void array_huge(struct scene *s)
{
    ir_array_type(s->m, IR_I64, (uint64_t)1 << 45);
}
static void array_overflow(struct scene *s)
{
    ir_array_type(s->m, ir_array_type(s->m, IR_I8, (uint64_t)1 << 40), (uint64_t)1 << 40);
}
static void array_twice(struct scene *s)
{
    ir_array_type(s->m, IR_I32, 2);
    ir_array_type(s->m, IR_I32, 3);
    s->m->arrays[1].count = 2;
}
static void array_of_images(struct scene *s)
{
    ir_array_type(s->m, s->image->type, 2);
}
static void type_depth(struct scene *s)
{
    ir_type t = IR_I8;
    for (int i = 0; i <= IR_MAX_TYPE_DEPTH; i++) t = ir_array_type(s->m, t, 1);
}
static void global_space(struct scene *s)
{
    ir_global_new(s->m, "g", IR_SPACE_PRIVATE, IR_I32);
}
static void global_local_init(struct scene *s)
{
    static const uint8_t bytes[4];
    ir_global_new(s->m, "g", IR_SPACE_LOCAL, IR_I32)->init = bytes;
}
static void global_align(struct scene *s)
{
    ir_global_new(s->m, "g", IR_SPACE_GLOBAL, IR_I32)->align = 24;
}
static void global_linkage(struct scene *s)
{
    ir_global_new(s->m, "g", IR_SPACE_GLOBAL, IR_I32)->linkage = IR_LINKAGE_KERNEL;
}
static void same_globals(struct scene *s)
{
    ir_global_new(s->m, "g", IR_SPACE_GLOBAL, IR_I32);
    ir_global_new(s->m, "g", IR_SPACE_GLOBAL, IR_I32);
}
static void pipe_capacity(struct scene *s)
{
    ir_global_new(s->m, "g", IR_SPACE_GLOBAL, s->pipe->type)->packet = IR_I32;
}
static struct ir_global *pipe_with(struct scene *s, unsigned what, uint32_t value)
{
    struct ir_global *g = ir_global_new(s->m, "g", IR_SPACE_GLOBAL, s->pipe->type);
    g->packet = IR_I32;
    g->capacity = 1;
    ir_pipe_add_property(s->m, g, what, value);
    return g;
}
static void pipe_property_value(struct scene *s)
{
    pipe_with(s, IR_PIPE_USES_VALID, 2);
}
static void pipe_property_bits(struct scene *s)
{
    pipe_with(s, IR_PIPE_BITS_PER_SYMBOL, 0);
}
static void pipe_property_protocol(struct scene *s)
{
    struct ir_global *g = pipe_with(s, IR_PIPE_PROTOCOL, IR_PIPE_AXI_STREAMING);
    ir_pipe_add_property(s->m, g, IR_PIPE_USES_READY, 0);
    ir_pipe_add_property(s->m, g, IR_PIPE_USES_VALID, 1); /* as without saying so */
}
static void variable_property(struct scene *s)
{
    ir_pipe_add_property(s->m, ir_global_new(s->m, "g", IR_SPACE_GLOBAL, IR_I32), IR_PIPE_PROTOCOL, 0);
}
static void hole(struct scene *s)
{
    helper(s, "g", IR_LINKAGE_INTERNAL);
    s->m->functions[1] = NULL;
}

/* function: f unless given; "" for the module. line 0: no line. */
struct broken {
    const char *name;
    void (*breaks)(struct scene *s);
    uint32_t line;
    const char *block, *text, *function;
};

static const struct broken cases[] = {
    {"op_range", op_range, LINE, "body", "has operation number"},
    {"operand_type", operand_type, LINE, "body", "fadd: operand 1 is i32, must be f32"},
    {"operand_count", operand_count, LINE, "body", "fadd: has 1 operands, must have 2"},
    {"operand_missing", operand_missing, LINE, "body", "fadd: operand 1 is missing"},
    {"type_class", type_class, LINE, "body", "fadd: is of type i32, must be a float"},
    {"type_unwanted", type_unwanted, LINE, "body", "work_dim: has a type"},
    {"type_unknown", type_unknown, LINE, "body", "unreachable: has a type"},
    {"type_struct_value", type_struct_value, LINE, "body", "load: is of type struct st, must be a number"},
    {"result_type", result_type, LINE, "body", "fadd: the result is i32, must be f32"},
    {"result_count", result_count, LINE, "body", "fadd: has 0 results, must have 1"},
    {"result_link", result_link, LINE, "body", "fadd: result 0 is not linked"},
    {"attribute_range", attribute_range, LINE, "body", "global_id: has dim 3, must be below 3"},
    {"attribute_unwanted", attribute_unwanted, LINE, "body", "add: has the attribute volatile"},
    {"align_power", align_power, LINE, "body", "load: has align 12"},
    {"mask_unwanted", mask_unwanted, LINE, "body", "add: has a lane mask with an entry 2"},
    {"mask_range", mask_range, LINE, "body", "shuffle: has mask entry 1, 8"},
    {"constant_width", constant_width, LINE, "body",
     "neg: operand 0 is a constant whose lane 0, 0x100, does not fit i8"},
    {"file_range", file_range, LINE, "body", "work_dim: is from source file 1 of 0"},

    {"trunc_wider", trunc_wider, LINE, "body", "trunc: i64 is not narrower than i32"},
    {"zext_same", zext_same, LINE, "body", "zext: i32 is not wider than i32"},
    {"sext_float", sext_float, LINE, "body", "sext: operand 0 is f32, must be of integers or bools"},
    {"fpconv_same", fpconv_same, LINE, "body", "fpconv: f32 is not another width than f32"},
    {"ftos_int", ftos_int, LINE, "body", "ftos: operand 0 is i32, must be of floats"},
    {"bitcast_size", bitcast_size, LINE, "body", "bitcast: from f32 of 32 bits to i64 of 64 bits"},
    {"bitcast_pointer", bitcast_pointer, LINE, "body", "bitcast: from ptr.global to i64"},
    {"compare_floats", compare_floats, LINE, "body", "ieq: compares floats"},
    {"geometric_lanes", geometric_lanes, LINE, "body", "length: is of type f32x8, must have 1 to 4 lanes"},
    {"cross_lanes", cross_lanes, LINE, "body", "cross: is of type f32, must have 3 or 4 lanes"},
    {"vec_lanes", vec_lanes, LINE, "body", "vec: has operands of 3 lanes in all for a result of 4"},
    {"vec_element", vec_element, LINE, "body", "vec: operand 1 is i32, must be of f32"},
    {"store_constant", store_constant, LINE, "body", "store: writes constant memory"},
    {"atomic_narrow", atomic_narrow, LINE, "body", "atomic_add: is of type i8"},
    {"atomic_order", atomic_order, LINE, "body", "atomic_load: reads only"},
    {"atomic_constant", atomic_constant, LINE, "body", "atomic_add: writes constant memory"},
    {"spacecast_named", spacecast_named, LINE, "body", "spacecast: goes from ptr.global to ptr.local"},
    {"var_space", var_space, LINE, "body", "var: is not in the private"},
    {"field_range", field_range, LINE, "body", "field: names field 1 of a struct of 1"},
    {"global_foreign", global_foreign, LINE, "body", "global: names no global of the module"},
    {"barrier_scope", barrier_scope, LINE, "body", "barrier: has a scope"},
    {"broadcast_ids", broadcast_ids, LINE, "body", "group_broadcast: has 2 ids"},
    {"reduce_floats", reduce_floats, LINE, "body", "group_reduce: has a group operation for integers and type f32"},
    {"block_lanes", block_lanes, LINE, "body", "block_read: is of type i32x3"},
    {"texel_type", texel_type, LINE, "body", "image_read: is of type f32x2, must be f32x4 or i32x4"},
    {"texel_sampler", texel_sampler, LINE, "body", "image_read: has float coordinates and no sampler"},
    {"image_coordinates", image_coordinates, LINE, "body",
     "image_read: has coordinates of type i32x2, but image3d.read takes 3"},
    {"image_sampled_buffer", image_sampled_buffer, LINE, "body", "image_read: samples an image of a buffer"},
    {"image_query", image_query, LINE, "body", "image_array_size: does not go with image3d.read"},
    {"image_block", image_block, LINE, "body", "image_block_read: does not go with image2d_array.read"},
    {"image_form", image_form, 2, NULL, "parameter"},
    {"image_access", image_access, LINE, "body", "image_write: operand 0 is for reading only"},
    {"pipe_access", pipe_access, LINE, "body", "pipe_read: operand 0 is for writing only"},
    {"pipe_access_reserved", pipe_access_reserved, LINE, "body", "pipe_reserve_read: operand 0 is for writing only"},
    {"pipe_reservation", pipe_reservation, LINE, "body", "pipe_commit_write: operand 1 is i32, must be i64"},

    {"call_kernel", call_kernel, LINE, "body", "call: calls k, which is a kernel"},
    {"call_arguments", call_arguments, LINE, "body", "call: passes 1 arguments to g, which has 0 parameters"},
    {"call_argument_type", call_argument_type, LINE, "body", "call: operand 0 is i32, must be f32 for g"},
    {"call_nothing", call_nothing, LINE, "body", "call: calls no function"},
    {"recursion", recursion, 21, "body", "call each other in a circle: f, called by g, called by f", "g"},
    {"call_depth", call_depth, 20, NULL, "is called through more than 255 functions", "deepest"},

    {"no_terminator", no_terminator, LINE, "body", "work_dim: ends the block and is no terminator"},
    {"empty_block", empty_block, LINE, "body/then 1", "if: a block is empty"},
    {"early_terminator", early_terminator, LINE, "body", "return: stands before the end"},
    {"yield_in_body", yield_in_body, LINE, "body", "yield: stands in a block that is not an if's"},
    {"yield_in_loop", yield_in_loop, LINE, "body/loop 1", "yield: stands in a block that is not an if's"},
    {"break_outside", break_outside, LINE, "body/then 1", "break: stands in no loop"},
    {"yield_count", yield_count, LINE, "body/else 1", "yield: carries 0 values to 1 results of the if"},
    {"continue_type", continue_type, LINE, "body/loop 1", "continue: operand 0 is i64, must be i32"},
    {"loop_init", loop_init, LINE, "body", "loop: operand 0 is i64, must be i32"},
    {"return_value", return_value, LINE, "body", "return: returns 1 values from a function of 0"},
    {"used_before", used_before, LINE, "body", "neg: operand 0 is used before it is defined on line 9"},
    {"out_of_sight", out_of_sight, LINE, "body", "neg: operand 0 %inside is defined on line 5 in a block"},
    {"other_function", other_function, LINE, "body", "neg: operand 0 %a belongs to function g"},
    {"own_operand", own_operand, LINE, "body", "neg: operand 0 is used before it is defined"},
    {"prev_link", prev_link, LINE, "body", "work_dim: is not linked"},
    {"parent_link", parent_link, LINE, "body", "work_dim: is not linked"},
    {"last_link", last_link, 2, "body", "last instruction is not the one it names"},
    {"circular_list", circular_list, LINE, "body", "work_dim: is not linked"},
    {"shared_block", shared_block, LINE, "body", "if: block 1 is missing or not linked"},
    {"missing_block", missing_block, LINE, "body", "loop: block 0 is missing or not linked"},
    {"block_args", block_args, LINE, "body/then 1", "if: a block that is not a loop's has 1 parameters"},
    {"block_depth", block_depth, LINE, "...", "if: blocks are more than 256 deep"},

    {"same_names", same_names, 2, NULL, "two values have the name x"},
    {"bad_name", bad_name, LINE, "body", "neg: a value has a name that cannot be written: \"0\""},
    {"same_functions", same_functions, 0, NULL, "two functions have the name f", ""},
    {"import_body", import_body, 2, NULL, "is imported and has a body"},
    {"no_body", no_body, 2, NULL, "is not imported and has no body"},
    {"kernel_result", kernel_result, 0, NULL, "is a kernel and returns i32", "k"},
    {"kernel_private", kernel_private, 0, NULL, "parameter 0 of a kernel is of type ptr.private", "k"},
    {"by_value_number", by_value_number, 2, NULL, "parameter 5 is passed by value but is of type ptr.global"},
    {"by_value_elem", by_value_elem, 2, NULL, "parameter 5 is passed by value and is neither a struct nor an array"},
    {"param_struct", param_struct, 2, NULL, "parameter 2 is of type struct st"},
    {"param_access", param_access, 2, NULL, "parameter 0 is no pointer and has an access"},
    {"param_link", param_link, 2, NULL, "parameter 0 is not linked"},
    {"assumption", assumption, 2, NULL, "assumes what does not exist (bits 0x200)"},
    {"assumption_of_function", assumption_of_function, 2, NULL, "is no kernel, and assumes something of its launches"},
    {"sub_group", sub_group, 2, NULL, "has sub_group_size 12"},
    {"work_group", work_group, 2, NULL, "has work_group_size 8 x 0 x 0; give all three or none"},
    {"work_group_large", work_group_large, 2, NULL, "more than 2^32 - 1 work-items"},
    {"aspect_unknown", aspect_unknown, 2, NULL, "declares aspects that do not exist (bits 0xfffffffffe000000)"},
    {"aspect_used", aspect_used, 2, NULL, "uses aspects that do not exist (bits 0xfffffffffe000000)"},
    {"struct_aspect", struct_aspect, 0, NULL, "struct type 0 uses aspects that do not exist", ""},
    {"aspect_numbered_twice", aspect_numbered_twice, 0, NULL, "two aspects have the name ext", ""},
    {"targets_not_fixed", targets_not_fixed, 2, NULL, "has a list of targets but does not fix them"},
    {"compiled_for_nothing", compiled_for_nothing, 2, NULL, "has a list of targets but is not compiled for any"},
    {"compiled_function", compiled_function, 2, NULL, "is no kernel, and compiled for targets"},
    {"target_name", target_name, 2, NULL, "has a target without a name"},

    {"field_overlap", field_overlap, 0, NULL, "field 1 of struct st is at offset 0 and overlaps", ""},
    {"field_beyond", field_beyond, 0, NULL, "field 1 of struct st ends at 8, beyond the struct's size of 4", ""},
    {"field_align", field_align, 0, NULL, "field 1 of struct st is at offset 2, which is not a multiple of 4", ""},
    {"struct_align", struct_align, 0, NULL, "struct st has alignment 3", ""},
    {"struct_size", struct_size, 0, NULL, "struct st has size 10, which is not a multiple", ""},
    {"struct_itself", struct_itself, 0, NULL, "field 1 of struct st contains itself", ""},
    {"struct_order", struct_order, 0, NULL, "field 1 of struct st holds a struct that does not come before it", ""},
    {"same_fields", same_fields, 0, NULL, "two fields of struct st have the name first", ""},
    {"same_structs", same_structs, 0, NULL, "two structs have the name st", ""},
    {"array_itself", array_itself, 0, NULL, "array type 0 has as element an array type that does not come before", ""},
    {"array_empty", array_empty, 0, NULL, "array type 0 has no elements", ""},
    {"array_huge", array_huge, 0, NULL, "array type 0, 35184372088832 times 8 bytes, is not smaller than 2^48", ""},
    {"array_overflow", array_overflow, 0, NULL, "array type 1, 1099511627776 times 1099511627776 bytes", ""},
    {"array_twice", array_twice, 0, NULL, "array types 0 and 1 are the same", ""},
    {"array_of_images", array_of_images, 0, NULL, "array type 0 is of type image2d.read, which cannot lie in memory",
     ""},
    {"type_depth", type_depth, 0, NULL, "array type 64 holds others more than 64 deep", ""},
    {"global_space", global_space, 0, NULL, "global g is neither in the global", ""},
    {"global_local_init", global_local_init, 0, NULL, "global g is local and has initial bytes", ""},
    {"global_align", global_align, 0, NULL, "global g has alignment 24", ""},
    {"global_linkage", global_linkage, 0, NULL, "global g is neither internal, nor exported, nor imported", ""},
    {"same_globals", same_globals, 0, NULL, "two globals have the name g", ""},
    {"pipe_capacity", pipe_capacity, 0, NULL, "pipe g has no capacity", ""},
    {"pipe_property_value", pipe_property_value, 0, NULL, "pipe g has uses_valid 2; 0 to 1 can be", ""},
    {"pipe_property_bits", pipe_property_bits, 0, NULL,
     "pipe g has bits_per_symbol 0, which does not divide the 32 bits of its packets", ""},
    {"pipe_property_protocol", pipe_property_protocol, 0, NULL,
     "pipe g has uses_ready, which its protocol does not have", ""},
    {"variable_property", variable_property, 0, NULL,
     "global g is not a pipe but has a packet type, a capacity, a host access or properties", ""},
    {"hole", hole, 0, NULL, "a list of the module has a hole", ""},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static void check_finding(const struct broken *c, const struct diag *d)
{
    const char *function = !c->function ? "f" : *c->function ? c->function : NULL;
    if (!strstr(d->text, c->text)) fail_msg("\"%s\" does not say \"%s\"", d->text, c->text);
    assert_int_equal(d->line, c->line);
    assert_int_equal(!d->function, !function);
    if (function) assert_string_equal(d->function, function);
    assert_int_equal(!d->block, !c->block);
    if (c->block && strcmp(c->block, "...") == 0) {
        assert_memory_equal(d->block, "...", 3);
    } else if (c->block) {
        assert_string_equal(d->block, c->block);
    }
}

static void test_broken(void **state)
{
    const struct broken *c = *state;
    struct scene s = open_scene();
    c->breaks(&s);
    if (!s.ended) end(&s, s.f->body, IR_OP_RETURN);
    struct diag_list list = {0};
    assert_false(ir_verify(s.m, &list));
    assert_false(ir_verify(s.m, NULL));
    if (list.n != 1) fail_msg("%zu findings:\n%s", list.n, diag_format(&list));
    check_finding(c, &list.items[0]);
    diag_clear(&list);
    ir_module_free(s.m);
}

/* Broken in many ways at once: each is told, in one call. */
static void test_all_reported(void **state)
{
    (void)state;
    static void (*const breaks[])(struct scene * s) = {
        operand_type, trunc_wider,  bitcast_size, store_constant, barrier_scope, used_before,
        call_kernel,  param_access, sub_group,    field_overlap,  global_align,  attribute_range,
    };
    enum { N = sizeof breaks / sizeof *breaks };
    struct scene s = open_scene();
    for (int i = 0; i < N; i++) breaks[i](&s);
    end(&s, s.f->body, IR_OP_RETURN);
    struct diag_list list = {0};
    assert_false(ir_verify(s.m, &list));
    assert_int_equal(list.n, N);
    for (int i = 0; i < N; i++) {
        const struct broken *c = cases;
        while (c->breaks != breaks[i]) c++;
        size_t k = 0;
        while (k < list.n && !strstr(list.items[k].text, c->text)) k++;
        if (k == list.n) fail_msg("nothing says \"%s\"", c->text);
        check_finding(c, &list.items[k]);
    }
    diag_clear(&list);
    ir_module_free(s.m);
}

static void test_many_are_counted(void **state)
{
    (void)state;
    struct scene s = open_scene();
    for (int i = 0; i < 250; i++) operand_type(&s);
    end(&s, s.f->body, IR_OP_RETURN);
    struct diag_list list = {0};
    assert_false(ir_verify(s.m, &list));
    assert_int_equal(list.n, 100);
    assert_int_equal(list.dropped, 150);
    diag_clear(&list);
    ir_module_free(s.m);
}

/* What looks broken and is not. */
static void test_valid(void **state)
{
    (void)state;
    struct scene s = open_scene();
    struct ir_inst *loop = open_loop(&s);
    struct ir_builder b = ir_builder_at_end(loop->blocks[0]);
    struct ir_inst *inst = ir_build_if(&b, s.cond, NULL, 0);
    ir_build(&b, IR_OP_UNREACHABLE, IR_VOID, NULL, 0);
    end(&s, inst->blocks[0], IR_OP_BREAK);
    end(&s, inst->blocks[1], IR_OP_CONTINUE);
    build(&s, IR_OP_SELECT, s.vec->type, 3, s.cond, s.vec, s.vec); /* a scalar condition for vectors */
    struct ir_struct *packed = pair(&s, "packed", IR_I8, IR_I64);
    packed->align = 1;
    packed->fields[1].offset = 1;
    packed->size = 9;
    struct ir_function *g = helper(&s, "g", IR_LINKAGE_INTERNAL);
    struct ir_builder in_g = ir_builder_before(g->body->first);
    ir_build(&in_g, IR_OP_BARRIER, IR_VOID, NULL, 0)->attrs.scope = IR_SCOPE_WORK_GROUP;
    ir_build_call(&s.b, g, NULL, 0);
    ir_build_call(&s.b, g, NULL, 0);
    s.f->sub_group_size = IR_SUB_GROUP_PRIMARY;
    s.f->has_declared = true;
    s.f->aspects_declared = IR_ASPECT_IMAGE | IR_ASPECT_PIPES | IR_ASPECT_FP16;
    end(&s, s.f->body, IR_OP_RETURN);
    struct diag_list list = {0};
    if (!ir_verify(s.m, &list)) fail_msg("%s", diag_format(&list));
    ir_module_free(s.m);
}

int main(void)
{
    struct CMUnitTest tests[N_CASES + 3] = {
        cmocka_unit_test(test_all_reported),
        cmocka_unit_test(test_many_are_counted),
        cmocka_unit_test(test_valid),
    };
    for (int i = 0; i < N_CASES; i++)
        tests[i + 3] =
            (struct CMUnitTest){.name = cases[i].name, .test_func = test_broken, .initial_state = (void *)&cases[i]};
    return _cmocka_run_group_tests("ir_verify", tests, N_CASES + 3, NULL, NULL);
}
