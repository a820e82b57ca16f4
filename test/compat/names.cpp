// Names of Halide's public headers that no other program here uses: they compile, and mean the
// same.
#include <pipe/halide.h>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace Halide;

TEST_CASE("types", "[compat]") {
    Type t = UInt(16, 4);
    CHECK(t.bits() == 16);
    CHECK(t.bytes() == 2);
    CHECK(t.lanes() == 4);
    CHECK(t.code() == Type::UInt);
    CHECK(t.code() == halide_type_uint);
    CHECK(t.element_of().widen() == UInt(32));
    CHECK(t.element_of().narrow() == UInt(8));
    CHECK(t.with_code(Type::Int).with_bits(8).with_lanes(1) == Int(8));
    CHECK(Type(Type::Float, 32, 1) == Float(32));
    CHECK(type_of<bfloat16_t>() == BFloat(16));
    CHECK((Int(8) < Int(16) && !(Int(16) < Int(8))));
    halide_type_t plain = t;
    CHECK((plain.code == halide_type_uint && plain.bits == 16 && plain.lanes == 4));
    CHECK(Type(plain) == t);
    CHECK(halide_type_of<float>() == Float(32));
    CHECK(evaluate<uint8_t>(UInt(8).max()) == 255);
    CHECK(evaluate<int16_t>(Int(16).min()) == -32768);
    CHECK(std::isinf(evaluate<float>(Float(32).max())));
    CHECK(evaluate<bool>(Bool().max()));
}

namespace {

/// GCC 12 does not compile every way to declare Type::UInt here.
template <typename T> bool is_unsigned_type() {
    const Type type = type_of<T>();
    return type.code() == Type::UInt;
}

}  // namespace

TEST_CASE("codes of types in templates", "[compat]") {
    CHECK(is_unsigned_type<uint8_t>());
    CHECK_FALSE(is_unsigned_type<int>());
}

TEST_CASE("which values a type holds", "[compat]") {
    CHECK(Int(16).can_represent(UInt(8)));
    CHECK_FALSE(Int(16).can_represent(UInt(16)));
    CHECK_FALSE(UInt(64).can_represent(Int(8)));
    CHECK(Float(32).can_represent(Int(16)));
    CHECK_FALSE(Float(32).can_represent(Int(32)));
    CHECK(Float(64).can_represent(Int(32)));
    CHECK(Float(64).can_represent(Float(32)));
    CHECK_FALSE(Float(16).can_represent(BFloat(16)));
    CHECK(UInt(8).can_represent(Bool()));
    CHECK_FALSE(UInt(8).can_represent(256));
}

TEST_CASE("which numbers a type holds", "[compat]") {
    CHECK(UInt(8).can_represent(255u));
    CHECK_FALSE(UInt(8).can_represent(-1));
    CHECK(UInt(64).can_represent(UINT64_MAX));
    CHECK_FALSE(Int(64).can_represent(UINT64_MAX));
    CHECK(Int(64).can_represent(INT64_MIN));
    CHECK(Int(8).can_represent(-128.0));
    CHECK_FALSE(Int(8).can_represent(-128.5));
    CHECK_FALSE(Int(8).can_represent(128.0));
    CHECK_FALSE(UInt(64).can_represent(0x1p64));
    CHECK(UInt(64).can_represent(0x1p63));
    CHECK_FALSE(Int(64).can_represent(0x1p63));
    CHECK(Int(64).can_represent(-0x1p63));
    CHECK_FALSE(Int(32).can_represent(NAN));
    CHECK(Float(32).can_represent(0.5));
    CHECK_FALSE(Float(32).can_represent(0.1));
    CHECK(Float(64).can_represent(0.1));
    CHECK(Float(32).can_represent(INFINITY));
    CHECK(Float(16).can_represent(NAN));
    CHECK_FALSE(Float(16).can_represent(1e6));
    CHECK(Float(32).can_represent(1 << 24));
    CHECK_FALSE(Float(32).can_represent((1 << 24) + 1));
    CHECK_FALSE(Float(64).can_represent(UINT64_MAX));
    CHECK(Bool().can_represent(true));
    CHECK_FALSE(Bool().can_represent(2));
    CHECK(Int(8).is_max(127));
    CHECK(Int(8).is_min(-128));
    CHECK(UInt(16).is_max(65535u));
    CHECK(UInt(64).is_max(UINT64_MAX));
    CHECK_FALSE(UInt(8).is_max(-1));
    CHECK(UInt(8).is_min(0));
    CHECK_FALSE(UInt(8).is_min(1));
    CHECK_FALSE(Float(32).is_min(0));
    CHECK(Bool().is_max(1));
}

