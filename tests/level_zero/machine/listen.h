/* A machine for processes that cannot start one, as they are confined: they find it by the name of a socket. */
#pragma once

#include <stdbool.h>

/* Waits for one of them, in a process of its own for each. What it returns to has the descriptors of channel.h. False:
   it cannot listen there. */
bool listen_for_one(const char *path);

/* The other side: gives the memory, and is given the socket that ends with the machine. -1: nobody listens there. */
int listen_connect(const char *path, int memory);
