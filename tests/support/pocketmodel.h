/*
 * pocketmodel: a small model of random weights, the same every time. Include it once per program.
 *
 *     struct pocketmodel p = pocketmodel_make(64);
 *     p.model ...
 *     pocketmodel_release(&p);
 */
#ifndef IPW_TESTS_POCKETMODEL_H
#define IPW_TESTS_POCKETMODEL_H

#include "harness.h"

#include "base/buf.h"
#include "client/pocket/model.h"
#include "client/pocket/weights.h"

struct pocketmodel {
    struct buf bytes;
    struct pocket_model *model;
};

static inline struct pocketmodel pocketmodel_make(uint32_t context)
{
    struct pocket_shape shape = {POCKET_TRAINED_VOCABULARY, context, 32, 1, 2, 64};
    struct pocketmodel p = {.bytes = BUF_INIT(BUF_MAX_OWN)};
    struct err err = {0};

    pocket_weights_random(&shape, 1, &p.bytes);
    assert_ok(pocket_model_open(p.bytes.data, p.bytes.len, &p.model, &err), &err);
    return p;
}

static inline void pocketmodel_release(struct pocketmodel *p)
{
    pocket_model_close(p->model);
    buf_release(&p->bytes);
}

#endif