TEST_CASE("implicit Vars by number, and references that say the same", "[compat]") {
    CHECK(Var::implicit(3).implicit_index() == 3);
    CHECK(_1.implicit_index() == 1);
    CHECK(Var("x").implicit_index() == -1);
    CHECK(_.implicit_index() == -1);
    CHECK(Var::implicit_index("_12") == 12);
    Var x("x"), y("y");
    Func f("f"), g("g");
    f(x, y) = x;
    g(x, y) = x;
    CHECK(f(x + 1, y).equivalent_to(f(x + 1, y)));
    CHECK_FALSE(f(x + 1, y).equivalent_to(f(x, y)));
    CHECK_FALSE(f(x, y).equivalent_to(g(x, y)));
}

TEST_CASE("targets", "[compat]") {
    Target t(Target::Linux, Target::X86, 64, {Target::AVX512_Skylake, Target::JIT});
    CHECK(t.os == Target::Linux);
    CHECK(t.arch == Target::X86);
    CHECK(t.bits == 64);
    CHECK(t.has_feature(Target::AVX512));
    CHECK(t.features_all_of({Target::AVX, Target::FMA, Target::F16C}));
    CHECK_FALSE(t.features_any_of({Target::CUDA, Target::OpenCL}));
    CHECK(t.natural_vector_size<float>() == 16);
    CHECK(t.natural_vector_size(UInt(8)) == 64);
    CHECK(Target(Target::Linux, Target::X86, 64, {Target::AVX512}).natural_vector_size(UInt(8)) ==
          32);
    CHECK(Target(t.to_string()) == t);
    t.set_features({Target::Metal, Target::HVX});
    CHECK(t.has_gpu_feature());
    CHECK_FALSE(t.supported());
    CHECK_FALSE(host_supports_target_device(t));
    CHECK(host_supports_target_device(get_host_target().with_feature(Target::Profile)));
    t.set_feature(Target::Metal, false);
    CHECK_FALSE(t.has_gpu_feature());
    CHECK(Target::validate_target_string("arm-64-osx-arm_dot_prod"));
    CHECK_FALSE(Target::validate_target_string("arm-64-plan9"));
    CHECK(Target::feature_from_name("avx2") == Target::AVX2);
    CHECK(Target::feature_from_name("no such") == Target::FeatureEnd);
    CHECK(Target::feature_to_name(Target::AVX512_SapphireRapids) == "avx512_sapphirerapids");
    CHECK(get_target_from_environment() == get_jit_target_from_environment());
    CHECK_FALSE(Target().supported());
    CHECK(Target().has_unknowns());
    Target bare(Target::Linux, Target::X86, 64);
    bare.features.set(Target::AVX2);
    CHECK_FALSE(bare.has_feature(Target::SSE41));
    CHECK(bare.with_implied_features() == bare.with_feature(Target::AVX2));
    CHECK(bare.with_implied_features().features_all_of({Target::SSE41, Target::AVX, Target::AVX2}));
    // What changes nothing changes nothing.
    Var x("x");
    Func f("f");
    f(x) = x * 3;
    Buffer<int> out = f.realize({10}, get_host_target().with_feature(Target::NoAsserts));
    CHECK(out(9) == 27);
}

TEST_CASE("Exprs of the target", "[compat]") {
    Var x("x");
    Func f("f");
    Target host = get_host_target();
    f(x) = Tuple(select(target_arch_is(host.arch) && target_os_is(host.os), x, -1),
                 target_natural_vector_size<float>() + x,
                 select(target_has_feature(Target::CUDA), 1, 0), target_bits());
    f.vectorize(x, target_natural_vector_size<int32_t>());
    for (int width : {1, 7, 40}) {
        Realization r = f.realize({width});
        Buffer<int> same = r[0], lanes = r[1], gpu = r[2], bits = r[3];
        for (int i = 0; i < width; i++) {
            CHECK(same(i) == i);
            CHECK(lanes(i) == host.natural_vector_size<float>() + i);
        }
        CHECK(gpu.all_equal(0));
        CHECK(bits.all_equal(64));
    }
    Target narrow = host;
    for (Target::Feature feature : {Target::AVX512, Target::AVX2, Target::AVX})
        narrow.set_feature(feature, false);
    Buffer<int> lanes = f.realize({3}, narrow)[1];
    CHECK(lanes(0) == narrow.natural_vector_size<float>());
}

