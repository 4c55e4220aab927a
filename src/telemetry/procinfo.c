/*
 * All of it is lines of "key<blanks>:<blanks>value" or KEY=value; one cursor over lines serves them
 * all. Names of ARM cores are from the vendors' public lists of MIDR numbers; only cores that
 * somebody runs a language model on are listed.
 */
#include "telemetry/procinfo.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUINFO_BYTES_MAX (16u << 20) /* a thousand CPUs take two megabytes */
#define CORE_KINDS_MAX    4

struct span {
    const char *p;
    size_t n;
};

/* The next line without its end; false when there is none. */
static bool next_line(struct span *text, struct span *ret)
{
    const char *end;

    if (text->n == 0)
        return false;
    end = memchr(text->p, '\n', text->n);
    *ret = (struct span){text->p, end ? (size_t)(end - text->p) : text->n};
    text->n -= ret->n + (end ? 1 : 0);
    text->p += ret->n + (end ? 1 : 0);
    return true;
}

static struct span trim(struct span s)
{
    while (s.n > 0 && (*s.p == ' ' || *s.p == '\t' || *s.p == '\r'))
        s.p++, s.n--;
    while (s.n > 0 && strchr(" \t\r", s.p[s.n - 1]) && s.p[s.n - 1])
        s.n--;
    return s;
}

static bool split(struct span line, char at, struct span *ret_key, struct span *ret_value)
{
    const char *colon = line.n ? memchr(line.p, at, line.n) : NULL;

    if (!colon)
        return false;
    *ret_key = trim((struct span){line.p, (size_t)(colon - line.p)});
    *ret_value = trim((struct span){colon + 1, line.n - (size_t)(colon - line.p) - 1});
    return true;
}

static bool equals(struct span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

/* The whole number that s begins with, which moves behind it and the blanks after it. */
static bool take_number(struct span *s, int64_t *ret)
{
    int64_t value = 0;
    size_t i = 0;

    for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, s->p[i] - '0', &value))
            return false;
    if (i == 0)
        return false;
    *s = trim((struct span){s->p + i, s->n - i});
    *ret = value;
    return true;
}

int cpu_times_parse(const char *text, size_t n, struct cpu_times *ret)
{
    /* user nice system idle iowait irq softirq steal; guest time is in user already */
    static const bool busy[] = {true, true, true, false, false, true, true, false};
    struct span rest = {text, n}, line;
    struct cpu_times t = {0};
    size_t i;

    if (!next_line(&rest, &line) || line.n < 4 || memcmp(line.p, "cpu ", 4) != 0)
        return -EINVAL;
    line = trim((struct span){line.p + 4, line.n - 4});
    for (i = 0; i < sizeof(busy) / sizeof(*busy); i++) {
        int64_t ticks, *sum = busy[i] ? &t.busy : &t.idle;

        if (!take_number(&line, &ticks))
            break;
        if (__builtin_add_overflow(*sum, ticks, sum))
            return -EINVAL;
    }
    if (i < 4) /* idle is there since ever, the others came later */
        return -EINVAL;
    *ret = t;
    return 0;
}

double cpu_times_busy_pct(const struct cpu_times *from, const struct cpu_times *to)
{
    /* The kernel's idle and iowait may step back a little; time does not. */
    double busy = fmax(0, (double)to->busy - (double)from->busy);
    double idle = fmax(0, (double)to->idle - (double)from->idle);

    return busy + idle > 0 ? 100 * busy / (busy + idle) : NAN;
}

/* The beginning of the file, whole lines only. Returns the length or -errno. */
static ssize_t read_head(int fd, char *text, size_t size)
{
    ssize_t got;
    const char *end;

    do
        got = pread(fd, text, size, 0);
    while (got < 0 && errno == EINTR);
    if (got <= 0)
        return got < 0 ? -errno : -ENODATA;
    end = memrchr(text, '\n', (size_t)got);
    return end ? end + 1 - text : -EINVAL;
}

int cpu_times_read(int fd, struct cpu_times *ret)
{
    char text[512];
    ssize_t n = read_head(fd, text, sizeof(text));

    return n < 0 ? (int)n : cpu_times_parse(text, (size_t)n, ret);
}

void memory_info_parse(const char *text, size_t n, struct memory_info *ret)
{
    struct span rest = {text, n}, line, key, value;

    *ret = (struct memory_info){-1, -1};
    while (next_line(&rest, &line)) {
        int64_t *field, kib;

        if (!split(line, ':', &key, &value))
            continue;
        field = equals(key, "MemTotal")       ? &ret->total_bytes
                : equals(key, "MemAvailable") ? &ret->available_bytes
                                              : NULL;
        if (field && take_number(&value, &kib) && equals(value, "kB") && kib <= INT64_MAX / 1024)
            *field = kib * 1024;
    }
}

