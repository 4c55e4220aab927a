#include "client/client.h"

extern const struct client_ops pocket_ops, openai_ops, ollama_ops;

static const struct plugin *const items[] = {&pocket_ops.plugin, &openai_ops.plugin,
                                             &ollama_ops.plugin, NULL};

const struct registry clients = {"client", "clients", items};

const struct client_ops *client_find(const char *id, struct err *err)
{
    /* plugin is the first member of every ops struct */
    return (const struct client_ops *)registry_find(&clients, id, err);
}
