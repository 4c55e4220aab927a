#include "harness.h"

#include "base/dl.h"
#include "base/suggest.h"
#include "core/kv.h"
#include "core/plugin.h"

#include <errno.h>

static void broken(struct plugin_status *ret)
{
    ret->usable = false;
    snprintf(ret->reason, sizeof(ret->reason), "no such device");
}

static const char *const aliases[] = {"vllm", "llamacpp", NULL};
static const struct plugin openai = {.id = "openai", .help = "h", .aliases = aliases};
static const struct plugin ollama = {.id = "ollama", .help = "h", .check = broken};
static const struct plugin *const items[] = {&openai, &ollama, NULL};
static const struct registry registry = {"client", "clients", items};

static void found_by_id_and_alias(void **state)
{
    struct err err = {0};

    (void)state;
    assert_ptr_equal(registry_find(&registry, "ollama", &err), &ollama);
    assert_ptr_equal(registry_find(&registry, "llamacpp", &err), &openai);
    assert_null(registry_find(&registry, "olama", &err));
    assert_string_equal(err.text, "unknown client 'olama': did you mean 'ollama'?");
    assert_null(registry_find(&registry, "vlm", &err));
    assert_string_equal(err.text, "unknown client 'vlm': did you mean 'vllm'?");
    assert_null(registry_find(&registry, "something", &err));
    assert_string_equal(err.text, "unknown client 'something' (there are: openai, ollama)");
    assert_int_equal(err.code, -ENOENT);
}

static void status_is_asked(void **state)
{
    (void)state;
    assert_true(plugin_status(&openai).usable);
    assert_false(plugin_status(&ollama).usable);
    assert_string_equal(plugin_status(&ollama).reason, "no such device");
}

static void suggestions_need_to_be_near(void **state)
{
    static const char *const names[] = {"list", "profile", "plot", "report", "doctor", NULL};
    static const struct {
        const char *typed, *best;
    } cases[] = {{"lst", "list"},      {"lsit", "list"},     {"pro", "profile"},
                 {"reprot", "report"}, {"xyzzy", NULL},      {"", NULL},
                 {"plto", "plot"},     {"dcotor", "doctor"}, {"profiles", "profile"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct suggest s = suggest_for(cases[i].typed);

        for (const char *const *n = names; *n; n++)
            suggest_offer(&s, *n);
        if (cases[i].best)
            assert_string_equal(s.best, cases[i].best);
        else
            assert_null(s.best);
    }
}

static void parameters_keep_order_and_the_last_wins(void **state)
{
    struct kv_list l = {0};

    (void)state;
    assert_null(kv_get(&l, "a"));
    kv_add(&l, "a", "1");
    kv_add(&l, "b", "x,y=z");
    kv_add(&l, "a", "2");
    assert_string_equal(kv_get(&l, "a"), "2");
    assert_string_equal(kv_get(&l, "b"), "x,y=z");
    assert_int_equal(l.n, 3);
    kv_list_release(&l);
}

struct math_api {
    double (*cosine)(double);
    int (*absent)(void);
};

static void libraries_are_loaded_by_table(void **state)
{
    static const char *const names[] = {"libnothing.so.9", "libm.so.6", NULL};
    static const char *const none[] = {"libnothing.so.9", NULL};
    static const struct dl_symbol good[] = {DL_REQUIRED(struct math_api, cosine, "cos"),
                                            DL_OPTIONAL(struct math_api, absent, "no_such_thing"),
                                            {0}};
    static const struct dl_symbol bad[] = {DL_REQUIRED(struct math_api, absent, "no_such_thing"),
                                           {0}};
    struct math_api api = {0};
    struct err err = {0};
    struct dl lib = {0};

    (void)state;
    assert_ok(dl_load(&lib, names, good, &api, &err), &err);
    assert_string_equal(lib.name, "libm.so.6");
    assert_true(api.cosine(0) == 1.0);
    assert_null(api.absent);
    dl_release(&lib);
    assert_null(lib.handle);
    dl_release(&lib);
    assert_fails(dl_load(&lib, none, good, &api, &err), ENOENT, &err, "libnothing.so.9");
    assert_fails(dl_load(&lib, names, bad, &api, &err), ENOSYS, &err, "has no no_such_thing");
    assert_null(lib.handle);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(found_by_id_and_alias),
    cmocka_unit_test(status_is_asked),
    cmocka_unit_test(suggestions_need_to_be_near),
    cmocka_unit_test(parameters_keep_order_and_the_last_wins),
    cmocka_unit_test(libraries_are_loaded_by_table),
};
TEST_MAIN(tests)
