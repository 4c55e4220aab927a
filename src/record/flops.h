/*
 * flops: how much arithmetic a query was, and how much of the GPU's that used.
 *
 *     double active = flops_active_params("qwen3-30b-a3b");             3e9
 *     double peak = flops_peak_tflops("NVIDIA H100 PCIe");              756
 *
 * A model's size is what its name says: "llama3.2:1b", "Qwen2.5-7B-Instruct", "qwen3-30b-a3b" (of
 * which 3 billion are active per token). Where family and stated size are in the table, its exact
 * count is used, and for mixtures of experts the active part. A name that says no size is in the
 * table only where the family has no other. Nothing is guessed from a similar name: "llama3.2" is
 * unknown, "deepseek-r1:1.5b" has 1.5 billion, a name with two sizes is unknown.
 *
 * FLOPs are 2 per active parameter and token: attention over the context is left out, as usual.
 *
 * A GPU's peak is its dense BF16 rate by the names in the table, compared by whole words (an A1000
 * is not an A100), the longest that fits. A laptop or Super variant that is not in the table is
 * unknown.
 *
 * Pure; any thread. Unknown is NAN.
 */
#ifndef IPW_RECORD_FLOPS_H
#define IPW_RECORD_FLOPS_H

#include <stdint.h>

/* Parameters used for one token. NULL is unknown. */
double flops_active_params(const char *model);
/* Of one GPU, in 10^12 per second. NULL is unknown. */
double flops_peak_tflops(const char *gpu);

/* 2 * params * tokens; NAN when either is unknown (tokens negative). */
double flops_of_tokens(double active_params, int64_t tokens);
/* The part of the peak of n_gpus that was used: NAN unless everything is known and positive. */
double flops_mfu(double flops, double seconds, double peak_tflops, int n_gpus);

#endif