TEST_CASE("output buffers", "[compat]") {
    Var x("x"), y("y"), c("c");
    Func rgb("rgb");
    rgb(x, y, c) = cast<uint8_t>(x + 10 * y + 100 * c);
    rgb.output_buffer().dim(0).set_stride(3).dim(2).set_stride(1).set_bounds(0, 3);
    rgb.reorder(c, x, y).bound(c, 0, 3).unroll(c);
    CHECK(rgb.output_buffer().type() == UInt(8));
    CHECK(rgb.output_buffer().dimensions() == 3);
    for (int width : {1, 5, 32}) {
        auto out = Buffer<uint8_t>::make_interleaved(width, 4, 3);
        out.set_min(2, -1, 0);
        rgb.realize(out);
        int wrong = 0;
        out.for_each_element(
            [&](int i, int j, int k) { wrong += out(i, j, k) != uint8_t(i + 10 * j + 100 * k); });
        CHECK(wrong == 0);
    }
    CHECK_THROWS_AS(rgb.realize({4, 4, 3}), RuntimeError);

    Func pair("pair");
    pair(x) = Tuple(x, cast<float>(x));
    std::vector<OutputImageParam> buffers = pair.output_buffers();
    REQUIRE(buffers.size() == 2);
    buffers[0].dim(0).set_min(0);
    buffers[1].set_host_alignment(16).set_estimates({{0, 100}});
    CHECK(buffers[1].host_alignment() == 16);
    pair.vectorize(x, 4, TailStrategy::GuardWithIf);
    Buffer<float> floats = pair.realize({9})[1];
    CHECK(floats(8) == 8);
    // A size in a directive.
    Func square("square");
    square(x, y) = x * y;
    square.bound(y, 0, square.output_buffer().width());
    Buffer<int> out = square.realize({6, 6});
    CHECK(out(5, 5) == 25);
    CHECK_THROWS_AS(square.realize({6, 5}), RuntimeError);
}

TEST_CASE("pipelines", "[compat]") {
    Var x("x");
    ImageParam in(Int(32), 1, "in");
    Param<int> scale("scale", 2);
    Func f("f"), g("g");
    f(x) = in(x) + 1;
    g(x) = f(x) * scale;
    f.compute_root();
    Pipeline p(g);
    CHECK(p.get_func(0).name() == "f");
    CHECK(p.get_func(1).name() == "g");
    CHECK(g.infer_arguments().size() == 2);
    p.add_requirement(scale != 0, "scale must not be", scale);
    p.add_requirement(in.dim(0).extent() >= 4);
    Buffer<int> data(8);
    data.fill([](int i) { return i; });
    in.set(data);
    Buffer<int> out = p.realize({8});
    CHECK(out(7) == 16);
    scale.set(0);
    std::string message;
    try {
        p.realize({8});
    } catch (const RuntimeError &error) {
        message = error.what();
    }
    CHECK(message.find("scale must not be 0") != std::string::npos);
    scale.set(3);
    p.invalidate_cache();
    out = p.realize({8});
    CHECK(out(0) == 3);
    Param<float> ranged("ranged", 0.5f, 0.0f, 1.0f);
    CHECK(evaluate<float>(ranged.max_value()) == 1.0f);
    CHECK(evaluate<float>(ranged.min_value()) == 0.0f);
}

TEST_CASE("reductions into a Func of one's own", "[compat]") {
    Var x("x");
    Func rows("rows"), best("best"), f("f");
    RDom r(0, 9);
    f(x) = sum(x * r, rows) + argmax(r, cast<int>((r + x) % 5), best)[0];
    rows.compute_root().update().unroll(r, 3);
    best.compute_root();
    Func clipped("clipped");
    clipped(x) = Tuple(saturating_sum(cast<uint8_t>(x * r)), saturating_sum(r, cast<int8_t>(-x)));
    for (int width : {1, 13}) {
        Buffer<int> out = f.realize({width});
        Realization sums = clipped.realize({width});
        Buffer<uint8_t> up = sums[0];
        Buffer<int8_t> down = sums[1];
        for (int i = 0; i < width; i++) {
            CHECK(out(i) == 36 * i + (4 - i % 5 + 5) % 5);
            CHECK(up(i) == std::min(255, 36 * i));
            CHECK(down(i) == std::max(-128, -9 * i));
        }
    }
}

