// Which sums are known to have no constant bound, and that no such sum has one.
#include "region/unbounded.h"

#include <catch2/catch_message.hpp>
#include <catch2/catch_test_macros.hpp>

#include <map>

#include "ir/print.h"
#include "support/index.h"

using namespace Pipe;

namespace {

Expr n(const char *name) {
    return test::var(name);
}

/// Loops "loop" of 8 iterations; lets as given; all other variables are sizes.
class Names {
  public:
    explicit Names(std::map<std::string, Expr> lets = {}) : lets_(std::move(lets)) {
        variables_.extent_of = [](const std::string &name) {
            return name == "loop" ? std::optional<int64_t>(8) : std::nullopt;
        };
        variables_.let_of = [this](const std::string &name) {
            auto let = lets_.find(name);
            return let == lets_.end()
                       ? std::pair(Expr(), 0)
                       : std::pair(let->second, int(std::distance(lets_.begin(), let)));
        };
    }

    bool unbounded(const Expr &e) const {
        return region::is_unbounded(ir::Linear::from_expr(e), variables_);
    }
    std::optional<int64_t> bound(const Expr &e) const {
        return region::upper_bound(ir::Linear::from_expr(e), variables_);
    }

  private:
    std::map<std::string, Expr> lets_;
    region::Variables variables_;
};

}  // namespace

TEST_CASE("sizes of whole images have no bound, of either sign, at any level of a pyramid") {
    const Names names;
    CHECK(names.unbounded(n("w")));
    CHECK(names.unbounded(-n("w")));
    CHECK(names.unbounded(max(min(n("y"), n("w") / 8 - 1) - 1, 1) -
                          max(min(n("x"), n("w") / 8 - 1), 1) + 3));
}

TEST_CASE("what a constant bounds is not called unbounded") {
    const Names names({{"a", min(n("w"), n("tile") * 32)}, {"b", n("a") + 5}});
    for (const Expr &e : {n("b") - n("a"), min(n("w"), 100), n("loop") * 1000, n("w") % 64,
                          min(n("tile") * 32 + 31, n("w")) - n("tile") * 32,
                          min(n("tile") * 32, n("w") - 32) - min(n("tile") * 32, n("w"))}) {
        CAPTURE(e);
        CHECK_FALSE(names.unbounded(e));
        CHECK(names.bound(e));
    }
    CHECK(names.unbounded(n("b") - n("tile") * 32 + n("h")));
}

TEST_CASE("a part that depends on data may have any value, and is not called unbounded") {
    const Expr data = cast<int>(sin(cast<float>(n("w"))));
    CHECK_FALSE(Names().unbounded(data));
    CHECK_FALSE(Names().unbounded(n("w") + data));
}
