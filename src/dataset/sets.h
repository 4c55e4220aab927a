/*
 * sets: every dataset there is, for registry.c; and the one for paths, for dataset_open.
 */
#ifndef IPW_DATASET_SETS_H
#define IPW_DATASET_SETS_H

#include "dataset/dataset.h"

extern const struct dataset_ops dataset_ipw_ops;
extern const struct dataset_ops dataset_file_ops;
extern const struct dataset_ops dataset_fixed_length_ops;

/* Recipes for local copies of published sets. */
extern const struct dataset_ops dataset_mmlu_pro_ops;
extern const struct dataset_ops dataset_supergpqa_ops;
extern const struct dataset_ops dataset_gpqa_ops;
extern const struct dataset_ops dataset_math500_ops;
extern const struct dataset_ops dataset_gsm8k_ops;
extern const struct dataset_ops dataset_simpleqa_ops;
extern const struct dataset_ops dataset_natural_reasoning_ops;
extern const struct dataset_ops dataset_wildchat_ops;

#endif
