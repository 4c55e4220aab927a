/* JSON from outside: what parses must be written so that it parses to the same text again. */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_again(struct json_doc *doc, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_value(&w, NULL, doc->root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(buf) struct buf once = BUF_INIT(BUF_MAX_OWN), twice = BUF_INIT(BUF_MAX_OWN);

    if (json_doc_parse(&doc, (const char *)data, size, NULL) < 0)
        return 0;
    write_again(&doc, &once);
    if (!utf8_valid(once.data, once.len))
        abort();
    if (memchr(data, 0, size) || memmem(data, size, "\\u0000", 6))
        return 0; /* a key that contains NUL is cut by the writer */
    if (json_doc_parse(&doc, once.data, once.len, NULL) < 0)
        abort();
    write_again(&doc, &twice);
    if (once.len != twice.len || memcmp(once.data, twice.data, once.len) != 0)
        abort();
    return 0;
}
