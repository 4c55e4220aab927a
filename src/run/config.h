/*
 * config: a run's options as JSON, for run.json and summary.json, without secrets.
 *
 * The Python tool's keys come first (dataset_id, client_id, ...), then ours. Two runs with the same
 * text ask the same questions in the same way: --resume compares it. Keys and passwords are
 * replaced by "***": an api_key, a header's value, the credentials in an address.
 */
#ifndef IPW_RUN_CONFIG_H
#define IPW_RUN_CONFIG_H

#include "run/profile.h"

/* `model` is the one that was found when the options name none. `scorer` is what scores items that
 * name none themselves; NULL = nothing. With output_dir: as summary.json has it. The caller frees.
 */
char *config_json(const struct profile_options *o, const char *model, const char *scorer,
                  bool with_output_dir);

/* "ipw COMMAND words...", as it would be typed again, without secrets. The caller frees. */
char *config_command_line(const char *command, int argc, const char *const *argv);

#endif
