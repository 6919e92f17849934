/*
 * Closing descriptors that strangers have sent. It may take long: a socket lingers, large memory is given back, a file
 * system waits for its server. Helper threads do it, so that the event loop never waits.
 */
#pragma once

#include <stdbool.h>

/* Starts the first thread. False: it cannot be. */
bool closing_start(void);
/* Takes the descriptor over; never blocks. Before closing_start() it closes in place. */
void closing_close(int fd);
