/* What a broken executor does when a buffer of so many bytes is attached. */
#pragma once

enum broken_order {
    BROKEN_IS_UNFINISHED = 1001, /* begins a message, the largest there may be, and does not end it */
    BROKEN_IS_DEAF,              /* reads nothing more */
    BROKEN_IS_MUTE,              /* answers nothing but how buffers are attached */
    BROKEN_FORGES                /* tells of what is not there */
};
