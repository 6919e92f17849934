/* The daemon's counters and limits, as JSON. */
#include <stdio.h>
#include <string.h>

#include "client/base/error.h"
#include "client/base/text.h"
#include "client/session/request.h"
#include "proto/fields.h"
#include "proto/frame.h"

static void print_json(FILE *out, const msgpack_object *o);

static void print_json_string(FILE *out, const char *text, uint32_t size)
{
    fputc('"', out);
    for (uint32_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '"' || c == '\\')
            fprintf(out, "\\%c", c);
        else if (c < 0x20)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

static void print_json_map(FILE *out, const msgpack_object_map *map)
{
    fputc('{', out);
    for (uint32_t i = 0; i < map->size; i++) {
        if (i) fputs(", ", out);
        print_json(out, &map->ptr[i].key);
        fputs(": ", out);
        print_json(out, &map->ptr[i].val);
    }
    fputc('}', out);
}

static void print_json(FILE *out, const msgpack_object *o)
{
    switch (o->type) {
    case MSGPACK_OBJECT_BOOLEAN: fputs(o->via.boolean ? "true" : "false", out); break;
    case MSGPACK_OBJECT_POSITIVE_INTEGER: fprintf(out, "%llu", (unsigned long long)o->via.u64); break;
    case MSGPACK_OBJECT_NEGATIVE_INTEGER: fprintf(out, "%lld", (long long)o->via.i64); break;
    case MSGPACK_OBJECT_FLOAT32:
    case MSGPACK_OBJECT_FLOAT64: fprintf(out, "%.17g", o->via.f64); break;
    case MSGPACK_OBJECT_STR: print_json_string(out, o->via.str.ptr, o->via.str.size); break;
    case MSGPACK_OBJECT_ARRAY:
        fputc('[', out);
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            if (i) fputs(", ", out);
            print_json(out, &o->via.array.ptr[i]);
        }
        fputc(']', out);
        break;
    case MSGPACK_OBJECT_MAP: print_json_map(out, &o->via.map); break;
    default: fputs("null", out); break;
    }
}

/* The daemon's, and what is known here only. */
static void print_status(FILE *out, const fusion_session *s, const msgpack_object *status)
{
    fputc('{', out);
    for (uint32_t i = 0; status->type == MSGPACK_OBJECT_MAP && i < status->via.map.size; i++) {
        print_json(out, &status->via.map.ptr[i].key);
        fputs(": ", out);
        print_json(out, &status->via.map.ptr[i].val);
        fputs(", ", out);
    }
    fprintf(out, "\"windows\": {\"commands\": %llu, \"windows\": %llu, \"fused\": %llu, \"shapes\": %llu}}",
            (unsigned long long)s->windows.commands, (unsigned long long)s->windows.windows,
            (unsigned long long)s->windows.fused, (unsigned long long)s->windows.shapes);
}

fusion_status fusion_session_metrics(fusion_session *s, char **text)
{
    struct proto_message reply;
    fusion_status status = client_request(s, "metrics", NULL, NULL, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    const msgpack_object *o = proto_get(&reply.params, "text");
    char *copy = o && o->type == MSGPACK_OBJECT_STR ? strndup(o->via.str.ptr, o->via.str.size) : NULL;
    if (!o || o->type != MSGPACK_OBJECT_STR)
        status = client_error(FUSION_PROTOCOL, "metrics", "the reply has no text");
    else if (!copy)
        status = client_no_memory("metrics");
    else
        *text = copy;
    proto_message_clear(&reply);
    return status;
}

fusion_status fusion_session_status(fusion_session *s, char **json)
{
    struct proto_message reply;
    struct client_text text;
    fusion_status status = client_request(s, "status", NULL, NULL, NULL, 0, &reply);
    if (status != FUSION_SUCCESS) return status;
    status = client_text_open(&text, "status");
    if (status == FUSION_SUCCESS) {
        print_status(text.file, s, &reply.params);
        status = client_text_close(&text, "status", json);
    }
    proto_message_clear(&reply);
    return status;
}