int memory_info_read(int fd, struct memory_info *ret)
{
    char text[1024];
    ssize_t n = read_head(fd, text, sizeof(text));

    if (n < 0)
        return (int)n;
    memory_info_parse(text, (size_t)n, ret);
    return 0;
}

static const struct core {
    unsigned implementer, part;
    const char *name;
} cores[] = {
    {0x41, 0xd03, "Cortex-A53"},    {0x41, 0xd05, "Cortex-A55"},    {0x41, 0xd07, "Cortex-A57"},
    {0x41, 0xd08, "Cortex-A72"},    {0x41, 0xd09, "Cortex-A73"},    {0x41, 0xd0a, "Cortex-A75"},
    {0x41, 0xd0b, "Cortex-A76"},    {0x41, 0xd0c, "Neoverse-N1"},   {0x41, 0xd0d, "Cortex-A77"},
    {0x41, 0xd40, "Neoverse-V1"},   {0x41, 0xd41, "Cortex-A78"},    {0x41, 0xd42, "Cortex-A78AE"},
    {0x41, 0xd44, "Cortex-X1"},     {0x41, 0xd46, "Cortex-A510"},   {0x41, 0xd47, "Cortex-A710"},
    {0x41, 0xd48, "Cortex-X2"},     {0x41, 0xd49, "Neoverse-N2"},   {0x41, 0xd4b, "Cortex-A78C"},
    {0x41, 0xd4d, "Cortex-A715"},   {0x41, 0xd4e, "Cortex-X3"},     {0x41, 0xd4f, "Neoverse-V2"},
    {0x41, 0xd80, "Cortex-A520"},   {0x41, 0xd81, "Cortex-A720"},   {0x41, 0xd82, "Cortex-X4"},
    {0x41, 0xd83, "Neoverse-V3AE"}, {0x41, 0xd84, "Neoverse-V3"},   {0x41, 0xd85, "Cortex-X925"},
    {0x41, 0xd87, "Cortex-A725"},   {0x41, 0xd8e, "Neoverse-N3"},   {0x46, 0x001, "A64FX"},
    {0x48, 0xd01, "Kunpeng 920"},   {0x4e, 0x004, "NVIDIA Carmel"}, {0x51, 0x001, "Qualcomm Oryon"},
    {0x61, 0x022, "Apple M1"},      {0x61, 0x023, "Apple M1"},      {0x61, 0x024, "Apple M1 Pro"},
    {0x61, 0x025, "Apple M1 Pro"},  {0x61, 0x028, "Apple M1 Max"},  {0x61, 0x029, "Apple M1 Max"},
    {0x61, 0x032, "Apple M2"},      {0x61, 0x033, "Apple M2"},      {0x61, 0x034, "Apple M2 Pro"},
    {0x61, 0x035, "Apple M2 Pro"},  {0x61, 0x038, "Apple M2 Max"},  {0x61, 0x039, "Apple M2 Max"},
    {0xc0, 0xac3, "AmpereOne"},     {0xc0, 0xac4, "AmpereOne"},
};

static const char *core_name(unsigned implementer, unsigned part)
{
    for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++)
        if (cores[i].implementer == implementer && cores[i].part == part)
            return cores[i].name;
    return NULL;
}

/* "0x41" */
static bool parse_hex(struct span s, unsigned *ret)
{
    char text[16], *end;

    if (s.n < 3 || s.n >= sizeof(text) || memcmp(s.p, "0x", 2) != 0)
        return false;
    memcpy(text, s.p + 2, s.n - 2);
    text[s.n - 2] = '\0';
    if (!strchr("0123456789abcdefABCDEF", text[0]) || s.n > 10)
        return false;
    *ret = (unsigned)strtoul(text, &end, 16);
    return *end == '\0';
}

/* What cpuinfo says, line by line. */
struct seen {
    int processors;
    struct span model_name, model, hardware, uarch, cpu;
    unsigned implementer, unknown_part;
    const char *kinds[CORE_KINDS_MAX]; /* different cores, in their order */
    size_t n_kinds;
};

static void see_core(struct seen *s, unsigned part)
{
    const char *name = core_name(s->implementer, part);

    for (size_t i = 0; i < s->n_kinds; i++)
        if (name && strcmp(name, s->kinds[i]) == 0)
            return;
    if (!name)
        s->unknown_part = part;
    else if (s->n_kinds < CORE_KINDS_MAX)
        s->kinds[s->n_kinds++] = name;
}

