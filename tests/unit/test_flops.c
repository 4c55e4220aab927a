#include "harness.h"

#include "record/flops.h"

/* Billions; NAN = unknown. */
static const struct {
    const char *name;
    double active_b;
} names[] = {
    {"llama3.2:1b", 1.24},
    {"llama-3.2-1b", 1.24},
    {"meta-llama/Llama-3.2-1B-Instruct", 1.24},
    {"llama3.2:1b-instruct-q4_K_M", 1.24},
    {"llama-3.1-8b", 8.03},
    {"Meta-Llama-3.1-8B-Instruct-AWQ", 8.03},
    {"Llama-3.3-70B", 70.6},
    {"Qwen/Qwen2.5-7B-Instruct", 7.62},
    {"qwen2.5-7b-instruct.Q4_K_M.gguf", 7.62},
    {"qwen2.5:0.5b", 0.49},
    {"qwen3-30b-a3b", 3},
    {"Qwen/Qwen3-235B-A22B-FP8", 22},
    {"Qwen3.5-397B-A17B", 17},
    {"qwen3:30b", 3}, /* the same model; its name on Ollama */
    {"qwen3:8b", 8},
    {"mixtral:8x7b", 12.9},
    {"mistral:7b", 7.24},
    {"gpt-oss:20b", 3.6},
    {"openai/gpt-oss-120b", 5.1},
    {"deepseek-r1:1.5b", 1.5},
    {"deepseek-r1:671b", 37},
    {"DeepSeek-R1-Distill-Llama-8B", 8},
    {"deepseek-v3", 37},
    {"smollm2:135m", 0.135},
    {"Phi-3-mini-4k-instruct", 3.82},
    {"phi4", 14},
    {"phi-4-mini-instruct", 3.8},
    {"gemma-2-2b-it", 2.61},
    {"gemma:2b", 2}, /* the first Gemma, not gemma2 */
    {"gemma-3-27b-it", 27},
    {"afm-3-core", 3},
    {"some-model-13B", 13},
    /* unknown */
    {"llama3.2", NAN},
    {"llama3.2:latest", NAN},
    {"qwen3", NAN},
    {"deepseek-r1", NAN},
    {"phi3", NAN},
    {"phi-4-mini-reasoning", NAN},
    {"llama-70b-draft-1b", NAN},
    {"other:8x7b", NAN},
    {"model-4bit", NAN},
    {"model-q8_0", NAN},
    {"x-a3b", NAN},
    {"0b", NAN},
    {"b", NAN},
    {"1e9b", NAN},
    {"", NAN},
    {"///", NAN},
    {"-.-", NAN},
    {NULL, NAN},
};

static void a_model_is_as_large_as_its_name_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        double params = flops_active_params(names[i].name);

        if (isnan(names[i].active_b) ? !isnan(params)
                                     : !(fabs(params / (names[i].active_b * 1e9) - 1) < 1e-12))
            fail_msg("%s: %g, not %g e9", names[i].name, params, names[i].active_b);
    }
}

static void long_names_are_unknown(void **state)
{
    char name[1000];

    (void)state;
    memset(name, 'a', sizeof(name));
    memcpy(name + 900, "-7b", 4);
    assert_true(isnan(flops_active_params(name)));
    for (size_t i = 0; i < 100; i++)
        memcpy(name + 2 * i, "x-", 3);
    memcpy(name + 200, "7b", 3);
    assert_true(isnan(flops_active_params(name)));
    assert_true(isnan(flops_peak_tflops(name)));
}

static void peaks_by_whole_words(void **state)
{
    static const struct {
        const char *name;
        double tflops;
    } gpus[] = {
        {"NVIDIA H100", 989.5},
        {"NVIDIA H100 80GB HBM3", 989.5},
        {"NVIDIA H100 PCIe", 756},
        {"NVIDIA H100 NVL", 835.5},
        {"NVIDIA A100-SXM4-80GB", 312},
        {"NVIDIA A100 80GB PCIe", 312},
        {"NVIDIA GeForce RTX 3090", 71},
        {"NVIDIA GeForce RTX 4070", 58.6},
        {"NVIDIA GeForce RTX 4070 Ti", 73.4},
        {"NVIDIA RTX A6000", 77.4},
        {"NVIDIA L40S", 183},
        {"NVIDIA L4", 30.3},
        {"AMD Instinct MI300X", 1307.4},
        {"nvidia h200", 989.5},
        {"NVIDIA RTX A1000", NAN},
        {"NVIDIA A10G", NAN},
        {"NVIDIA GeForce RTX 4080 SUPER", NAN},
        {"NVIDIA GeForce RTX 4090 Laptop GPU", NAN},
        {"NVIDIA GeForce RTX 4090 D", NAN},
        {"NVIDIA GeForce RTX 3090 Ti", NAN},
        {"Apple GPU", NAN},
        {"", NAN},
        {NULL, NAN},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
        double tflops = flops_peak_tflops(gpus[i].name);

        if (isnan(gpus[i].tflops) ? !isnan(tflops) : tflops != gpus[i].tflops)
            fail_msg("%s: %g, not %g", gpus[i].name, tflops, gpus[i].tflops);
    }
}

static void work_and_what_it_used(void **state)
{
    (void)state;
    assert_near(flops_of_tokens(1e9, 150), 3e11, 0);
    assert_near(flops_of_tokens(1e9, 0), 0, 0);
    assert_true(isnan(flops_of_tokens(1e9, -1)));
    assert_true(isnan(flops_of_tokens(NAN, 150)));
    assert_near(flops_mfu(989.5e12, 2, 989.5, 1), 0.5, 1e-15);
    assert_near(flops_mfu(989.5e12, 2, 989.5, 4), 0.125, 1e-15);
    assert_true(isnan(flops_mfu(NAN, 2, 989.5, 1)));
    assert_true(isnan(flops_mfu(1e12, 0, 989.5, 1)));
    assert_true(isnan(flops_mfu(1e12, 1, NAN, 1)));
    assert_true(isnan(flops_mfu(1e12, 1, 989.5, 0)));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_model_is_as_large_as_its_name_says),
    cmocka_unit_test(long_names_are_unknown),
    cmocka_unit_test(peaks_by_whole_words),
    cmocka_unit_test(work_and_what_it_used),
};
TEST_MAIN(tests)
