#include "harness.h"
#include "plot/chart.h"
static void a(void**s){(void)s;}
static const struct CMUnitTest tests[] = {cmocka_unit_test(a)};
TEST_MAIN(tests)
