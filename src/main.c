#include "version.h"

#include <stdio.h>

int main(void)
{
    puts(IPW_VERSION);
    return 0;
}
