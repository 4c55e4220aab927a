#include "dataset/dataset.h"
#include "dataset/sets.h"

static const struct plugin *const items[] = {
    &dataset_ipw_ops.plugin,          &dataset_file_ops.plugin,
    &dataset_fixed_length_ops.plugin, &dataset_mmlu_pro_ops.plugin,
    &dataset_supergpqa_ops.plugin,    &dataset_gpqa_ops.plugin,
    &dataset_math500_ops.plugin,      &dataset_gsm8k_ops.plugin,
    &dataset_simpleqa_ops.plugin,     &dataset_natural_reasoning_ops.plugin,
    &dataset_wildchat_ops.plugin,     NULL,
};

const struct registry datasets = {"dataset", "datasets", items};
