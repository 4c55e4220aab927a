/*
 * The test server under load: two thousand streams at once, each of which must come through whole.
 */
#include "answer.h"
#include "harness.h"
#include "probe.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

struct stream {
    int fd;
    struct buf raw;
};

static int more_files(int wanted)
{
    struct rlimit files;

    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    return files.rlim_cur < (rlim_t)wanted + 50 ? (int)files.rlim_cur - 50 : wanted;
}

static void read_streams(struct stream *streams, int epoll, int open)
{
    while (open > 0) {
        struct epoll_event events[64];
        int n = epoll_wait(epoll, events, 64, 20000);

        if (n == 0)
            fail_msg("%d streams hang", open);
        for (int i = 0; i < n; i++) {
            struct stream *st = &streams[events[i].data.u32];
            char piece[4096];
            ssize_t got = recv(st->fd, piece, sizeof(piece), 0);

            assert_true(got >= 0);
            buf_add(&st->raw, piece, (size_t)got);
            if (got == 0) {
                close(st->fd);
                open--;
            }
        }
    }
}

static void check_stream(struct stream *st, int number)
{
    struct probe_reply r = {.raw = st->raw, .head = BUF_INIT(4096), .body = BUF_INIT(1 << 20)};
    AUTO(buf) struct buf expected = BUF_INIT(4096);
    struct probe_answer a;
    char question[16];

    probe_parse(&r);
    assert_true(r.complete);
    a = probe_answer(&r);
    snprintf(question, sizeof(question), "n%d", number);
    answer_add(&expected, answer_key(question, strlen(question), 0), 0, 8);
    assert_string_equal(buf_str(&a.text), buf_str(&expected));
    assert_int_equal(a.completion_tokens, 8);
    probe_answer_release(&a);
    probe_reply_release(&r);
}

static void serves_two_thousand(void **state)
{
    struct probe_server s =
        probe_start((const char *[]){"--ttft", "1s", "--itl", "50ms", "--tokens", "8", NULL});
    int n = more_files(2000), epoll = epoll_create1(EPOLL_CLOEXEC);
    AUTO_FREE struct stream *streams = xcalloc((size_t)n, sizeof(*streams));

    (void)state;
    for (int i = 0; i < n; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        char body[160];

        snprintf(body, sizeof(body),
                 "{\"messages\":[{\"content\":\"n%d\"}],\"stream\":true,"
                 "\"stream_options\":{\"include_usage\":true}}",
                 i);
        buf_init(&streams[i].raw, 1 << 20);
        streams[i].fd = probe_connect(&s);
        assert_true(streams[i].fd >= 0);
        probe_request(streams[i].fd, "POST", "/v1/chat/completions", "Connection: close\r\n", body);
        assert_int_equal(epoll_ctl(epoll, EPOLL_CTL_ADD, streams[i].fd, &e), 0);
    }
    read_streams(streams, epoll, n);
    for (int i = 0; i < n; i++)
        check_stream(&streams[i], i);
    close(epoll);
    probe_stop(&s);
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(serves_two_thousand)};
TEST_MAIN(tests)
