/*
 * embed: puts a file into the program as it is.
 *
 *     embed INPUT OUTPUT.c NAME
 *
 * writes a C file whose assembly includes the input's bytes as NAME, followed by a NUL that does
 * not count in NAME_size. An array of numbers would say the same but takes a compiler seconds per
 * megabyte; this takes none. The output changes whenever the input does, so that the build notices.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    char *path = argc == 4 ? realpath(argv[1], NULL) : NULL;
    struct stat st;
    FILE *out;

    if (!path || stat(path, &st) < 0 || strpbrk(path, "\"\\\n")) {
        fprintf(stderr, "usage: embed INPUT OUTPUT.c NAME\n");
        return 1;
    }
    out = fopen(argv[2], "w");
    if (!out) {
        perror(argv[2]);
        return 1;
    }
    fprintf(out,
            "#include <stddef.h>\n"
            "extern const char %s[];\n"
            "extern const size_t %s_size;\n"
            "const size_t %s_size = %lld;\n"
            "__asm__(\".pushsection .rodata\\n\"\n"
            "        \".global %s\\n\"\n"
            "        \".balign 64\\n\"\n"
            "        \"%s:\\n\"\n"
            "        \".incbin \\\"%s\\\"\\n\"\n"
            "        \".byte 0\\n\"\n"
            "        \".popsection\\n\");\n",
            argv[3], argv[3], argv[3], (long long)st.st_size, argv[3], argv[3], path);
    free(path);
    return fclose(out) == 0 ? 0 : 1;
}