TEST_CASE("fma rounds once", "[compat]") {
    Var x("x");
    Func f("f"), d("d");
    Expr a = cast<float>(x) * 0.1f + 1.0f;
    f(x) = fma(a, a, -(a * a));
    Expr b = cast<double>(x) / 3.0;
    d(x) = fma(b, b, cast<double>(1));
    f.vectorize(x, 8);
    Target without = get_host_target().without_feature(Target::FMA);
    for (const Target &target : {get_host_target(), without}) {
        Buffer<float> out = f.realize({37}, target);
        Buffer<double> doubles = d.realize({5}, target);
        for (int i = 0; i < 37; i++) {
            // a itself may or may not be contracted, so the identity is tested, not the value.
            double exact = std::fma(0.1f, float(i), 1.0f), rounded = 0.1f * float(i) + 1.0f;
            auto error = [](double v) { return float(v * v - double(float(v) * float(v))); };
            float e1 = error(float(exact)), e2 = error(float(rounded));
            CHECK((out(i) == e1 || out(i) == e2));
        }
        for (int i = 0; i < 5; i++)
            CHECK(doubles(i) == std::fma(i / 3.0, i / 3.0, 1.0));
    }
}

TEST_CASE("Buffers as Halide has them", "[compat]") {
    Buffer<int> b(6, 4);
    b.fill([](int i, int j) { return i + 10 * j; });
    CHECK(b.get()->width() == 6);
    CHECK(Buffer<int>().get() == nullptr);
    CHECK(Buffer<int>().raw_buffer() == nullptr);
    halide_buffer_t *raw = b.raw_buffer();
    CHECK(raw->dimensions == 2);
    CHECK(raw->dim[1].stride == 6);
    CHECK(raw->type == Int(32));
    CHECK(reinterpret_cast<int *>(raw->host)[7] == 11);
    Runtime::Buffer<int> copy = *b.get();
    CHECK(copy(5, 3) == 35);
    Buffer<const int> fixed = b.as_const();
    CHECK(fixed(5, 3) == 35);
    CHECK(Buffer<float>::static_halide_type() == Float(32));
    CHECK(Buffer<float>::has_static_halide_type);
    int visited = 0;
    b.for_each_element([&](const int *at) { visited += b(at) == at[0] + 10 * at[1]; });
    CHECK(visited == 24);
    CHECK_FALSE(b.device_dirty());
    CHECK_FALSE(b.has_device_allocation());
    b.set_host_dirty();
    CHECK(b.copy_to_host() == 0);
    CHECK(b.device_free() == 0);
    CHECK_THROWS_AS(b.copy_to_device(DeviceAPI::Metal), RuntimeError);
    b.reset();
    CHECK_FALSE(b.defined());
}

TEST_CASE("streams, tools and small things", "[compat]") {
    Var x("x"), y("y");
    RDom r(0, 4, "r");
    std::ostringstream text;
    text << (x + 3) << " " << UInt(8) << " " << TailStrategy::GuardWithIf << " " << MemoryType::Heap
         << " " << LoopLevel::root() << " " << x << " " << r.x;
    CHECK(text.str() == "x + 3 uint8 GuardWithIf Heap root x r$x");
    text.str("");
    text << LoopAlignStrategy::AlignEnd << " " << LoopAlignStrategy::Auto << " "
         << PrefetchBoundStrategy::NonFaulting << " " << DeviceAPI::None << " "
         << DeviceAPI::D3D12Compute << " " << DeviceAPI::HexagonDma;
    CHECK(text.str() == "AlignEnd Auto NonFaulting None D3D12Compute HexagonDma");
    int a = 0;
    float b = 0;
    evaluate_may_gpu(Tuple(Expr(3), Expr(2.5f)), &a, &b);
    CHECK(a == 3);
    CHECK(b == 2.5f);
    CHECK(float16_t::make_negative_infinity().is_infinity());
    CHECK(bfloat16_t::mantissa_bits == 7);
    CHECK(evaluate<uint16_t>(fast_integer_divide(cast<uint16_t>(1000), cast<uint8_t>(7))) == 142);
    CHECK(evaluate<uint16_t>(fast_integer_modulo(cast<uint16_t>(1000), cast<uint8_t>(7))) == 6);
    int calls = 0;
    double seconds = Tools::benchmark(2, 3, [&] { calls++; });
    CHECK(calls == 6);
    CHECK(seconds >= 0);
    Param<int> ranged(5, 0, 10);
    CHECK(evaluate<int>(ranged.max_value()) == 10);
    Func f("f");
    f(x, y) = x;
    CHECK(f.split_vars().size() == 3);
    CHECK(f.split_vars()[2].name() == Var::outermost().name());
    Buffer<int> out(3, 3);
    f.realize({out});
    CHECK(out(2, 1) == 2);
    halide_dimension_t shape[] = {{1, 3, 1, 0}, {0, 3, 3, 0}};
    Runtime::Buffer<int> moved(out.data(), 2, shape);
    CHECK(moved(3, 2) == 2);
}

