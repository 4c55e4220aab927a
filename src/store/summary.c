#include "store/summary.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "version.h"

#include <string.h>

static void write_config(struct json_writer *w, const char *config)
{
    AUTO(json_doc) struct json_doc doc = {0};

    if (config && json_doc_parse(&doc, config, strlen(config), NULL) == 0)
        jw_value(w, "profiler_config", doc.root);
    else
        jw_null(w, "profiler_config");
}

static void write_system(struct json_writer *w, const struct system_info *s)
{
    if (!s) {
        jw_null(w, "system_info");
        return;
    }
    jw_begin_object(w, "system_info");
    jw_text(w, "os_name", s->os_name);
    jw_text(w, "os_version", s->os_version);
    jw_text(w, "kernel_version", s->kernel_version);
    jw_text(w, "host_name", s->host_name);
    jw_int(w, "cpu_count", s->cpu_count);
    jw_text(w, "cpu_brand", s->cpu_brand);
    jw_end_object(w);
}

static void write_gpu(struct json_writer *w, const struct device *d)
{
    if (!d) {
        jw_null(w, "gpu_info");
        return;
    }
    jw_begin_object(w, "gpu_info");
    jw_text(w, "name", d->name);
    jw_text(w, "vendor", d->vendor);
    jw_int(w, "device_id", d->number);
    jw_text(w, "device_type", d->type);
    jw_text(w, "backend", d->backend);
    jw_end_object(w);
}

static void write_date(struct json_writer *w, const char *key, int64_t wall_ns)
{
    char text[32];

    clock_format_utc(wall_ns, text, sizeof(text));
    jw_text(w, key, text);
}

static void write_known_keys(struct json_writer *w, const struct summary *s)
{
    jw_text(w, "model", s->model);
    write_config(w, s->config);
    jw_text(w, "dataset", s->dataset);
    jw_text(w, "dataset_name", s->dataset_name);
    jw_text(w, "hardware_label", s->hardware_label);
    jw_real(w, "generated_at", (double)s->generated_wall_ns / 1e9);
    jw_int(w, "total_queries", s->total_queries);
    write_system(w, s->system);
    write_gpu(w, s->gpu);
    jw_text(w, "output_dir", s->output_dir);
    jw_begin_object(w, "versions");
    jw_text(w, "ipw", IPW_VERSION);
    jw_end_object(w);
}

int summary_write(int dirfd, const struct summary *s,
                  void (*more)(void *arg, struct json_writer *w), void *arg, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_PRETTY);

    jw_begin_object(&w, NULL);
    write_known_keys(&w, s);
    jw_int(&w, "schema_version", SUMMARY_SCHEMA_VERSION);
    jw_text(&w, "command_line", s->command_line);
    if (s->started_at)
        jw_text(&w, "started_at", s->started_at);
    else
        write_date(&w, "started_at", s->started_wall_ns);
    write_date(&w, "finished_at", s->finished_wall_ns);
    if (more)
        more(arg, &w);
    jw_end_object(&w);
    buf_addc(&text, '\n');
    return fs_replace(dirfd, "summary.json", text.data, text.len, err);
}
