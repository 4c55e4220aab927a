/*
 * The exchange of old data for new, in steps each of which leaves a directory that loads: see
 * rewrite.h. Where the columns differ, dataset_info.json is without its features for the time of
 * the exchange, because they would have to change in the same instant as the shards; the shards
 * have their own.
 */
#include "store/rewrite.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "store/rewrite_private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PREFIX REWRITE_DIR "/"
/* state.json and dataset_info.json as they were */
#define REPLACED_STATE PREFIX "replaced-state.json"
#define REPLACED_INFO  PREFIX "replaced-info.json"
#define JSON_MAX_BYTES ((size_t)64 << 20)

/*
 * The metadata.
 */

static int read_json(int fd, const char *name, struct json_doc *doc, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(JSON_MAX_BYTES);
    int r = fs_read_all(fd, name, &text, err);

    if (r == 0)
        r = json_doc_parse(doc, buf_str(&text), text.len, err);
    if (r == 0 && !json_is(doc->root, JSON_OBJECT))
        r = err_set(err, EBADMSG, "not an object");
    return r < 0 && err ? err_prefix(err, "%s", name) : r;
}

static int write_json(int fd, const char *name, const struct buf *text, struct err *err)
{
    return fs_replace(fd, name, text->data, text->len, err);
}

static struct json_writer metadata_writer(struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_PRETTY);

    w.ascii = true;
    return w;
}

/* The file's name in the directory itself, NULL when that is not what it is. */
static const char *plain_name(const struct json *file)
{
    const char *name = json_text(json_get(file, "filename"), "");

    if (strncmp(name, PREFIX, strlen(PREFIX)) == 0)
        name += strlen(PREFIX);
    return *name && *name != '.' && !strchr(name, '/') ? name : NULL;
}

/* state.json with the shards and fingerprint of `fresh`, the rest of `old`. */
static int write_state(int fd, const struct json *old, const struct json *fresh, const char *prefix,
                       struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = metadata_writer(&text);

    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, old) {
        if (strcmp(member->key, "_fingerprint") == 0) {
            jw_value(&w, member->key, json_get(fresh, member->key));
        } else if (strcmp(member->key, "_data_files") == 0) {
            jw_begin_array(&w, member->key);
            JSON_FOREACH (file, json_get(fresh, member->key)) {
                AUTO_FREE char *name = xasprintf("%s%s", prefix, plain_name(file));

                jw_begin_object(&w, NULL);
                jw_text(&w, "filename", name);
                jw_end_object(&w);
            }
            jw_end_array(&w);
        } else {
            jw_value(&w, member->key, member);
        }
    }
    jw_end_object(&w);
    return write_json(fd, "state.json", &text, err);
}

/* dataset_info.json with these features; NULL = without any, and then the shards' own count. */
static int write_features(int fd, const struct json *features, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc info = {0};
    struct json_writer w = metadata_writer(&text);
    bool done = !features;
    int r = read_json(fd, "dataset_info.json", &info, err);

    if (r < 0)
        return r;
    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, info.root) {
        /* where the library has it, in front of "homepage" */
        if (!done && strcmp(member->key, "homepage") == 0) {
            jw_value(&w, "features", features);
            done = true;
        }
        if (strcmp(member->key, "features") != 0)
            jw_value(&w, member->key, member);
    }
    if (!done)
        jw_value(&w, "features", features);
    jw_end_object(&w);
    return write_json(fd, "dataset_info.json", &text, err);
}

/*
 * The exchange.
 */

bool rewrite_unsettled(int dirfd)
{
    return fs_exists(dirfd, REWRITE_DIR);
}

/* Whether state.json names the shards in `.ipw-rewrite/`. */
static bool is_committed(const struct json *state)
{
    const char *first =
        json_text(json_get(json_first(json_get(state, "_data_files")), "filename"), "");

    return strncmp(first, PREFIX, strlen(PREFIX)) == 0;
}

/* Gives a shard its usual name, under which an old one may be. With a hard link both names are good
 * until the rest is done; without one it moves, and must not be moved again. */
