/*
 * make-gguf FILE: a language model that says nothing, for a real engine in tests.
 *
 * The file is GGUF version 3 with the llama architecture: 1.8 million random weights in F16 (3.7
 * MB) and a synthetic vocabulary. It needs no download, loads in a tenth of a second, and is the
 * same bytes everywhere. The output rows of control and byte tokens are zero while the others are
 * large, so the model never ends before max_tokens and never emits half a character.
 *
 * Layout: magic, version, counts; metadata (key, type, value); tensor descriptions (name, shape,
 * type, offset); padding to 32; the tensors, each padded to 32. All integers little-endian, a
 * string is its length in 8 bytes and its bytes.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/rng.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    VOCABULARY = 2048,
    WIDTH = 128,
    FEED_FORWARD = 512,
    LAYERS = 5,
    HEADS = 4,
    CONTEXT = 4096,
    ALIGNMENT = 32,
    BYTE_TOKENS_FROM = 3, /* after <unk>, <s>, </s> */
    TEXT_TOKENS_FROM = BYTE_TOKENS_FROM + 256
};

/* Types of metadata, of tokens, of tensors: the format's numbers. */
enum { TYPE_U32 = 4, TYPE_I32 = 5, TYPE_F32 = 6, TYPE_BOOL = 7, TYPE_STRING = 8, TYPE_ARRAY = 9 };
enum { TOKEN_NORMAL = 1, TOKEN_UNKNOWN = 2, TOKEN_CONTROL = 3, TOKEN_BYTE = 6 };
enum { TENSOR_F32 = 0, TENSOR_F16 = 1 };

/* Metadata and descriptions are written once each; their counts stand in front of them. */
struct model {
    struct buf metadata, descriptions, data;
    uint64_t n_metadata, n_tensors;
    struct rng rng;
};

static void put_int(struct buf *b, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        buf_addc(b, (char)(value >> (8 * i)));
}

static void put_f32(struct buf *b, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    put_int(b, bits, 4);
}

/* Rounds to nearest; what is too small for a normal half becomes zero. */
static void put_f16(struct buf *b, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof(bits));
    if ((bits >> 23 & 0xFF) < 113)
        put_int(b, bits >> 16 & 0x8000, 2);
    else
        put_int(b, (bits >> 16 & 0x8000) | (((bits & 0x7FFFFFFF) - (112u << 23) + 0x1000) >> 13),
                2);
}

static void put_string(struct buf *b, const char *text)
{
    put_int(b, strlen(text), 8);
    buf_adds(b, text);
}

static void add_key(struct model *m, const char *key, int type)
{
    put_string(&m->metadata, key);
    put_int(&m->metadata, (uint64_t)type, 4);
    m->n_metadata++;
}

static void add_u32(struct model *m, const char *key, uint32_t value)
{
    add_key(m, key, TYPE_U32);
    put_int(&m->metadata, value, 4);
}

static void add_bool(struct model *m, const char *key, bool value)
{
    add_key(m, key, TYPE_BOOL);
    put_int(&m->metadata, value, 1);
}

static void add_string(struct model *m, const char *key, const char *value)
{
    add_key(m, key, TYPE_STRING);
    put_string(&m->metadata, value);
}

static void add_array(struct model *m, const char *key, int type)
{
    add_key(m, key, TYPE_ARRAY);
    put_int(&m->metadata, (uint64_t)type, 4);
    put_int(&m->metadata, VOCABULARY, 8);
}

/* Letters first, so that a prompt can be spelt; then words of two syllables, with and without the
 * blank in front (U+2581 in such vocabularies), every seventh with a letter beyond ASCII. */
static void text_token(int i, char text[32])
{
    static const char consonants[] = "bcdfghjklmnprstv", vowels[] = "aeiou";
    int word;

    if (i == 0) {
        snprintf(text, 32, "\u2581");
        return;
    }
    if (i <= '~' - '!' + 1) {
        snprintf(text, 32, "%c", '!' + i - 1);
        return;
    }
    word = i - ('~' - '!' + 2);
    snprintf(text, 32, "%s%c%c%c%c%s", word % 4 ? "\u2581" : "", consonants[word % 16],
             vowels[word / 16 % 5], consonants[word / 80 % 16], vowels[word / 1280 % 5],
             word % 7 ? "" : "\u00e9");
}

static void token(int i, char text[32], int *ret_type)
{
    static const char *const special[] = {"<unk>", "<s>", "</s>"};

    if (i < BYTE_TOKENS_FROM) {
        snprintf(text, 32, "%s", special[i]);
        *ret_type = i == 0 ? TOKEN_UNKNOWN : TOKEN_CONTROL;
    } else if (i < TEXT_TOKENS_FROM) {
        snprintf(text, 32, "<0x%02X>", (unsigned)(i - BYTE_TOKENS_FROM) & 0xFF);
        *ret_type = TOKEN_BYTE;
    } else {
        text_token(i - TEXT_TOKENS_FROM, text);
        *ret_type = TOKEN_NORMAL;
    }
}

