/* See answer.h. No state: a stream needs only its key and the number of its next token. */
#include "answer.h"

#include <string.h>

uint64_t answer_hash(const char *prompt, size_t n)
{
    uint64_t h = UINT64_C(0xCBF29CE484222325);

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)prompt[i]) * UINT64_C(0x100000001B3);
    return h;
}

static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

uint64_t answer_mix(uint64_t key, uint64_t i)
{
    return mix(key + (i + 1) * UINT64_C(0x9E3779B97F4A7C15));
}

uint64_t answer_key(const char *prompt, size_t n, uint64_t seed)
{
    return mix(answer_hash(prompt, n) ^ mix(seed));
}

void answer_add(struct buf *out, uint64_t key, int64_t from, int64_t to)
{
    static const char *const special[] = {"\n", " \"yes\"", " naïve", " 語", " 🙂", "."};

    for (int64_t i = from; i < to; i++) {
        uint64_t x = answer_mix(key, (uint64_t)i);

        if (x % 32 < 6) {
            buf_adds(out, special[x % 32]);
            continue;
        }
        buf_addc(out, ' ');
        for (int s = 8; s <= 16; s += 8) {
            buf_addc(out, "bcdfghjklmnprstv"[(x >> s) % 16]);
            buf_addc(out, "aeio"[(x >> (s + 4)) % 4]);
        }
    }
}

int64_t answer_prompt_tokens(size_t prompt_bytes)
{
    return prompt_bytes ? (int64_t)((prompt_bytes + 3) / 4) : 1;
}

static size_t word_length(const char *text)
{
    size_t blanks = strspn(text, " \n");

    return blanks + strcspn(text + blanks, " \n");
}

int64_t answer_words(const char *text)
{
    int64_t n = 0;

    for (; *text; text += word_length(text))
        n++;
    return n;
}

void answer_add_words(struct buf *out, const char *text, int64_t from, int64_t to)
{
    for (int64_t i = 0; i < to && *text; i++) {
        size_t n = word_length(text);

        if (i >= from)
            buf_add(out, text, n);
        text += n;
    }
}