namespace tools_and_all {
using namespace Halide::Tools;  // beside `using namespace Halide`: nothing is ambiguous

TEST_CASE("images by either name", "[compat]") {
    Buffer<uint8_t> gray(5, 4);
    gray.fill(9);
    std::string file = "compat_names_gray.pgm";
    save_image(gray, file);
    Buffer<uint8_t> back = load_image(file);
    std::remove(file.c_str());
    CHECK(back.dimensions() == 2);
    CHECK(back.all_equal(9));
}
}  // namespace tools_and_all

TEST_CASE("the place outside all loops", "[compat]") {
    Var x("x"), y("y");
    Func f("f"), g("g"), h("h");
    f(x, y) = x + y;
    g(x, y) = f(x, y) + f(x + 1, y);
    h(x, y) = g(x, y) + g(x, y + 1);
    g.compute_at(h, y);
    f.store_at(h, Var::outermost()).compute_at(g, Var::outermost());
    for (int size : {1, 9}) {
        Buffer<int> out = h.realize({size, size});
        int wrong = 0;
        out.for_each_element([&](int i, int j) { wrong += out(i, j) != 4 * (i + j) + 4; });
        CHECK(wrong == 0);
    }
    g.compute_inline();
    CHECK_THROWS_AS(h.realize({4, 4}), CompileError);
}

TEST_CASE("callables of a function with fewer or more arguments than dimensions", "[compat]") {
    Buffer<int> b(3, 2);
    b.set_min(5, 7);
    b.fill(0);
    int calls = 0;
    b.for_each_element([&](int x) { b(x, 8) = x, calls++; });
    CHECK(calls == 3);
    CHECK(b(5, 8) == 5);
    CHECK(b(7, 8) == 7);
    CHECK(b(7, 7) == 0);
    b.for_each_element([&](int x, int y, int z) { b(x, y) = x + 10 * y + 1000 * z; });
    CHECK(b(6, 8) == 86);
    int next = 0;
    b.fill([&] { return ++next; });
    CHECK(next == 6);
    CHECK(b(5, 7) == 1);
    CHECK(b(7, 8) == 6);
    b.fill([](int x) { return -x; });  // of the first row alone
    CHECK(b(6, 7) == -6);
    CHECK(b(6, 8) == 5);
}

TEST_CASE("coordinates of dimensions that there are not are 0", "[compat]") {
    Buffer<int> row(4), one = Buffer<int>::make_scalar();
    row.fill([](int x) { return x * x; });
    one() = 3;
    CHECK(row(3, 0) == 9);
    CHECK(row(2, 0, 0) == 4);
    CHECK(one(0) == 3);
    CHECK(one(0, 0) == 3);
#ifndef NDEBUG
    CHECK_THROWS_AS(row(2, 1), RuntimeError);
#endif
}

namespace Halide {
/// A user's own, in the namespace of what he uses.
struct Plan {
    int rows = 4;
};
}  // namespace Halide

namespace users_names {
using namespace Halide;
enum Schedule { ByHand, ByMachine };
Schedule chosen = ByMachine;
}  // namespace users_names

