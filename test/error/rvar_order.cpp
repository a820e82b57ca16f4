// Updates whose RVars must keep their order: what may not be turned round, parallel or a vector.
#include <pipe/pipe.h>

#include "test/support/check_schedule.h"
#include "test/support/require_message.h"

using namespace Pipe;

TEST_CASE("RVars that must keep their order", "[schedule][error]") {
    Var x("x"), y("y"), ro("ro"), ri("ri");
    RDom r(1, 8, 1, 8, "r");
    Func f("f");
    f(x, y) = x;
    f(r.x, r.y) = f(r.x - 1, r.y - 1) * 2;
    SECTION("reorder") {  // now each reads what the loop, so turned, has not come to yet
        f(r.x, r.y) = f(r.x + 1, r.y - 1) * 2;
        f.update(1).reorder(r.y, r.x);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(1).reorder", "rvar_order.cpp:", "another result", "r$x, r$y"});
    }
    SECTION("parallel") {
        f.update().parallel(r.y);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(0).parallel(r$y)", "touch the same elements", "'f(r$x - 1, r$y - 1)'"});
    }
    SECTION("vectorize") {
        f(r.x, r.y) = f(r.x - 1, r.y) * 2;
        f.update(1).vectorize(r.x, 4);
        require_message<CompileError>(
            [&] { check_schedule({f}); },
            {"f.update(1).vectorize(r$x_lane)", "touch the same elements", "rfactor()"});
    }
    SECTION("tails") {
        require_message<CompileError>(
            [&] { f.update().split(r.x, ro, ri, 4, TailStrategy::RoundUp); },
            {"RoundUp", "RVar 'r$x'", "GuardWithIf"});
        require_message<CompileError>(
            [&] { f.update().split(r.x, ro, ri, 4, TailStrategy::ShiftInwards); },
            {"ShiftInwards", "update", "GuardWithIf"});
    }
}
