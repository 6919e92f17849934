/* What is stored where nobody reads it goes: of the cleaned-up kernel, whose loads took what was stored. */
#include "fuser/merge/unseen.h"

#include <stdlib.h>
#include <string.h>

#include "fuser/passes/util.h"
#include "ir/base/arena.h"

struct looking {
    uint32_t *param; /* by value: one more than the parameter that it is an address in; 0: it is none */
    bool *seen;      /* by parameter: used otherwise than to store there */
    bool dropped;
};

static bool is_address(const struct ir_inst *inst)
{
    return inst->op == IR_OP_ELEM || inst->op == IR_OP_FIELD || inst->op == IR_OP_SPACECAST;
}

static void see_use(struct ir_inst *inst, void *data)
{
    struct looking *l = data;
    for (uint32_t i = 0; i < inst->n_operands; i++) {
        uint32_t param = l->param[inst->operands[i]->scratch];
        if (!param) continue;
        if (i == 0 && is_address(inst)) {
            l->param[inst->results[0]->scratch] = param;
        } else if (i || inst->op != IR_OP_STORE || inst->attrs.is_volatile) {
            l->seen[param - 1] = true;
        }
    }
}

static void drop_store(struct ir_inst *inst, void *data)
{
    struct looking *l = data;
    if (inst->op != IR_OP_STORE) return;
    uint32_t param = l->param[inst->operands[0]->scratch];
    if (!param || l->seen[param - 1]) return;
    ir_inst_remove(inst);
    l->dropped = true;
}

static void *zeroed(size_t n)
{
    return memset(arena_realloc(NULL, n), 0, n);
}

bool unseen_drop(struct fuse *f)
{
    const struct fuse_request *r = f->request;
    struct looking l = {.param = zeroed(pass_number(f->kernel) * sizeof *l.param), .seen = zeroed(r->n_params + 1)};
    for (uint32_t i = 0; i < r->n_params; i++)
        if (r->params[i].unseen) l.param[f->kernel->params[i].value->scratch] = i + 1;
    ir_walk(f->kernel->body, see_use, &l);
    ir_walk(f->kernel->body, drop_store, &l);
    free(l.param);
    free(l.seen);
    return l.dropped;
}
