#include "harness.h"

#include "base/cleanup.h"
#include "store/label.h"

static void machines_get_short_names(void **state)
{
    static const struct {
        const char *gpu, *cpu, *label;
    } cases[] = {
        /* the pairs of the Python tool's own tests */
        {"NVIDIA RTX3090", NULL, "RTX3090"},
        {"NVIDIA RTX4090", NULL, "RTX4090"},
        {"NVIDIA RTX3090", "Intel Core i9", "RTX3090"},
        {NULL, "Intel Core i9", "I9"},
        {NULL, NULL, "UNKNOWN_HW"},
        {"NVIDIA-RTX-3090", NULL, "RTX3090"},
        {"", "", "UNKNOWN_HW"},
        {"nvidia rtx 3090", NULL, "RTX3090"},
        {NULL, "Apple M2 Pro", "M2Pro"},
        {"Tesla V100", NULL, "V100"},
        {"NVIDIA GeForce RTX3090", NULL, "RTX3090"},
        /* where its label is silly, ours is not */
        {"NVIDIA H100 80GB HBM3 x8", NULL, "H100x8"},
        {"NVIDIA A100-SXM4-80GB x1", NULL, "A100SXM4"},
        {"NVIDIA GH200 480GB", NULL, "GH200"},
        {"NVIDIA GeForce RTX 4090 x2", NULL, "RTX4090x2"},
        {"NVIDIA L4 x1", NULL, "L4"},
        {NULL, "AMD Ryzen 9 7950X 16-Core Processor", "7950X"},
        {NULL, "Intel(R) Core(TM) i7-1185G7 @ 3.00GHz", "i71185G7"},
        {"NVIDIA Jetson AGX Orin Developer Kit", NULL, "JetsonAGXOrin"},
        {"NVIDIA Jetson AGX Orin Developer Kit", "Cortex-A78AE", "JetsonAGXOrin"},
        {"Apple GPU", "Apple M2 Pro", "M2Pro"},
        /* and more of the same kind */
        {"NVIDIA A100 80GB PCIe x1", NULL, "A100PCIe"},
        {"NVIDIA H200 x8", NULL, "H200x8"},
        {"NVIDIA L40S x1", NULL, "L40S"},
        {"Tesla T4 x1", NULL, "T4"},
        {"NVIDIA RTX A6000 x1", NULL, "RTXA6000"},
        {"NVIDIA RTX 6000 Ada Generation x1", NULL, "RTX6000Ada"},
        {"NVIDIA GeForce RTX 4070 Ti SUPER", NULL, "RTX4070TiSUPER"},
        {"AMD Instinct MI300X x8", NULL, "MI300Xx8"},
        {"AMD Radeon RX 7900 XTX x1", NULL, "RX7900XTX"},
        {"NVIDIA (2 GPUs)", NULL, "NVIDIAx2"},
        {"AMD (4 GPUs)", NULL, "AMDx4"},
        {"Unknown GPU x1", "Unknown CPU", "UNKNOWN_HW"},
        {"Orin (nvgpu) x1", NULL, "Orin"},
        {"Intel Arc A770", NULL, "A770"},
        {"Adreno 740", NULL, "Adreno740"},
        {"Apple GPU", NULL, "Apple"},
        {NULL, "Apple M4 Max", "M4Max"},
        {NULL, "Intel(R) Xeon(R) Platinum 8480+", "8480"},
        {NULL, "AMD EPYC 7763 64-Core Processor", "EPYC7763"},
        {NULL, "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "E52686v4"},
        {NULL, "AWS Graviton3", "Graviton3"},
        {NULL, "Intel(R) Xeon(R) Processor @ 2.90GHz", "Xeon"},
        {"NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super", NULL,
         "JetsonOrinNanoSuper"},
        {NULL, "Raspberry Pi 5 Model B Rev 1.0", "Pi5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO_FREE char *label = hardware_label(cases[i].gpu, cases[i].cpu);

        if (strcmp(label, cases[i].label) != 0)
            fail_msg("%s / %s: %s, not %s", cases[i].gpu, cases[i].cpu, label, cases[i].label);
    }
}

static void hostile_names_are_survived(void **state)
{
    char name[4096];

    (void)state;
    memset(name, 'A', sizeof(name));
    for (size_t i = 7; i < sizeof(name); i += 9)
        name[i] = ' ';
    name[sizeof(name) - 1] = '\0';
    free(hardware_label(name, "x99999999999999999999 (99999999999999999999 GPUs)"));
    free(hardware_label("((((((@", ")))"));
}

static void models_become_slugs(void **state)
{
    static const struct {
        const char *model, *slug;
    } cases[] = {
        {"llama-3.2:1b", "llama_3_2_1b"},
        {"_model_", "model"},
        {"llama32", "llama32"},
        {"", "model"},
        {"!!!", "model"},
        {"a//b", "a__b"},
        {"Qwen/Qwen3-8B", "Qwen_Qwen3_8B"},
        {"modèle 模型 😀", "modèle_模型"},
        {"\xFF\xFE"
         "x",
         "x"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO_FREE char *slug = model_slug(cases[i].model);

        assert_string_equal(slug, cases[i].slug);
    }
}

static void run_names(void **state)
{
    static const struct {
        const char *hardware, *model, *dataset, *name;
    } cases[] = {
        {"RTX3090", "llama-3.2:1b", "test", "profile_RTX3090_llama_3_2_1b_test"},
        {"UNKNOWN_HW", "test-model", "Test Dataset", "profile_UNKNOWN_HW_test_model_Test Dataset"},
        {"X", "m", "  a/b\n ", "profile_X_m_a_b"},
        {"X", "m", "", "profile_X_m_dataset"},
        {"X", "m", "../../etc", "profile_X_m_.._.._etc"},
        {"X", "m", "d__", "profile_X_m_d"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO_FREE char *name = run_name(cases[i].hardware, cases[i].model, cases[i].dataset);

        assert_string_equal(name, cases[i].name);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(machines_get_short_names),
    cmocka_unit_test(hostile_names_are_survived),
    cmocka_unit_test(models_become_slugs),
    cmocka_unit_test(run_names),
};
TEST_MAIN(tests)
