#include "telemetry/visible.h"

#include "base/num.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_blank(char c)
{
    return isspace((unsigned char)c) != 0;
}

bool visible_all(const char *text)
{
    char entry[8];

    if (!text)
        return true;
    return visible_next(&text, entry, sizeof(entry)) && strcasecmp(entry, "all") == 0;
}

bool visible_next(const char **text, char *entry, size_t size)
{
    const char *begin = *text, *end;
    size_t len;

    while (is_blank(*begin))
        begin++;
    len = strcspn(begin, ",");
    *text = begin[len] ? begin + len + 1 : begin + len;
    end = begin + len;
    while (end > begin && is_blank(end[-1]))
        end--;
    if ((size_t)(end - begin) < size)
        snprintf(entry, size, "%.*s", (int)(end - begin), begin);
    else
        snprintf(entry, size, "?");
    return *entry && strcasecmp(entry, "none") != 0 && strcasecmp(entry, "void") != 0 &&
           strcasecmp(entry, "NoDevFiles") != 0;
}

int visible_index(const char *entry, size_t n)
{
    int64_t value;

    if (parse_i64(entry, &value, NULL) < 0 || value < 0 || (uint64_t)value >= n)
        return -1;
    return (int)value;
}
