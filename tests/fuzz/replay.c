/*
 * Runs a fuzzer's entry over every file of the folder given as its argument: the corpus as an
 * ordinary test. An empty or missing folder fails, since it would test nothing.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int main(int argc, char **argv)
{
    DIR *dir = argc == 2 ? opendir(argv[1]) : NULL;
    struct dirent *e;
    int files = 0;

    if (!dir) {
        fprintf(stderr, "usage: %s CORPUS-FOLDER\n", argv[0]);
        return 1;
    }
    while ((e = readdir(dir))) {
        AUTO(buf) struct buf content = BUF_INIT(64 << 20);
        AUTO_FREE uint8_t *exact = NULL;
        struct err err = {0};

        if (e->d_name[0] == '.')
            continue;
        if (fs_read_all(dirfd(dir), e->d_name, &content, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return 1;
        }
        /* A block of exactly this size, so that the sanitizer sees a read one byte too far. */
        exact = xmemdup(content.data, content.len);
        LLVMFuzzerTestOneInput(exact, content.len);
        files++;
    }
    closedir(dir);
    printf("%d files\n", files);
    return files > 0 ? 0 : 1;
}
