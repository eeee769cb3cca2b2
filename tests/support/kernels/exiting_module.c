/* A module whose initialiser ends the process. */
#include <stdint.h>
#include <stdlib.h>

#include "backends/runner/pyptox_kernel.h"

__attribute__((constructor)) static void End(void) { _Exit(3); }

int32_t add_one(const pyptox_launch* launch) { return (int32_t)launch->reserved; }
