#include "harness.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "dataset/csv.h"

/* "a|b;" per record, "!reason@line;" per bad one; fed `step` bytes at a time. */
static void read_all(const char *text, size_t n, size_t step, struct buf *ret)
{
    struct csv csv;
    enum csv_event event;
    size_t at = 0;

    csv_init(&csv, 64);
    do {
        size_t left = n - at, used = 0;

        event = at == n ? csv_finish(&csv)
                        : csv_push(&csv, text + at, left < step ? left : step, &used);
        if (at < n)
            assert_true(used > 0);
        if (event == CSV_BAD)
            buf_addf(ret, "!%s@%d;", csv.reason, (int)csv.line);
        for (size_t i = 0; event == CSV_RECORD && i < csv.n_fields; i++) {
            size_t len;
            const char *field = csv_field(&csv, i, &len);

            assert_int_equal(field[len], 0);
            buf_add(ret, field, len);
            buf_addc(ret, i + 1 < csv.n_fields ? '|' : ';');
        }
        if (at == n && event == CSV_MORE)
            break;
        if (at == n) { /* what was unfinished has been given; nothing may follow */
            assert_int_equal(csv_finish(&csv), CSV_MORE);
            break;
        }
        at += used;
    } while (true);
    csv_release(&csv);
}

static void check(const char *text, const char *wanted)
{
    for (size_t step = 1; step <= 7; step++) {
        AUTO(buf) struct buf got = BUF_INIT(1 << 16);

        read_all(text, strlen(text), step, &got);
        assert_string_equal(buf_str(&got), wanted);
    }
}

static void plain_records(void **state)
{
    (void)state;
    check("", "");
    check("a", "a;");
    check("a,b\nc,d\n", "a|b;c|d;");
    check("a,b\r\nc,d\r\n", "a|b;c|d;");
    check("a,b\nc,d", "a|b;c|d;");
    check("a,b\r\nc,d\r", "a|b;c|d;");
    check(",\n,,\n", "|;||;");
    check("a,\n", "a|;");
    check(" a , b \n", " a | b ;");
}

static void quoted_fields(void **state)
{
    (void)state;
    check("\"a\",\"b\"\n", "a|b;");
    check("\"a,b\",c\n", "a,b|c;");
    check("\"a\"\"b\",\"\"\"\"\n", "a\"b|\";");
    check("\"a\nb\r\nc\",d\r\n", "a\nb\r\nc|d;");
    check("\"\"\n", ";");
    check("\"a\"", "a;");
    check("\"a\"\r\n", "a;");
    check("a \"b\" c,5\"\n", "a \"b\" c|5\";");
}

static void odds_and_ends(void **state)
{
    (void)state;
    check("\xEF\xBB\xBF"
          "a,b\n",
          "a|b;");
    check("\xEF\xBB\xBF\"a\"\n", "a;");
    check("\xEF\xBB", "\xEF\xBB;");
    check("\xEF\xBB,x\n", "\xEF\xBB|x;");
    check("\xEF\xBB\xBF", "");
    check("a\n\xEF\xBB\xBF\n", "a;\xEF\xBB\xBF;");
    check("\n\r\n\na\n\n\nb\n\n", "a;b;");
    check("a\rb,c\n", "a\rb|c;");
    check("a\r\r\nb\n", "a\r;b;");
    check("\r,a\n", "\r|a;");
    check("a\r,b\n", "a\r|b;");
    check("\r", "");
}

static void bad_records(void **state)
{
    (void)state;
    check("\"a\"b,c\nd\n", "!text behind a closing quote@1;d;");
    check("x\n\n\"a\" ,c\nd\n", "x;!text behind a closing quote@3;d;");
    check("\"a\"\rb\nc\n", "!text behind a closing quote@1;c;");
    check("a\n\"b\nc\nd", "a;!a quote is never closed@2;");
    check("\"", "!a quote is never closed@1;");
    /* read_all allows 64 bytes */
    check("0123456789012345678901234567890123456789012345678901234567890123\nok\n",
          "!record too long@1;ok;");
    check("\"01234567890123456789012345678901234567890123456789012345678901234\"\nok\n",
          "!record too long@1;ok;");
    check("012345678901234567890123456789012345678901234567890123456789012\nok\n",
          "012345678901234567890123456789012345678901234567890123456789012;ok;");
}

static void too_many_fields(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    struct csv csv;
    size_t used;

    (void)state;
    for (int i = 0; i < CSV_FIELDS_MAX; i++)
        buf_addc(&text, ',');
    buf_addc(&text, '\n');
    csv_init(&csv, 1 << 20);
    assert_int_equal(csv_push(&csv, text.data, text.len, &used), CSV_BAD);
    assert_string_equal(csv.reason, "too many fields");
    assert_int_equal(csv_push(&csv, text.data + 1, text.len - 1, &used), CSV_RECORD);
    assert_int_equal(csv.n_fields, CSV_FIELDS_MAX);
    csv_release(&csv);
}

static void zero_bytes_are_text(void **state)
{
    AUTO(buf) struct buf got = BUF_INIT(1 << 10);

    (void)state;
    read_all("a\0b,\"c\0\"\n", 9, 3, &got);
    assert_int_equal(got.len, 7);
    assert_memory_equal(got.data, "a\0b|c\0;", 7);
}

static void records_have_places(void **state)
{
    static const char text[] = "a,b\r\n\n\"x\ny\",2\nlast";
    struct csv csv;
    size_t used, at;

    (void)state;
    csv_init(&csv, 100);
    assert_int_equal(csv_push(&csv, text, sizeof(text) - 1, &used), CSV_RECORD);
    assert_int_equal(csv.offset, 0);
    assert_int_equal(csv.line, 1);
    at = used;
    assert_int_equal(csv_push(&csv, text + at, sizeof(text) - 1 - at, &used), CSV_RECORD);
    assert_int_equal(csv.offset, 6);
    assert_int_equal(csv.line, 3);
    at += used;
    assert_int_equal(csv_push(&csv, text + at, sizeof(text) - 1 - at, &used), CSV_MORE);
    assert_int_equal(csv_finish(&csv), CSV_RECORD);
    assert_int_equal(csv.offset, 14);
    assert_int_equal(csv.line, 5);
    csv_restart(&csv, 6, 3);
    assert_int_equal(csv_push(&csv, text + 6, sizeof(text) - 7, &used), CSV_RECORD);
    assert_int_equal(csv.n_fields, 2);
    assert_int_equal(csv.offset, 6);
    csv_release(&csv);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(plain_records),       cmocka_unit_test(quoted_fields),
    cmocka_unit_test(odds_and_ends),       cmocka_unit_test(bad_records),
    cmocka_unit_test(too_many_fields),     cmocka_unit_test(zero_bytes_are_text),
    cmocka_unit_test(records_have_places),
};
TEST_MAIN(tests)