static int place(int fd, const char *name, struct err *err)
{
    AUTO_FREE char *from = xasprintf(PREFIX "%s", name), *beside = xasprintf("%s.link", name);
    int r;

    if (!fs_exists(fd, from))
        return 0;
    unlinkat(fd, beside, 0);
    if (linkat(fd, from, fd, beside, 0) == 0) {
        r = renameat(fd, beside, fd, name);
        unlinkat(fd, beside, 0); /* renaming one link over another does nothing */
    } else {
        r = renameat(fd, from, fd, name);
    }
    return r < 0 ? err_sys(err, errno, "cannot rename %s", from) : 0;
}

static bool names(const struct json *state, const char *name)
{
    JSON_FOREACH (file, json_get(state, "_data_files")) {
        const char *other = plain_name(file);

        if (other && strcmp(other, name) == 0)
            return true;
    }
    return false;
}

/* The old shards, but those whose names the new ones have taken. */
static int remove_replaced(int fd, const struct json *state, struct err *err)
{
    AUTO(json_doc) struct json_doc old = {0};
    int r = read_json(fd, REPLACED_STATE, &old, err);

    if (r < 0)
        return r;
    JSON_FOREACH (file, json_get(old.root, "_data_files")) {
        const char *name = plain_name(file);

        if (name && !names(state, name) && unlinkat(fd, name, 0) < 0 && errno != ENOENT)
            return err_sys(err, errno, "cannot remove %s", name);
    }
    return 0;
}

/* Puts back the features that were left out for the time of the exchange. */
static int restore_features(int fd, const char *source, struct err *err)
{
    AUTO(json_doc) struct json_doc info = {0}, from = {0};

    if (!fs_exists(fd, source))
        return 0;
    int r = read_json(fd, "dataset_info.json", &info, err);

    if (r < 0 || json_get(info.root, "features"))
        return r;
    r = read_json(fd, source, &from, err);
    return r < 0 ? r : write_features(fd, json_get(from.root, "features"), err);
}

/* The new data is the run already; now it gets its place. Every step may be repeated. */
static int move_up(int fd, const struct json *state, struct err *err)
{
    int r = 0;

    JSON_FOREACH (file, json_get(state, "_data_files")) {
        const char *name = plain_name(file);

        r = name ? place(fd, name, err) : err_set(err, EBADMSG, "state.json: no name of a shard");
        if (r < 0)
            return r;
    }
    r = remove_replaced(fd, state, err);
    if (r == 0)
        r = fs_sync_parent(fd, "state.json", err);
    if (r == 0)
        r = restore_features(fd, PREFIX "dataset_info.json", err);
    return r < 0 ? r : write_state(fd, state, state, "", err);
}

int rewrite_settle(int dirfd, struct err *err)
{
    AUTO(json_doc) struct json_doc state = {0};
    int r;

    if (!rewrite_unsettled(dirfd))
        return 0;
    r = read_json(dirfd, "state.json", &state, err);
    if (r == 0)
        r = is_committed(state.root) ? move_up(dirfd, state.root, err)
                                     : restore_features(dirfd, REPLACED_INFO, err);
    return r < 0 ? r : fs_remove_tree(dirfd, REWRITE_DIR, err);
}

static int keep_copy(int fd, const char *name, const char *copy, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(JSON_MAX_BYTES);
    int r = fs_read_all(fd, name, &text, err);

    return r < 0 ? r : write_json(fd, copy, &text, err);
}

int rewrite_publish(int fd, bool schema_changed, struct err *err)
{
    AUTO(json_doc) struct json_doc old = {0}, fresh = {0};
    int r = read_json(fd, "state.json", &old, err);

    if (r == 0)
        r = read_json(fd, PREFIX "state.json", &fresh, err);
    if (r == 0)
        r = keep_copy(fd, "state.json", REPLACED_STATE, err);
    if (r == 0 && schema_changed) {
        r = keep_copy(fd, "dataset_info.json", REPLACED_INFO, err);
        if (r == 0)
            r = write_features(fd, NULL, err);
    }
    if (r == 0)
        r = fs_sync_parent(fd, REWRITE_DIR, err);
    if (r == 0)
        r = write_state(fd, old.root, fresh.root, PREFIX, err);
    return r < 0 ? r : rewrite_settle(fd, err);
}
