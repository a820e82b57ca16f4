// Where barriers go, and for which buffers none are needed.
#include "lower/gpu/barriers.h"

#include "lower/gpu/own_elements.h"
#include "test/gpu/lower/loops.h"

using namespace gpu_lower;

namespace {

Expr x = var("x"), y = var("y");

/// a[x] = in[x] by the threads 0 .. 7
Stmt fill(const std::string &buffer) {
    return threads("x", 8, copy(buffer, x, "in", x));
}
/// to[x] = from[7 - x]
Stmt reverse(const std::string &to, const std::string &from) {
    return threads("x", 8, copy(to, x, from, 7 - x));
}

/// The body of the kernel, with barriers, a statement a line: loops over threads in one line, as "{ .. }".
std::string with_barriers(const Stmt &body) {
    Stmt launch = lower::insert_barriers(kernel(2, {8}, body));
    std::string text = ir::to_string(launch->stmts[0]), result;
    for (size_t at = 0; at < text.size(); at++) {
        const bool nest =
            text.compare(at, 4, "for ") == 0 &&
            text.substr(at, text.find('\n', at) - at).find("thread") != std::string::npos;
        if (!nest) {
            result += text[at];
            continue;
        }
        const size_t first = text.find('\n', at), last = text.find('}', first);
        std::string inside = text.substr(first, last - first);
        const size_t begin = inside.find_first_not_of(" \n"), end = inside.find_last_not_of(" \n");
        result += "x: " + inside.substr(begin, end + 1 - begin);
        at = last;
    }
    return result;
}

/// The buffers of a kernel of 8 x 4 threads.
std::set<std::string> own(const Stmt &body) {
    return lower::own_elements(kernel(2, {8, 4}, body)).buffers;
}
const std::set<std::string> none;

}  // namespace

TEST_CASE("barriers: between a store and a load by another thread", "[barriers]") {
    CHECK(with_barriers(shared("a", 8, both(fill("a"), reverse("out", "a")))) ==
          R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  barrier
  x: out[x] = a[7 - x]
}
)");
}

TEST_CASE("barriers: between a load and a store by another thread, and between two stores",
          "[barriers]") {
    Stmt body = ir::make_block(
        {fill("a"), reverse("out", "a"), fill("a"), threads("x", 8, copy("a", 7 - x, "in", x))});
    CHECK(with_barriers(shared("a", 8, body)) == R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  barrier
  x: out[x] = a[7 - x]
  barrier
  x: a[x] = in[x]
  barrier
  x: a[7 - x] = in[x]
}
)");
}

TEST_CASE("barriers: one is enough for two buffers", "[barriers]") {
    Stmt body = ir::make_block(
        {fill("a"), fill("b"), reverse("out", "a"), reverse("out", "b"), reverse("more", "b")});
    const std::string text = with_barriers(shared("a", 8, shared("b", 8, body)));
    INFO(text);
    CHECK(text.find("barrier") == text.rfind("barrier"));
    CHECK(text.find("x: b[x] = in[x]\n    barrier\n    x: out[x] = a") != std::string::npos);
}

TEST_CASE("barriers: none where each thread reads what it stored", "[barriers]") {
    Stmt body = both(fill("a"), threads("x", 8, copy("out", x, "a", x)));
    CHECK(with_barriers(shared("a", 8, body)).find("barrier") == std::string::npos);
}

TEST_CASE("barriers: the body of a loop follows itself", "[barriers]") {
    Stmt body = serial("i", 3, both(fill("a"), reverse("out", "a")));
    CHECK(with_barriers(shared("a", 8, body)) == R"(allocate a[int32 * 8] in shared memory {
  for i in [0, 3) {
    barrier
    x: a[x] = in[x]
    barrier
    x: out[x] = a[7 - x]
  }
}
)");
    // what is allocated in the loop is another array each time, in the same place
    Stmt own_array = serial("i", 3, shared("a", 8, both(fill("a"), reverse("out", "a"))));
    CHECK(with_barriers(own_array) == R"(for i in [0, 3) {
  allocate a[int32 * 8] in shared memory {
    barrier
    x: a[x] = in[x]
    barrier
    x: out[x] = a[7 - x]
  }
}
)");
}

