/* Functions that cannot be used safely, or that guess. Force-included into every file by the build.
 * Use instead: snprintf or struct buf, num.h (parse_i64 and friends), strtok never. */
#ifndef IPW_BASE_BANNED_H
#define IPW_BASE_BANNED_H

/* The system's own headers must have declared them before the names are taken away. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC poison strcpy strcat strncpy strncat sprintf vsprintf strtok gets atoi atol atoll atof

#endif
