#include "analysis/refresh.h"

#include "analysis/run.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <string.h>

static int replace_efficiency(const struct run *run, const struct tally *t, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO_FD int dir = fs_open_dir(AT_FDCWD, run_dir(run), err);
    struct json_writer w = json_writer(&text, JSON_PRETTY);

    if (dir < 0)
        return dir;
    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, run_summary(run)) {
        if (strcmp(member->key, "efficiency") == 0)
            tally_efficiency_json(t, &w);
        else
            jw_value(&w, member->key, member);
    }
    jw_end_object(&w);
    buf_addc(&text, '\n');
    return fs_replace(dir, "summary.json", text.data, text.len, err);
}

int run_refresh(const char *dir, struct tally *ret, struct err *err)
{
    AUTO_PTR(run) struct run *run = NULL;
    struct tally t = {0};
    const struct record *record;
    int r = run_open(dir, &run, err);

    while (r >= 0 && (r = run_next(run, &record, err)) > 0)
        tally_add(&t, record);
    if (r == 0 && json_get(run_summary(run), "efficiency"))
        r = replace_efficiency(run, &t, err);
    if (r < 0)
        tally_release(&t);
    else
        *ret = t;
    return r;
}
