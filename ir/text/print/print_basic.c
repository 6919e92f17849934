/* Types, strings, names and locations. */
#include "ir/text/print/print_basic.h"

#include "ir/text/print/print_type.h"
#include "ir/text/print/value_numbers.h"

void print_type(struct printer *p, ir_type t)
{
    ir_print_type_to(&p->out, p->m, t);
}

void print_string(struct printer *p, const char *s)
{
    strbuf_add(&p->out, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') {
            strbuf_printf(&p->out, "\\%c", *s);
        } else if ((unsigned char)*s < ' ' || *s == 127) {
            strbuf_printf(&p->out, "\\x%02x", (unsigned char)*s);
        } else {
            strbuf_add_bytes(&p->out, s, 1);
        }
    }
    strbuf_add(&p->out, "\"");
}

void print_file(struct printer *p, uint32_t file)
{
    if (file && file <= p->m->n_files)
        print_string(p, p->m->files[file - 1]);
    else
        strbuf_add(&p->out, "none");
}

bool print_is_here(const struct printer *p, struct ir_loc loc)
{
    bool same = loc.file == p->loc.file && loc.line == p->loc.line && loc.column == p->loc.column;
    return p->no_locations || same;
}

void print_loc(struct printer *p, struct ir_loc loc)
{
    if (print_is_here(p, loc)) return;
    strbuf_add(&p->out, " !");
    if (loc.file != p->loc.file) {
        print_file(p, loc.file);
        strbuf_add(&p->out, ":");
    }
    strbuf_printf(&p->out, "%u", loc.line);
    if (loc.column) strbuf_printf(&p->out, ":%u", loc.column);
    p->loc = loc;
}

void print_name(struct printer *p, const struct ir_value *v)
{
    uint32_t number;
    if (v && v->name) {
        strbuf_printf(&p->out, "%%%s", v->name);
    } else if (v && print_number_of(p, v, &number)) {
        strbuf_printf(&p->out, "%%%u", number);
    } else {
        strbuf_add(&p->out, "%?");
    }
}
