/*
 * plist: the numbers in a stream of XML property lists, as powermetrics prints it.
 *
 * A push parser: bytes come in any pieces, numbers go out as they are complete, nothing is kept of
 * a document but where in it we are. It knows dict, key, array, integer, real, string, date, data,
 * true and false; of these only integers and reals are handed on, by their path:
 *
 *     static void number(void *ctx, const char *path, double value);    "processor/cpu_power", 250
 *     static void end(void *ctx, bool whole);
 *
 *     struct plist p;
 *     plist_init(&p, number, end, ctx);
 *     plist_push(&p, data, n);
 *
 * A path is the keys from the root, with "/" between them, and "*" for an element of an array.
 * Documents follow each other, with NULs and other text between them or not. One that is broken
 * (not nested as it should be, deeper than PLIST_DEPTH_MAX, cut off by the next) ends with
 * end(false), and the parser goes on with the next; numbers it gave before are to be forgotten.
 */
#ifndef IPW_TELEMETRY_PLIST_H
#define IPW_TELEMETRY_PLIST_H

#include <stdbool.h>
#include <stddef.h>

#define PLIST_DEPTH_MAX 32
#define PLIST_PATH_MAX  256
#define PLIST_TEXT_MAX  128 /* longer keys and numbers are passed over */

typedef void (*plist_number_fn)(void *ctx, const char *path, double value);
typedef void (*plist_end_fn)(void *ctx, bool whole);

/* Fields are private. */
struct plist {
    plist_number_fn number;
    plist_end_fn end;
    void *ctx;

    int state;     /* what the next byte belongs to */
    char quote;    /* in a tag: the quote we are in */
    char last;     /* in a tag: the byte before */
    char name[16]; /* of the tag */
    size_t name_len;
    bool name_done;

    bool in_document, broken, root_done;
    int leaf;                      /* the element whose text is collected */
    char text[PLIST_TEXT_MAX + 1]; /* NUL-terminated when an element ends */
    size_t text_len;
    bool text_cut;

    struct {
        bool is_dict, has_key, silent;
        size_t path_len; /* of the container itself */
    } stack[PLIST_DEPTH_MAX];
    size_t depth;
    char path[PLIST_PATH_MAX];
    size_t path_len;
    bool silent; /* the path of the next value cannot be told */
};

void plist_init(struct plist *p, plist_number_fn number, plist_end_fn end, void *ctx);
void plist_push(struct plist *p, const char *data, size_t n);

#endif
