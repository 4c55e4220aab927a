/* A run's configuration as text: everything that matters is in it, and no secret. */
#include "harness.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "run/config.h"

static struct profile_options sample(void)
{
    struct profile_options o = {.client = "openai",
                                .base_url = "http://me:swordfish@host:8000/v1",
                                .dataset = "ipw",
                                .max_queries = -1,
                                .warmup = 3,
                                .rate_per_s = NAN,
                                .burstiness = 1,
                                .duration_ns = -1,
                                .timeout_ns = 600 * NS_PER_S,
                                .output_dir = "./runs",
                                .telemetry = "auto",
                                .sample_interval_ns = 20 * NS_PER_MS,
                                .idle_ns = 3 * NS_PER_S,
                                .seed = 5,
                                .price_per_kwh_usd = NAN,
                                .carbon_g_per_kwh = NAN,
                                .repetition = 1};

    return o;
}

static void says_everything(void **state)
{
    struct profile_options o = sample();
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FREE char *text = NULL;

    (void)state;
    kv_add(&o.generation, "max_tokens", "128");
    text = config_json(&o, "m", "exact", true);
    assert_int_equal(json_doc_parse(&doc, text, strlen(text), NULL), 0);
    assert_string_equal(json_text(json_get(doc.root, "model"), ""), "m");
    assert_string_equal(json_text(json_get(doc.root, "dataset_id"), ""), "ipw");
    assert_string_equal(json_text(json_get(doc.root, "scorer"), ""), "exact");
    assert_string_equal(json_text(json_get(doc.root, "output_dir"), ""), "./runs");
    assert_int_equal(json_int(json_get(doc.root, "max_concurrency"), 0), 1);
    assert_int_equal(json_int(json_get(doc.root, "seed"), 0), 5);
    assert_true(json_is(json_get(doc.root, "max_queries"), JSON_NULL));
    assert_true(json_is(json_get(doc.root, "duration_s"), JSON_NULL));
    assert_string_equal(json_text(json_path(doc.root, "additional_parameters", "max_tokens"), ""),
                        "128");
    kv_list_release(&o.generation);
}

/* Two runs that only lie in different places are the same run. */
static void place_is_left_out(void **state)
{
    struct profile_options o = sample(), p = sample();
    AUTO_FREE char *a = NULL, *b = NULL;

    (void)state;
    p.output_dir = "/elsewhere";
    a = config_json(&o, "m", NULL, false);
    b = config_json(&p, "m", NULL, false);
    assert_string_equal(a, b);
}

static void hides_secrets(void **state)
{
    struct profile_options o = sample();
    AUTO_FREE char *text = NULL;

    (void)state;
    kv_add(&o.client_params, "api_key", "swordfish");
    kv_add(&o.client_params, "header", "Authorization: Basic swordfish");
    text = config_json(&o, "m", NULL, true);
    assert_null(strstr(text, "swordfish"));
    assert_non_null(strstr(text, "\"http://***@host:8000/v1\""));
    kv_list_release(&o.client_params);
}

static void command_line_can_be_typed_again(void **state)
{
    const char *argv[] = {"--client-param",
                          "api_key=swordfish",
                          "--client-param=api_key=swordfish",
                          "--client-base-url=http://u:swordfish@h/v1",
                          "--client-base-url",
                          "u:swordfish@h:80",
                          "--model",
                          "it's a model",
                          "--param",
                          "stop=[\"\n\"]",
                          "--param",
                          "max_tokens=5",
                          "--model",
                          "name@sha256",
                          ""};
    AUTO_FREE char *line =
        config_command_line("profile", (int)(sizeof(argv) / sizeof(*argv)), argv);

    (void)state;
    assert_string_equal(line,
                        "ipw profile --client-param 'api_key=***' '--client-param=api_key=***' "
                        "'--client-base-url=http://***@h/v1' --client-base-url '***@h:80' "
                        "--model 'it'\\''s a model' --param 'stop=[\"\n\"]' --param "
                        "max_tokens=5 --model name@sha256 ''");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(says_everything),
    cmocka_unit_test(place_is_left_out),
    cmocka_unit_test(hides_secrets),
    cmocka_unit_test(command_line_can_be_typed_again),
};
TEST_MAIN(tests)