static void add_vocabulary(struct model *m)
{
    char text[32];
    int type;

    add_string(m, "tokenizer.ggml.model", "llama");
    add_array(m, "tokenizer.ggml.tokens", TYPE_STRING);
    for (int i = 0; i < VOCABULARY; i++) {
        token(i, text, &type);
        put_string(&m->metadata, text);
    }
    add_array(m, "tokenizer.ggml.scores", TYPE_F32);
    for (int i = 0; i < VOCABULARY; i++)
        put_f32(&m->metadata, (float)-i);
    add_array(m, "tokenizer.ggml.token_type", TYPE_I32);
    for (int i = 0; i < VOCABULARY; i++) {
        token(i, text, &type);
        put_int(&m->metadata, (uint64_t)type, 4);
    }
    add_u32(m, "tokenizer.ggml.unknown_token_id", 0);
    add_u32(m, "tokenizer.ggml.bos_token_id", 1);
    add_u32(m, "tokenizer.ggml.eos_token_id", 2);
    add_bool(m, "tokenizer.ggml.add_bos_token", true);
}

static void add_metadata(struct model *m)
{
    add_string(m, "general.architecture", "llama");
    add_string(m, "general.name", "ipw test model");
    add_u32(m, "general.file_type", 1); /* mostly F16 */
    add_u32(m, "llama.vocab_size", VOCABULARY);
    add_u32(m, "llama.context_length", CONTEXT);
    add_u32(m, "llama.embedding_length", WIDTH);
    add_u32(m, "llama.block_count", LAYERS);
    add_u32(m, "llama.feed_forward_length", FEED_FORWARD);
    add_u32(m, "llama.rope.dimension_count", WIDTH / HEADS);
    add_u32(m, "llama.attention.head_count", HEADS);
    add_u32(m, "llama.attention.head_count_kv", HEADS);
    add_key(m, "llama.attention.layer_norm_rms_epsilon", TYPE_F32);
    put_f32(&m->metadata, 1e-5F);
    add_vocabulary(m);
}

static void pad(struct buf *b)
{
    buf_add_zeros(b, (ALIGNMENT - b->len % ALIGNMENT) % ALIGNMENT);
}

static void describe(struct model *m, const char *name, int columns, int rows, int type)
{
    pad(&m->data);
    put_string(&m->descriptions, name);
    put_int(&m->descriptions, rows ? 2 : 1, 4);
    put_int(&m->descriptions, (uint64_t)columns, 8);
    if (rows)
        put_int(&m->descriptions, (uint64_t)rows, 8);
    put_int(&m->descriptions, (uint64_t)type, 4);
    put_int(&m->descriptions, m->data.len, 8);
    m->n_tensors++;
}

/* Normal weights of this deviation; the first rows are zero. */
static void add_matrix(struct model *m, const char *name, int columns, int rows, double deviation,
                       int zero_rows)
{
    describe(m, name, columns, rows, TENSOR_F16);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            put_f16(&m->data, r < zero_rows ? 0 : (float)(deviation * rng_normal(&m->rng)));
}

static void add_norm(struct model *m, const char *name)
{
    describe(m, name, WIDTH, 0, TENSOR_F32);
    for (int c = 0; c < WIDTH; c++)
        put_f32(&m->data, 1);
}

static void add_layer(struct model *m, int layer)
{
    static const struct {
        const char *name;
        int columns, rows; /* rows 0: a norm */
    } parts[] = {{"attn_norm", WIDTH, 0},           {"attn_q", WIDTH, WIDTH},
                 {"attn_k", WIDTH, WIDTH},          {"attn_v", WIDTH, WIDTH},
                 {"attn_output", WIDTH, WIDTH},     {"ffn_norm", WIDTH, 0},
                 {"ffn_gate", WIDTH, FEED_FORWARD}, {"ffn_up", WIDTH, FEED_FORWARD},
                 {"ffn_down", FEED_FORWARD, WIDTH}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        char name[64];

        snprintf(name, sizeof(name), "blk.%d.%s.weight", layer, parts[i].name);
        if (parts[i].rows)
            add_matrix(m, name, parts[i].columns, parts[i].rows, 0.08, 0);
        else
            add_norm(m, name);
    }
}

static int write_model(struct model *m, const char *path, struct err *err)
{
    AUTO(buf) struct buf file = BUF_INIT(BUF_MAX_OWN);

    buf_adds(&file, "GGUF");
    put_int(&file, 3, 4);
    put_int(&file, m->n_tensors, 8);
    put_int(&file, m->n_metadata, 8);
    buf_add(&file, m->metadata.data, m->metadata.len);
    buf_add(&file, m->descriptions.data, m->descriptions.len);
    pad(&file);
    pad(&m->data);
    buf_add(&file, m->data.data, m->data.len);
    return fs_replace(AT_FDCWD, path, file.data, file.len, err);
}

int main(int argc, char **argv)
{
    struct model m = {.metadata = BUF_INIT(BUF_MAX_OWN),
                      .descriptions = BUF_INIT(BUF_MAX_OWN),
                      .data = BUF_INIT(BUF_MAX_OWN)};
    struct err err = {0};
    int r;

    if (argc != 2) {
        fprintf(stderr, "usage: make-gguf FILE\n");
        return 2;
    }
    m.rng = rng_seed(1, RNG_STREAM_PLAIN);
    add_metadata(&m);
    add_matrix(&m, "token_embd.weight", WIDTH, VOCABULARY, 1, 0);
    for (int i = 0; i < LAYERS; i++)
        add_layer(&m, i);
    add_norm(&m, "output_norm.weight");
    add_matrix(&m, "output.weight", WIDTH, VOCABULARY, 0.3, TEXT_TOKENS_FROM);
    r = write_model(&m, argv[1], &err);
    if (r < 0)
        fprintf(stderr, "make-gguf: %s\n", err.text);
    buf_release(&m.metadata);
    buf_release(&m.descriptions);
    buf_release(&m.data);
    return r < 0 ? 1 : 0;
}