static void see_line(struct seen *s, struct span key, struct span value)
{
    const struct {
        const char *key;
        struct span *first;
    } texts[] = {{"model name", &s->model_name}, {"Model Name", &s->model_name},
                 {"Model", &s->model},           {"Hardware", &s->hardware},
                 {"uarch", &s->uarch},           {"cpu", &s->cpu}};
    unsigned number;

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (texts[i].first->n == 0 && equals(key, texts[i].key))
            *texts[i].first = value;
    if (equals(key, "processor") && s->processors < ATTR_INDEX_MAX)
        s->processors++;
    else if (equals(key, "CPU implementer") && parse_hex(value, &number))
        s->implementer = number;
    else if (equals(key, "CPU part") && parse_hex(value, &number))
        see_core(s, number);
}

/* Core first: it is what the numbers depend on. "Cortex-A76 (Raspberry Pi 5 Model B Rev 1.0)". */
static void name_arm(const struct seen *s, const char *board, char *ret, size_t size)
{
    AUTO(buf) struct buf text = BUF_INIT(512);
    struct span machine = s->model.n ? s->model : (struct span){board, strlen(board)};

    if (!machine.n)
        machine = s->hardware;
    if (machine.n > 128)
        machine.n = 128;
    for (size_t i = 0; i < s->n_kinds; i++)
        buf_addf(&text, "%s%s", i ? " + " : "", s->kinds[i]);
    if (!s->n_kinds && s->unknown_part)
        buf_addf(&text, "ARM core 0x%02x:0x%03x", s->implementer, s->unknown_part);
    if (machine.n && text.len)
        buf_addf(&text, " (%.*s)", (int)machine.n, machine.p);
    else if (machine.n)
        buf_add(&text, machine.p, machine.n);
    text_clean(ret, size, buf_str(&text), text.len);
}

void cpu_info_parse(const char *text, size_t n, const char *board, struct cpu_info *ret)
{
    struct span rest = {text, n}, line, key, value;
    struct seen s = {0};

    while (next_line(&rest, &line))
        if (split(line, ':', &key, &value))
            see_line(&s, key, value);
    *ret = (struct cpu_info){.count = s.processors};
    /* "ARMv7 Processor rev 4 (v7l)" names an architecture, not a CPU. */
    if (s.model_name.n && !(s.model_name.n > 3 && memcmp(s.model_name.p, "ARMv", 4) == 0))
        text_clean(ret->brand, sizeof(ret->brand), s.model_name.p, s.model_name.n);
    if (!*ret->brand)
        name_arm(&s, board, ret->brand, sizeof(ret->brand));
    if (!*ret->brand)
        text_clean(ret->brand, sizeof(ret->brand), s.uarch.n ? s.uarch.p : s.cpu.p,
                   s.uarch.n ? s.uarch.n : s.cpu.n);
}

void cpu_info_read(const char *procfs_root, struct cpu_info *ret)
{
    AUTO_FREE char *path = xasprintf("%s/cpuinfo", procfs_root);
    AUTO_FREE char *board_path = xasprintf("%s/device-tree/model", procfs_root);
    AUTO(buf) struct buf text = BUF_INIT(CPUINFO_BYTES_MAX);
    char board[96];
    long online;

    if (fs_read_all(AT_FDCWD, path, &text, NULL) < 0)
        buf_clear(&text);
    attr_text(AT_FDCWD, board_path, board, sizeof(board));
    cpu_info_parse(buf_str(&text), text.len, board, ret);
    online = sysconf(_SC_NPROCESSORS_ONLN);
    if (ret->count == 0 && online > 0)
        ret->count = (int)online;
}

/* A value as a shell would read it: in quotes of either kind, or bare. */
static void unquote(struct span s, char *ret, size_t size)
{
    char text[256];
    size_t len = 0;
    bool quoted = s.n >= 2 && (*s.p == '"' || *s.p == '\'') && s.p[s.n - 1] == *s.p;
    bool escapes = !quoted || *s.p == '"';

    if (quoted)
        s = (struct span){s.p + 1, s.n - 2};
    for (size_t i = 0; i < s.n && len < sizeof(text); i++) {
        if (escapes && s.p[i] == '\\' && i + 1 < s.n)
            i++;
        text[len++] = s.p[i];
    }
    text_clean(ret, size, text, len);
}

void os_release_parse(const char *text, size_t n, char *ret_name, size_t name_size,
                      char *ret_version, size_t version_size)
{
    struct span rest = {text, n}, line, key, value;

    ret_name[0] = ret_version[0] = '\0';
    while (next_line(&rest, &line)) {
        if (!split(line, '=', &key, &value))
            continue;
        if (equals(key, "NAME"))
            unquote(value, ret_name, name_size);
        else if (equals(key, "VERSION_ID"))
            unquote(value, ret_version, version_size);
    }
}