TEST_CASE("names that a user may have", "[compat]") {
    CHECK(users_names::chosen == users_names::ByMachine);
    CHECK(Halide::Plan().rows == 4);
    CHECK(halide_error_code_success == 0);
    int code = TypeCode::Float, event = halide_trace_store;
    CHECK(code == halide_type_float);
    CHECK(event == 1);
    CHECK(get_host_target().supports_device_api(DeviceAPI::Host));
    CHECK_FALSE(get_host_target().supports_device_api(DeviceAPI::CUDA));
    CHECK(get_host_target().supports_type(Float(32), DeviceAPI::Host));
    CHECK_FALSE(get_host_target().supports_type(Float(32), DeviceAPI::CUDA));
    auto start = Halide::Tools::benchmark_now();
    double seconds =
        Halide::Tools::benchmark_duration_seconds(start, Halide::Tools::benchmark_now());
    CHECK(seconds >= 0);
}

TEST_CASE("halide_buffer_t", "[compat]") {
    Buffer<uint16_t> b(5, 4);
    b.set_min(-1, 2);
    b.fill([](int x, int y) { return x + 10 * y; });
    Buffer<uint16_t> turned = b.transposed(0, 1);
    halide_buffer_t *raw = turned.raw_buffer();
    int at[] = {4, 3};
    CHECK(*reinterpret_cast<uint16_t *>(raw->address_of(at)) == 43);
    CHECK(raw->size_in_bytes() == 40);
    CHECK(raw->end() - raw->begin() == 40);
    CHECK(raw->begin() == reinterpret_cast<uint8_t *>(b.data()));
    CHECK_FALSE(raw->device_dirty());
    raw->set_host_dirty();
    CHECK(raw->host_dirty());
    raw->set_host_dirty(false);
    CHECK_FALSE(raw->host_dirty());
    // Of the memory, which both have.
    raw->flags |= halide_buffer_flag_host_dirty;
    CHECK(b.host_dirty());
    CHECK((b.raw_buffer()->flags & halide_buffer_flag_host_dirty) != 0);
    b.set_host_dirty(false);
    CHECK(raw->flags == 0);
    halide_buffer_t own = {};
    own.flags = halide_buffer_flag_device_dirty;
    CHECK(own.device_dirty());
}

TEST_CASE("Params with and without a static type are the same parameter", "[compat]") {
    Var x("x");
    Param<int32_t> typed;
    Func f("f");
    f(x) = x + typed;
    Param<> any = typed;
    any.set(40);
    CHECK(Buffer<int>(f.realize({3}))(2) == 42);
    Param<int32_t> again = any;
    again.set(7);
    CHECK(typed.get() == 7);
    Param<> other(Float(64));
    other = typed;
    CHECK(other.type() == Int(32));
    CHECK_THROWS_AS(Param<float>(any), RuntimeError);
}

TEST_CASE("images by lists of Vars, and their trace tags", "[compat]") {
    Var x("x"), y("y");
    ImageParam in(Int(32), 2, "in");
    std::vector<Var> vars{x, y};
    Func f("f");
    f(x, y) = in(vars)*2;
    in.add_trace_tag("the input").add_trace_tag("once more");
    static std::vector<std::string> tags;
    JITUserContext context;
    context.handlers.custom_trace = [](JITUserContext *, const TraceEvent *e) {
        if (e->event == halide_trace_tag)
            tags.push_back(std::string(e->func) + ": " + e->trace_tag);
        return 0;
    };
    for (int size : {1, 5}) {
        Buffer<int> image(size, 3);
        image.set_min(1, -1);
        image.fill([](int i, int j) { return i + 10 * j; });
        in.set(image);
        Buffer<int> out(size, 3);
        out.set_min(1, -1);
        tags.clear();
        f.realize(&context, out);
        CHECK(tags == std::vector<std::string>{"in: the input", "in: once more"});
        int wrong = 0;
        out.for_each_element([&](int i, int j) { wrong += out(i, j) != 2 * (i + 10 * j); });
        CHECK(wrong == 0);
    }
}

TEST_CASE("lambdas of implicit Vars", "[compat]") {
    Var x("x"), y("y"), z("z");
    Func product("product"), three("three");
    product(x, y) = x * y;
    three(x, y, z) = x + 10 * y + 100 * z;
    Buffer<int> sums = lambda(product(_) + lambda(x, y, x - y)(_)).realize({4, 5});
    CHECK(sums(3, 4) == 11);
    Buffer<int> in_front = lambda(_, z, three(_, z)).realize({3, 4, 5});
    CHECK(in_front(1, 2, 3) == 321);
    Buffer<int> behind = lambda(z, three(_, z)).realize({5, 3, 4});
    CHECK(behind(3, 1, 2) == 321);
}