TEST_CASE("barriers: a loop may have no iteration", "[barriers]") {
    Stmt body =
        ir::make_block({fill("a"), serial("i", 3, reverse("out", "b")), reverse("out", "a")});
    CHECK(with_barriers(shared("a", 8, body)) == R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  for i in [0, 3) {
    x: out[x] = b[7 - x]
  }
  barrier
  x: out[x] = a[7 - x]
}
)");
}

TEST_CASE("barriers: what one branch left to do, and the other", "[barriers]") {
    Stmt branches = ir::make_if(ir::make_binary(ir::Op::LT, var("w"), int32(3)), fill("a"),
                                both(fill("a"), reverse("out", "a")));
    CHECK(with_barriers(shared("a", 8, both(branches, reverse("out", "a")))) ==
          R"(allocate a[int32 * 8] in shared memory {
  if w < 3 {
    x: a[x] = in[x]
  } else {
    x: a[x] = in[x]
    barrier
    x: out[x] = a[7 - x]
  }
  barrier
  x: out[x] = a[7 - x]
}
)");
}

TEST_CASE("barriers: what all threads read outside of loops over threads", "[barriers]") {
    Stmt body = both(fill("a"), ir::make_let("v", load("a", int32(3)),
                                             threads("x", 8, ir::make_store("a", x, var("v")))));
    CHECK(with_barriers(shared("a", 8, body)) == R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  barrier
  let v = a[3]
  barrier
  x: a[x] = v
}
)");
    Stmt first_stores = both(ir::make_store("a", int32(0), int32(5)),
                             threads("x", 8, copy("out", x, "a", int32(0))));
    CHECK(with_barriers(shared("a", 1, first_stores)) ==
          R"(allocate a[int32 * 1] in shared memory {
  a[0] = 5
  barrier
  x: out[x] = a[0]
}
)");
}

TEST_CASE("barriers: the place of an array whose life has ended", "[barriers]") {
    auto life = [](const std::string &name, bool exchanges) {
        return shared(name, 8,
                      both(fill(name), exchanges ? reverse("out", name)
                                                 : threads("x", 8, copy("out", x, name, x))));
    };
    CHECK(with_barriers(both(life("a", true), life("b", true))) ==
          R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  barrier
  x: out[x] = a[7 - x]
}
allocate b[int32 * 8] in shared memory {
  barrier
  x: b[x] = in[x]
  barrier
  x: out[x] = b[7 - x]
}
)");
    // Elements that are each thread's own in their array are not so in the other one.
    for (auto [first, second] : {std::pair(true, false), {false, true}, {false, false}}) {
        const std::string text = with_barriers(both(life("a", first), life("b", second)));
        INFO(text);
        CHECK(text.find("barrier\n  x: b[x] = in[x]") != std::string::npos);
    }
}

TEST_CASE("barriers: the place of an array is used again behind a barrier on every path",
          "[barriers]") {
    Stmt ended = shared("a", 8, both(fill("a"), reverse("out", "a")));
    Stmt branches = ir::make_if(ir::make_binary(ir::Op::LT, var("w"), int32(3)), fill("b"),
                                threads("x", 8, copy("b", x, "in", 7 - x)));
    CHECK(with_barriers(both(ended, shared("b", 8, branches))) ==
          R"(allocate a[int32 * 8] in shared memory {
  x: a[x] = in[x]
  barrier
  x: out[x] = a[7 - x]
}
allocate b[int32 * 8] in shared memory {
  if w < 3 {
    barrier
    x: b[x] = in[x]
  } else {
    barrier
    x: b[x] = in[7 - x]
  }
}
)");
    // The barriers in a loop that may have no iteration do not count.
    Stmt exchanges = serial("k", 5, both(fill("c"), reverse("out", "c")));
    const std::string text =
        with_barriers(shared("c", 8, both(ended, shared("b", 8, both(exchanges, fill("b"))))));
    INFO(text);
    CHECK(text.find("barrier\n    x: b[x] = in[x]") != std::string::npos);
}

