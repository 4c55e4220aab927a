#include "harness.h"

#include "base/cleanup.h"
#include "client/url.h"

#include <errno.h>

static void takes(const char *text, const char *full, const char *shown, const char *socket)
{
    AUTO(url) struct url u = {0};
    AUTO_FREE char *got_full = NULL, *got_shown = NULL;
    struct err err = {0};

    assert_ok(url_parse(text, &u, &err), &err);
    got_full = url_full(&u, "/x");
    got_shown = url_for_people(&u, "/x");
    assert_string_equal(got_full, full);
    assert_string_equal(got_shown, shown);
    if (socket)
        assert_string_equal(u.socket, socket);
    else
        assert_null(u.socket);
}

static void understands_addresses(void **state)
{
    (void)state;
    takes("http://127.0.0.1:8000", "http://127.0.0.1:8000/x", "http://127.0.0.1:8000/x", NULL);
    takes("http://127.0.0.1:8000///", "http://127.0.0.1:8000/x", "http://127.0.0.1:8000/x", NULL);
    takes("127.0.0.1:8000/v1/", "http://127.0.0.1:8000/v1/x", "http://127.0.0.1:8000/v1/x", NULL);
    takes("localhost:11434", "http://localhost:11434/x", "http://localhost:11434/x", NULL);
    takes("https://api.example.com/openai/v1", "https://api.example.com/openai/v1/x",
          "https://api.example.com/openai/v1/x", NULL);
    takes("http://[::1]:8080/v1", "http://[::1]:8080/v1/x", "http://[::1]:8080/v1/x", NULL);
    takes("unix:/run/llm.sock", "http://localhost/x", "unix:/run/llm.sock:/x", "/run/llm.sock");
    takes("unix:/run/llm.sock:/v1/", "http://localhost/v1/x", "unix:/run/llm.sock:/v1/x",
          "/run/llm.sock");
    takes("unix:///run/llm.sock", "http://localhost/x", "unix:/run/llm.sock:/x", "/run/llm.sock");
}

static void hides_credentials(void **state)
{
    AUTO(url) struct url u = {0};
    struct err err = {0};

    (void)state;
    takes("http://me:hunter2@host:1/v1", "http://me:hunter2@host:1/v1/x", "http://host:1/v1/x",
          NULL);
    takes("me:hunter2@host", "http://me:hunter2@host/x", "http://host/x", NULL);
    assert_ok(url_parse("http://me:hunter%232@host:1/v1", &u, &err), &err);
    assert_string_equal(u.password, "hunter#2");
}

static void refuses(const char *text, const char *part)
{
    struct url u = {.root = NULL};
    struct err err = {0};

    assert_fails(url_parse(text, &u, &err), EINVAL, &err, part);
    assert_null(strstr(err.text, "hunter2"));
    assert_null(u.root);
}

static void refuses_the_rest(void **state)
{
    char longer[200] = "unix:/";
    struct url u;
    struct err err = {0};

    (void)state;
    refuses("", "malformed");
    refuses("http://", "malformed");
    refuses("http://me:hunter2@host:99999/", "malformed");
    refuses("http://me:hunter2@ho st/", "malformed");
    refuses("http://host/a\nb", "malformed");
    refuses("ftp://me:hunter2@host/", "http://");
    refuses("file:///etc/passwd", "http://");
    refuses("http://host/v1?key=hunter2", "query");
    refuses("http://host/v1#hunter2", "query or a fragment");
    refuses("unix:", "unix:/path");
    refuses("unix:relative", "unix:/path");
    memset(longer + 6, 'x', sizeof(longer) - 7);
    assert_fails(url_parse(longer, &u, &err), ENAMETOOLONG, &err, "too long");
}

static void sees_versions(void **state)
{
    static const struct {
        const char *text;
        bool has;
    } cases[] = {{"http://h", false},          {"http://h/v1", true},
                 {"http://h/openai/v1", true}, {"http://h/v1beta/openai", true},
                 {"http://h/api/v4", true},    {"http://h/vllm", false},
                 {"http://h/v", false},        {"http://v1.h/api", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(url) struct url u = {0};

        assert_int_equal(url_parse(cases[i].text, &u, NULL), 0);
        assert_int_equal(url_has_version(&u), cases[i].has);
    }
}

static void adds_paths(void **state)
{
    AUTO(url) struct url u = {0};
    AUTO_FREE char *shown = NULL;

    (void)state;
    assert_int_equal(url_parse("http://h/api/", &u, NULL), 0);
    url_add_path(&u, "/v1");
    shown = url_for_people(&u, "");
    assert_string_equal(shown, "http://h/api/v1");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(understands_addresses),
    cmocka_unit_test(hides_credentials),
    cmocka_unit_test(refuses_the_rest),
    cmocka_unit_test(sees_versions),
    cmocka_unit_test(adds_paths),
};
TEST_MAIN(tests)