TEST_CASE("outside the loops of a Func with updates that has no level of its own", "[compat]") {
    Var i("i"), x("x");
    for (int lanes : {1, 4}) {
        Func parts("parts"), total("total"), scaled("scaled");
        RDom far(0, 6), near(0, lanes);
        parts(i) = 0;
        parts(i) += far * lanes + i;
        total() = 0;
        total() += parts(near);
        scaled(x) = total() * x;
        parts.compute_at(total, Var::outermost()).vectorize(i, lanes);
        Buffer<int> out = scaled.realize({4});
        CHECK(out(3) == 3 * (6 * lanes) * (6 * lanes - 1) / 2);
    }
}

namespace users_types {
struct Camera;
class Lens;
union Word {
    int number;
};
using Count = int64_t;
}  // namespace users_types
HALIDE_DECLARE_EXTERN_STRUCT_TYPE(users_types::Camera);
HALIDE_DECLARE_EXTERN_CLASS_TYPE(users_types::Lens);
HALIDE_DECLARE_EXTERN_UNION_TYPE(users_types::Word);
HALIDE_DECLARE_EXTERN_SIMPLE_TYPE(users_types::Count);

namespace {
HALIDE_EXPORT int exported() {
    return 3;
}
HALIDE_NO_USER_CODE_INLINE int apart() {
    return 4;
}
}  // namespace

TEST_CASE("macros", "[compat]") {
#if !defined(HALIDE_EXPORT) || !defined(HALIDE_EXPORT_SYMBOL) ||                                   \
    !defined(HALIDE_NO_USER_CODE_INLINE) || !defined(HALIDE_DECLARE_EXTERN_TYPE) ||                \
    !defined(HALIDE_DECLARE_EXTERN_CLASS_TYPE) || !defined(HALIDE_DECLARE_EXTERN_STRUCT_TYPE) ||   \
    !defined(HALIDE_DECLARE_EXTERN_UNION_TYPE) || !defined(HALIDE_DECLARE_EXTERN_SIMPLE_TYPE) ||   \
    !defined(HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT) ||                                        \
    !defined(HALIDE_RUNTIME_BUFFER_CHECK_INDICES)
    FAIL("a macro is missing");
#endif
    CHECK(exported() + apart() == 7);
    for (int size : {1, 3, 1000}) {
        Buffer<uint8_t> b(size);
        CHECK(reinterpret_cast<uintptr_t>(b.data()) % HALIDE_RUNTIME_BUFFER_ALLOCATION_ALIGNMENT ==
              0);
    }
#if HALIDE_RUNTIME_BUFFER_CHECK_INDICES
    Buffer<int> b(3);
    CHECK_THROWS_AS(b(3), RuntimeError);
#endif
}

TEST_CASE("flags, codes and kinds", "[compat]") {
    Buffer<int> b(4, 3);
    halide_buffer_t *raw = b.raw_buffer();
    raw->set_flag(halide_buffer_flag_host_dirty, true);
    raw->set_device_dirty();
    CHECK(raw->host_dirty());
    CHECK(raw->get_flag(halide_buffer_flag_device_dirty));
    raw->set_flag(halide_buffer_flag_device_dirty, false);
    CHECK_FALSE(raw->device_dirty());
    CHECK(raw->get_flag(halide_buffer_flag_host_dirty));
    CHECK(raw->begin_offset() == 0);
    CHECK(raw->end_offset() == 12);
    CHECK(raw->device_sync() == 0);
    halide_dimension_t mirrored[] = {{0, 4, -1, 0}, {0, 3, 4, 0}};
    Buffer<int> turned(b.data() + 3, 2, mirrored);
    CHECK(turned.raw_buffer()->begin_offset() == -3);
    CHECK(turned.raw_buffer()->end_offset() == 9);

    CHECK(halide_error_code_symbol_not_found == -21);
    CHECK(halide_error_code_buffer_is_null == -38);
    CHECK(halide_error_code_storage_bound_too_small == -45);
    CHECK(halide_error_code_split_factor_not_positive == -46);
    CHECK(halide_error_code_cannot_profile_pipeline == -48);
    ImageParam image(UInt(8), 2);
    CHECK(Argument(image).kind == halide_argument_kind_input_buffer);
    CHECK(Argument(Param<int>()).kind == halide_argument_kind_input_scalar);
    CHECK(Argument("out", Argument::OutputBuffer, UInt(8), 2).kind ==
          halide_argument_kind_output_buffer);
}