TEST_CASE("own elements: the index tells the thread", "[own]") {
    auto stores = [](const Expr &index) {
        return threads("y", 4, threads("x", 8, copy("a", index, "in", x)));
    };
    auto reads = [](const Expr &index) {
        return threads("y", 4, threads("x", 8, copy("out", x, "a", index)));
    };
    const std::set<std::string> a{"a"};
    auto has_a = [&](const Stmt &s) { return own(s).count("a") > 0; };
    CHECK(has_a(both(stores(x + y * 8), reads(x + y * 8))));
    CHECK(has_a(both(stores(x + y * 9), reads(x + y * 9))));
    CHECK(has_a(both(stores(x * 3 + y * 24), reads(x * 3 + y * 24 + 2))));
    CHECK_FALSE(has_a(both(stores(x * 3 + y * 24), reads(x * 3 + y * 24 + 3))));
    CHECK_FALSE(has_a(both(stores(x + y * 8), reads(x + y * 8 + 1))));
    CHECK_FALSE(has_a(both(stores(x + y * 7), reads(x + y * 7 + 1))));
    CHECK_FALSE(has_a(both(stores(x + y * 8), reads(y + x * 4))));
}

TEST_CASE("own elements: loops in a thread", "[own]") {
    auto rows = [](const Expr &index, int n) {
        return threads("y", 4, threads("x", 8, serial("i", n, copy("a", index, "a", index))));
    };
    const Expr i = var("i");
    CHECK(own(rows((x + y * 8) * 5 + i, 5)) == std::set<std::string>{"a"});
    CHECK(own(both(rows((x + y * 8) * 5 + i, 5), rows((x + y * 8) * 5 + i, 4))) ==
          std::set<std::string>{"a"});
    CHECK(own(both(rows((x + y * 8) * 5 + i, 5), rows((x + y * 8) * 5 + i + 1, 5))) == none);
}

TEST_CASE("own elements: more iterations than threads", "[own]") {
    auto nest = [](const Expr &index, int n) {
        return threads("y", 4, threads("x", n, copy("a", index, "in", x)));
    };
    CHECK(own(both(nest(x + y * 16, 16), nest(x + y * 16, 16))) == std::set<std::string>{"a"});
    CHECK(own(both(nest(x + y * 16, 16), nest(x + y * 16 + 8, 8))) == std::set<std::string>{"a"});
    CHECK(own(both(nest(x + y * 16, 16), nest(x + y * 16 + 4, 8))) == none);
}

TEST_CASE("own elements: not where fewer threads store than load", "[own]") {
    // a row, stored by the threads with y = 0, and read by all
    CHECK(own(both(threads("x", 8, copy("a", x, "in", x)),
                   threads("y", 4, threads("x", 8, copy("out", x, "a", x)))))
              .count("a") == 0);
    // a number, stored by the first thread
    CHECK(own(both(ir::make_store("a", int32(0), int32(5)),
                   threads("x", 8, copy("out", x, "a", int32(0)))))
              .count("a") == 0);
    // a number that the first thread alone reads and stores
    CHECK(own(both(copy("a", int32(0), "in", int32(0)), copy("a", int32(0), "a", int32(0)))) ==
          std::set<std::string>{"a"});
}

TEST_CASE("own elements: what is not known, but the same in all steps", "[own]") {
    auto nest = [](const Expr &pitch) {
        return threads("y", 4, threads("x", 8, copy("a", x + y * pitch, "a", x + y * pitch)));
    };
    CHECK(own(both(nest(var("pitch")), nest(var("pitch")))) == std::set<std::string>{"a"});
    CHECK(own(both(nest(var("pitch")), nest(var("other")))) == none);
    CHECK(own(both(nest(var("pitch")), nest(load("b", int32(0))))) == none);
}
