/* Variables and values that all of the body can use. */
#include "ir/spirv/translate/values/prologue.h"

struct ir_builder spirv_prologue(struct spirv_body *s)
{
    struct ir_builder b = ir_builder_at_end(s->ir->body);
    b.before = s->prologue ? s->prologue->next : s->ir->body->first;
    return b;
}

void spirv_prologue_end(struct spirv_body *s, const struct ir_builder *b)
{
    s->prologue = b->before ? b->before->prev : s->ir->body->last;
}