TEST_CASE("types that wrap around, and plain ones", "[compat]") {
    for (Type t : {UInt(8), UInt(64), Bool(), Int(8), Int(16)})
        CHECK(t.can_overflow());
    for (Type t : {Int(32), Int(64), Float(32), BFloat(16), Handle()})
        CHECK_FALSE(t.can_overflow());
    CHECK(Int(16).can_overflow_int());
    CHECK_FALSE(UInt(16).can_overflow_int());
    CHECK(Handle().same_handle_type(Handle()));
    halide_type_t four(halide_type_float, 32, 4);
    CHECK(four.element_of() == halide_type_of<float>());
    CHECK(four.with_lanes(8).lanes == 8);
    CHECK(four.as_u32() == 0x00042002);
    CHECK(Param<int16_t>::has_static_type);
    CHECK(Param<int16_t>::static_type() == Int(16));
    CHECK_FALSE(Param<>::has_static_type);
}

TEST_CASE("Buffers with a dimension of any stride, and of types to be asked for", "[compat]") {
    Runtime::Buffer<int> b(4, 3);
    b.fill([](int x, int y) { return x + 10 * y; });
    Runtime::Buffer<int> column = b.sliced(0, 2);
    column.slice(0, 0);
    CHECK(column.dimensions() == 0);
    column.add_dimension_with_stride(4);
    Runtime::Buffer<int>::Dimension added = column.dim(0);
    CHECK(added.min() == 0);
    CHECK(added.extent() == 1);
    CHECK(added.stride() == 4);
    CHECK(column(0) == 2);
    CHECK(Buffer<int>::AnyDims == AnyDims);
    Buffer<> any = Buffer<int>(2, 2), none;
    Buffer<const int> fixed = any.as<int>();
    Buffer<int, 2>::assert_can_convert_from(any);
    Buffer<float>::assert_can_convert_from(none);
    CHECK_THROWS_AS(Buffer<float>::assert_can_convert_from(any), RuntimeError);
    CHECK_THROWS_AS((Buffer<int, 3>::assert_can_convert_from(any)), RuntimeError);
    CHECK_THROWS_AS(Buffer<int>::assert_can_convert_from(fixed), RuntimeError);
    Buffer<const void>::assert_can_convert_from(fixed);
}

TEST_CASE("keys, implicit Vars by type, names of loops, and devices", "[compat]") {
    Var x("x"), y("y");
    Expr sum = x + y, same = sum, other = x + y;
    std::map<Expr, int, ExprCompare> uses;
    for (const Expr &e : {sum, same, other})
        uses[e]++;
    CHECK(uses.size() == 2);
    CHECK(uses[same] == 2);
    Func f("f"), g("g");
    f(x, y) = x - y;
    ImplicitVar<> rest;
    ImplicitVar<1> second;
    CHECK(rest.to_var().same_as(_));
    CHECK(second.to_var().same_as(_1));
    g(rest) = f(rest) + second;
    Buffer<int> out = g.realize({3, 3});
    CHECK(out(2, 1) == 2);
    RDom r(0, 3, "r");
    VarOrRVar loop = y, reduced = r.x;
    CHECK(loop.name() == "y");
    CHECK(loop.name == "y");
    CHECK(reduced.name() == r.x.name());
    CHECK(reduced.is_rvar);
    CHECK(LoopLevel(f, y).var().name() == "y");
    int usable = 0;
    for (DeviceAPI api : all_device_apis)
        usable += get_host_target().supports_device_api(api);
    CHECK(usable == 2);
    CHECK(Target("x86-64-linux-avx2").get_features_bitset()[Target::AVX2]);
    size_t before = get_compiler_stack_size();
    CHECK(before == default_compiler_stack_size);
    set_compiler_stack_size(1 << 20);
    CHECK(get_compiler_stack_size() == 1 << 20);
    set_compiler_stack_size(before);
    CHECK(AutoSchedulerResults().featurization.empty());
}
