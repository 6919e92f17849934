/* Types of values. */
#pragma once

#include <fusiond/fusiond.h>

/* Numbers of a type, so many; of element FUSION_BYTES: any bytes. */
struct client_value_type {
    fusion_type element;
    uint32_t lanes;
};

enum { CLIENT_VALUE_TEXT = 32 };

const char *client_value_text(struct client_value_type t, char text[CLIENT_VALUE_TEXT]);
/* The one with this name in kernels; bytes where it is none of numbers. */
struct client_value_type client_value_type_of(const char *name);
bool client_value_type_is(struct client_value_type a, struct client_value_type b); /* whatever their signs */
/* May a value be given for a parameter, `name` being its type's? Any bytes may. */
fusion_status client_value_check(const char *object, const char *name, struct client_value_type parameter,
                                 struct client_value_type given);
