// Running sums, minima and maxima, which are computed a vector at a time, and pure definitions that an update
// stores over.
#include "against_reference.h"

using namespace Pipe;

namespace {

Var x("x"), y("y");

const Target fast = get_host_target().with_feature(Target::FastMath);

/// Around the number of lanes of every type, on both sides of whole vectors.
constexpr int sizes[] = {1, 2, 8, 9, 16, 17, 31, 33, 65, 130, 257};

/// The rows of an image of small numbers (whose sums are exact also as floats).
template <typename T> struct Rows {
    testing::GuardedBuffer memory;
    ImageParam in{type_of<T>(), 2, "in"};

    explicit Rows(int width) : memory(noise<T>({{0, width}, {0, 3}})) { in.set(memory.buffer); }
    RDom after_first() { return RDom(1, in.width() - 1, "r"); }
};

template <typename T> void check_forward(int width, const Target &target) {
    Rows<T> rows(width);
    const RDom r = rows.after_first();
    Func sums("sums"), least("least"), most("most");
    sums(x, y) = rows.in(x, y);
    sums(r, y) += sums(r - 1, y);
    least(x, y) = rows.in(x, y);
    least(r, y) = min(least(r, y), least(r - 1, y));
    most(x, y) = cast<T>(1);
    most(r, y) = max(rows.in(r - 1, y), max(most(r - 1, y), cast<T>(r % 100)));
    for (const Func &f : {sums, least, most})
        check_against_reference<T>(Pipeline(f), {width, 3}, target);
}

template <typename T> void check_all() {
    for (int width : sizes) {
        INFO(to_string(type_of<T>()) << ", " << width << " columns");
        check_forward<T>(width, Target());
        check_forward<T>(width, fast);
    }
}

}  // namespace

TEST_CASE("running sums, minima and maxima of every type", "[differential]") {
    check_all<uint8_t>();
    check_all<int16_t>();
    check_all<int32_t>();
    check_all<uint32_t>();
    check_all<int64_t>();
    check_all<float>();
    check_all<double>();
}

TEST_CASE("running sums from the right to the left", "[differential]") {
    for (int width : sizes) {
        INFO(width << " columns");
        Rows<int> rows(width);
        const RDom r = rows.after_first();
        const Expr last = rows.in.width() - 1;
        Func f("f");
        f(x, y) = rows.in(x, y);
        f(last - r, y) += f(last - r + 1, y) - rows.in(r, y);
        check_against_reference<int>(Pipeline(f), {width, 3});
    }
}

TEST_CASE("scans that are not running sums stay as they are", "[differential]") {
    for (int width : sizes) {
        INFO(width << " columns");
        Rows<int> rows(width);
        const RDom r = rows.after_first();
        Func twice("twice"), two("two"), subtracted("subtracted"), product("product"),
            mixed("mixed");
        for (Func &f : {std::ref(twice), std::ref(two), std::ref(subtracted), std::ref(product),
                        std::ref(mixed)})
            f(x, y) = rows.in(x, y);
        twice(r, y) = twice(r - 1, y) + twice(r - 1, y) % 7;
        two(r, y) = two(r - 1, y) % 1000 + two(max(r - 2, 0), y) % 1000;
        subtracted(r, y) = rows.in(r, y) - subtracted(r - 1, y);
        product(r, y) = product(r - 1, y) * 3 + 1;
        mixed(r, y) = max(mixed(r - 1, y) + 5, rows.in(r, y));
        for (const Func &f : {twice, two, subtracted, product, mixed})
            check_against_reference<int>(Pipeline(f), {width, 3});
    }
}

TEST_CASE("the points that an update stores over, and those that it leaves", "[differential]") {
    for (int width : {5, 40}) {
        INFO(width << " columns");
        Rows<int> rows(width);
        const RDom r(3, 20, "r");
        Func along("along"), down("down"), back("back"), far("far");
        along(x, y) = x * 7 + y;
        along(r, y) = along(r - 1, y) + 1;
        down(x, y) = x * 3 - y;
        down(x, r) = down(x, r - 1) + x;
        back(x, y) = x + y * 5;
        back(25 - r, y) = back(26 - r, y) + back(28 - r, y) % 3;
        far(x, y) = x - y;
        far(x, r) = far(x, r - 3) + far(x, r - 1);
        for (Func f : {along, down, back, far}) {
            CHECK(wrong_elements<int>(Pipeline(f), {{{-2, width + 30}, {-1, 30}}}) == 0);
            f.vectorize(x, 8).parallel(y);
            CHECK(wrong_elements<int>(Pipeline(f), {{{-2, width + 30}, {-1, 30}}}) == 0);
        }
    }
}

TEST_CASE("an update that reads the pure definition where it will store", "[differential]") {
    const RDom r(3, 20, "r"), both(3, 20, 0, 2, "both");
    Func ahead("ahead"), own("own"), other("other"), some("some"), again("again");
    for (Func &f :
         {std::ref(ahead), std::ref(own), std::ref(other), std::ref(some), std::ref(again)})
        f(x, y) = x * 7 + y;
    ahead(x, r) = ahead(x, r + 1) + 1;
    own(x, r) = own(x, r) * 2 + own(x, r - 1);
    other(x, r) = other(x, 25 - r) + 1;
    RDom where(3, 20, "where");
    where.where(where % 2 == 0);
    some(x, where) = some(x, where - 1) + 1;
    again(x, both.x) = again(x, both.x) + both.y;
    for (const Func &f : {ahead, own, other, some, again})
        CHECK(wrong_elements<int>(Pipeline(f), {{{-2, 20}, {-1, 30}}}) == 0);
}

TEST_CASE("stages after the one that stores over the pure definition", "[differential]") {
    const RDom r(1, 15, "r"), s(0, 10, "s");
    Func f("f"), out("out");
    f(x, y) = x + y;
    f(x, r) = f(x, r - 1) + x;
    f(s, y) = f(s + 3, y) * 2 + f(s, y);
    out(x, y) = f(x, y) + f(x + 1, max(y - 2, 0));
    f.compute_at(out, y);
    CHECK(wrong_elements<int>(Pipeline(out), {{{0, 20}, {0, 20}}}) == 0);
    f.compute_root().vectorize(x, 4);
    CHECK(wrong_elements<int>(Pipeline(out), {{{0, 20}, {0, 20}}}) == 0);
}
