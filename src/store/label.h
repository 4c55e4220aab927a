/*
 * label: names made from hardware, model and dataset, for the run directory.
 */
#ifndef IPW_STORE_LABEL_H
#define IPW_STORE_LABEL_H

#include <stddef.h>

/* A short name of the machine: from the GPU's name ("NVIDIA H100 80GB HBM3 x8" is "H100x8"), else
 * the CPU's ("AMD Ryzen 9 7950X 16-Core Processor" is "7950X"), else "UNKNOWN_HW". Makers, memory
 * sizes, core counts, clock speeds and "x1" never become part of it. NULL and "" are "not known".
 * The caller frees. */
char *hardware_label(const char *gpu_name, const char *cpu_brand);

/* The model as part of a file name: letters and digits (of any script) stay, everything else
 * becomes '_', none at the ends; "model" when nothing stays. The caller frees. */
char *model_slug(const char *model);

/* "profile_<hardware>_<slug>_<dataset>" without '_' at its ends; path separators and control
 * characters in any part become '_'. The caller frees. */
char *run_name(const char *hardware, const char *model, const char *dataset);

#endif
