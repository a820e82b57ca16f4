// Loads and stores of every form. The buffers lie against a page that may not be touched, so that a
// read or write beyond the elements that are asked for is a crash.

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

#include "codegen/codegen.h"
#include "support/parse_ir.h"
#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

/// `count` elements between two forbidden pages: against the one behind, or the one before.
template <typename T> class Guarded {
  public:
    Guarded(size_t count, bool at_end) : count_(count) {
        size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
        size_t bytes = (count * sizeof(T) + page - 1) / page * page;
        size_ = bytes + 2 * page;
        base_ = static_cast<char *>(
            mmap(nullptr, size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(base_ != MAP_FAILED);
        REQUIRE(mprotect(base_ + page, bytes, PROT_READ | PROT_WRITE) == 0);
        data_ =
            reinterpret_cast<T *>(at_end ? base_ + page + bytes - count * sizeof(T) : base_ + page);
        argument.host = data_;
        argument.dim[0] = {0, static_cast<int64_t>(count), 1};
    }
    ~Guarded() { munmap(base_, size_); }
    Guarded(const Guarded &) = delete;
    T &operator[](size_t i) { return data_[i]; }
    T *begin() { return data_; }
    T *end() { return data_ + count_; }

    runtime::BufferArgument argument;

  private:
    size_t count_, size_;
    char *base_;
    T *data_;
};

ir::Program copy_program(Type type, Expr from_index, Expr to_index, Expr predicate = Expr(),
                         bool predicate_load = false) {
    ir::Program p;
    p.name = "copy";
    p.args = {{Kind::InputBuffer, "in", type.element_of(), 1},
              {Kind::OutputBuffer, "out", type.element_of(), 1},
              {Kind::Scalar, "n", Int(32), 0}};
    Expr value = ir::make_load(type, "in", from_index, predicate_load ? predicate : Expr());
    p.body = ir::make_store("out", to_index, value, predicate);
    return p;
}

template <typename T> void check_strided_load(int lanes, int stride, const Target &target) {
    size_t span = static_cast<size_t>(std::abs(stride) * (lanes - 1) + 1);
    size_t first = stride < 0 ? span - 1 : 0;
    auto values = samples<T>(span, 5);
    std::vector<T> out(static_cast<size_t>(lanes));
    Data out_data(out);
    int n = static_cast<int>(first);
    jit::Kernel kernel =
        jit::compile(copy_program(type_of<T>().with_lanes(lanes), ramp(var32("n"), stride, lanes),
                                  ramp(int32(0), 1, lanes)),
                     target);
    for (bool at_end : {false, true}) {
        Guarded<T> in(span, at_end);
        std::copy(values.begin(), values.end(), in.begin());
        std::fill(out.begin(), out.end(), T(0));
        void *args[] = {&in.argument, &out_data.argument, &n};
        REQUIRE(kernel.run({}, args, nullptr) == 0);
        for (int i = 0; i < lanes; i++) {
            INFO("lane " << i << " of " << lanes << ", stride " << stride << ", "
                         << target.to_string());
            REQUIRE(+out[static_cast<size_t>(i)] ==
                    +values[first + static_cast<size_t>(i * stride)]);
        }
    }
}

template <typename T> void check_strided_store(int lanes, int stride) {
    size_t span = static_cast<size_t>(std::abs(stride) * (lanes - 1) + 1);
    size_t first = stride < 0 ? span - 1 : 0;
    Guarded<T> out(span, true);
    auto in = samples<T>(static_cast<size_t>(lanes), 6);
    Data in_data(in);
    int n = static_cast<int>(first);
    auto program = copy_program(type_of<T>().with_lanes(lanes), ramp(int32(0), 1, lanes),
                                ramp(var32("n"), stride, lanes));
    std::fill(out.begin(), out.end(), T(1));
    REQUIRE(run(program, {&in_data.argument, &out.argument, &n}) == 0);
    std::vector<T> expected(span, T(1));
    for (int i = 0; i < lanes; i++) {
        expected[first + static_cast<size_t>(i * stride)] = in[static_cast<size_t>(i)];
    }
    INFO(lanes << " lanes, stride " << stride);
    REQUIRE(std::equal(expected.begin(), expected.end(), out.begin()));
}

/// The first n lanes only: nothing of the others may be read or written. Reads every `stride`-th element.
template <typename T> void check_masked(int lanes, const Target &target, int stride = 1) {
    Type type = type_of<T>().with_lanes(lanes);
    Expr lane = ramp(int32(0), 1, lanes);
    Expr mask = ir::make_binary(ir::Op::LT, lane, ir::make_broadcast(var32("n"), lanes));
    auto program =
        copy_program(type, ramp(int32(0), stride, lanes), lane, mask, /*predicate_load=*/true);
    jit::Kernel kernel = jit::compile(program, target);
    auto values = samples<T>(static_cast<size_t>(lanes), 7);
    for (int n = 0; n <= lanes; n++) {
        auto size = static_cast<size_t>(std::max(1, n)), each = static_cast<size_t>(stride);
        Guarded<T> in((size - 1) * each + 1, true), out(size, true);
        for (size_t i = 0; i < size; i++)
            in[i * each] = values[i];
        std::fill(out.begin(), out.end(), T(1));
        void *args[] = {&in.argument, &out.argument, &n};
        std::string error;
        REQUIRE(kernel.run({}, args, &error) == 0);
        INFO(n << " of " << lanes << " lanes, " << to_string(type) << " " << target.to_string());
        if (n == 0)
            REQUIRE(+out[0] == 1);
        else
            for (size_t i = 0; i < size; i++)
                REQUIRE(+out[i] == +in[i * each]);
    }
}

/// All lanes, or none of them: those that are not loaded are 0.
template <typename T> void check_condition(int lanes, int stride, const Target &target) {
    const Type type = type_of<T>().with_lanes(lanes);
    const int each = std::abs(stride), all = (lanes - 1) * each + 1;
    const Expr on = ir::make_binary(ir::Op::LT, int32(0), var32("n")),
               lane = ramp(int32(0), 1, lanes),
               from = ramp(int32(stride < 0 ? all - 1 : 0), stride, lanes);
    ir::Program p = copy_program(type, lane, lane);
    p.body =
        ir::make_store("out", lane, ir::make_load(type, "in", from, ir::make_broadcast(on, lanes)));
    jit::Kernel kernel = jit::compile(p, target);
    const auto values = samples<T>(static_cast<size_t>(all), 7);
    for (int n : {0, 1}) {
        const size_t size = n > 0 ? values.size() : 1;
        Guarded<T> in(size, true);
        std::copy_n(values.begin(), size, in.begin());
        std::vector<T> out(static_cast<size_t>(lanes), T(1));
        Data result(out);
        void *args[] = {&in.argument, &result.argument, &n};
        INFO(n << ", " << lanes << " lanes, stride " << stride << ", " << to_string(type) << " "
               << target.to_string());
        REQUIRE(kernel.run({}, args, nullptr) == 0);
        for (int i = 0; i < lanes; i++) {
            const int element = stride < 0 ? all - 1 - i * each : i * each;
            REQUIRE(+out[static_cast<size_t>(i)] ==
                    (n > 0 ? +values[static_cast<size_t>(element)] : 0));
        }
    }
}

/// Any mask, held in a buffer of bools.
template <typename T> void check_any_mask(int lanes) {
    Type type = type_of<T>().with_lanes(lanes);
    Expr lane = ramp(int32(0), 1, lanes);
    auto program = copy_program(type, lane, lane, ir::make_load(Bool(lanes), "mask", lane), true);
    program.args.push_back({Kind::InputBuffer, "mask", Bool(), 1});
    jit::Kernel kernel = jit::compile(program, get_host_target());
    auto in = samples<T>(static_cast<size_t>(lanes), 8);
    std::vector<T> out(in.size());
    std::vector<uint8_t> mask(in.size());
    Data in_data(in), out_data(out), mask_data(mask);
    int n = 0;
    void *args[] = {&in_data.argument, &out_data.argument, &n, &mask_data.argument};
    for (unsigned bits = 0; bits < 1u << lanes; bits++) {
        std::fill(out.begin(), out.end(), T(1));
        for (size_t i = 0; i < mask.size(); i++)
            mask[i] = bits >> i & 1;
        std::string error;
        REQUIRE(kernel.run({}, args, &error) == 0);
        for (size_t i = 0; i < mask.size(); i++) {
            if (out[i] != (mask[i] ? in[i] : T(1)))
                FAIL("mask " << bits << ", lane " << i);
        }
    }
}

/// out += in, or out += 1, where lane < known && n == 0 && wanted[lane] != 0: LLVM knows which lanes are left
/// out in any case, which may be all that one register holds. (It may find that out late: a select is a
/// branch where it compiles quickly.)
template <typename T>
void check_known_mask(int lanes, int known, bool load_summand, const Target &target) {
    Type type = type_of<T>().with_lanes(lanes);
    Expr lane = ramp(int32(0), 1, lanes);
    Expr bound = ir::make_broadcast(int32(known), lanes);
    Expr first = ir::make_binary(ir::Op::LT, lane, bound);
    Expr wanted = ir::make_load(Int(32, lanes), "wanted", lane, first);
    Expr none = ir::make_broadcast(int32(0), lanes);
    Expr now = ir::make_binary(ir::Op::EQ, var32("n"), int32(0));
    Expr these = ir::make_select(now, ir::make_binary(ir::Op::NE, wanted, none),
                                 ir::make_broadcast(ir::make_const(Bool(), 0), lanes));
    Expr mask = ir::make_binary(ir::Op::And, first, these);
    ir::Program p = copy_program(type, lane, lane, mask);
    p.args.push_back({Kind::InputBuffer, "wanted", Int(32), 1});
    Expr summand = load_summand ? ir::make_load(type, "in", lane, mask) : ir::make_const(type, 1);
    Expr sum = ir::make_binary(ir::Op::Add, ir::make_load(type, "out", lane, mask), summand);
    p.body = ir::make_store("out", lane, sum, mask);
    auto count = static_cast<size_t>(known);
    Guarded<T> in(count, true), out(count, true);
    Guarded<int32_t> flags(count, true);
    for (size_t i = 0; i < count; i++) {
        in[i] = load_summand ? T(i) : T(1);
        out[i] = T(1);
        flags[i] = i % 3 != 1;
    }
    int n = 0;
    INFO(known << " of " << lanes << " lanes, " << to_string(type) << " " << target.to_string());
    REQUIRE(run(p, {&in.argument, &out.argument, &n, &flags.argument}, nullptr, target) == 0);
    for (size_t i = 0; i < count; i++)
        REQUIRE(+out[i] == (i % 3 != 1 ? T(1) + in[i] : +T(1)));
}

template <typename T> void check_gather(int lanes, const Target &target) {
    Type type = type_of<T>().with_lanes(lanes);
    ir::Program p;
    p.name = "gather";
    p.args = {{Kind::InputBuffer, "in", type.element_of(), 1},
              {Kind::InputBuffer, "index", Int(32), 1},
              {Kind::OutputBuffer, "out", type.element_of(), 1},
              {Kind::OutputBuffer, "scattered", type.element_of(), 1}};
    Expr index = load(Int(32), "index", int32(0), lanes);
    Expr lane = ramp(int32(0), 1, lanes);
    p.body =
        ir::make_block({ir::make_store("out", lane, ir::make_load(type, "in", index)),
                        ir::make_store("scattered", index, load(type, "in", int32(0), lanes))});
    Guarded<T> in(100, true);
    auto values = samples<T>(100, 9);
    std::copy(values.begin(), values.end(), in.begin());
    std::vector<int> where;
    for (int i = 0; i < lanes; i++)
        where.push_back((i * 37 + 99) % 100);
    std::vector<T> out(where.size()), scattered(100, T(0));
    Data where_data(where), out_data(out), scattered_data(scattered);
    REQUIRE(run(p,
                {&in.argument, &where_data.argument, &out_data.argument, &scattered_data.argument},
                nullptr, target) == 0);
    for (size_t i = 0; i < where.size(); i++) {
        REQUIRE(+out[i] == +values[static_cast<size_t>(where[i])]);
        REQUIRE(+scattered[static_cast<size_t>(where[i])] == +values[i]);
    }
}

}  // namespace

TEST_CASE("loads of every stride read nothing that is not asked for") {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 3, 4, 8, 16, 32}) {
            if (target != get_host_target() && lanes != 8)
                continue;
            for (int stride : {-3, -2, -1, 0, 1, 2, 3, 4, 5}) {
                check_strided_load<uint8_t>(lanes, stride, target);
                check_strided_load<float>(lanes, stride, target);
                if (lanes == 8)
                    check_strided_load<uint16_t>(lanes, stride, target);
                if (lanes == 8)
                    check_strided_load<double>(lanes, stride, target);
            }
        }
    }
}

TEST_CASE("stores of every stride write nothing that is not asked for") {
    for (int lanes : {2, 3, 8, 16}) {
        for (int stride : {-2, -1, 1, 2, 3, 5}) {
            check_strided_store<uint8_t>(lanes, stride);
            check_strided_store<float>(lanes, stride);
            check_strided_store<int64_t>(lanes, stride);
        }
    }
}

TEST_CASE("masked loads and stores touch the chosen lanes only") {
    for (const Target &target : runnable_targets()) {
        for (int stride : {7, 16, 33}) {  // of lanes that are far apart
            check_masked<uint8_t>(32, target, stride);
            check_masked<int16_t>(24, target, stride);
        }
        for (int lanes : {3, 8, 16}) {
            check_masked<uint8_t>(lanes, target);
            check_masked<int16_t>(lanes, target);
            check_masked<float>(lanes, target);
            check_masked<double>(lanes, target);
            for (int stride : {0, 2, 3, 4, 5}) {
                check_masked<uint8_t>(lanes, target, stride);
                check_masked<int16_t>(lanes, target, stride);
                check_masked<float>(lanes, target, stride);
            }
        }
    }
    check_any_mask<float>(8);
    check_any_mask<uint16_t>(8);
    check_any_mask<uint8_t>(4);
}

TEST_CASE("loads of all lanes or none") {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {3, 8, 16, 40}) {
            for (int stride : {-1, 0, 1, 2, 3, 5}) {
                check_condition<uint8_t>(lanes, stride, target);
                check_condition<uint16_t>(lanes, stride, target);
                check_condition<float>(lanes, stride, target);
            }
        }
    }
}

TEST_CASE("loads of all lanes or none are whole vectors, also where there are no masks") {
    const Type type = UInt(16, 16);
    const Expr lane = ramp(int32(0), 1, 16);
    const Expr on = ir::make_broadcast(ir::make_binary(ir::Op::LT, int32(0), var32("n")), 16);
    ir::Program p = copy_program(type, lane, lane);
    p.body = ir::make_store("out", lane, ir::make_load(type, "in", lane, on));
    for (const Target &target : runnable_targets()) {
        const std::string assembly = jit::compile(p, target).assembly();
        INFO(target.to_string() << "\n" << assembly);
        CHECK(assembly.find("pinsrw") == std::string::npos);  // of one lane
    }
}

/// The assembly of a masked load of 32 bytes.
std::string masked_load(const Expr &from, const Target &target) {
    const Type type = UInt(8, 32);
    const Expr lane = ramp(int32(0), 1, 32);
    const Expr mask = ir::make_binary(ir::Op::LT, lane, ir::make_broadcast(var32("n"), 32));
    return codegen::assembly(copy_program(type, from, lane, mask, true), target);
}

TEST_CASE("masked bytes are loaded one by one neither far apart nor all from one place") {
    const Target skylake("x86-64-linux-avx512_skylake");
    for (const Expr &from : {ramp(int32(0), 16, 32), ir::make_broadcast(int32(0), 32)}) {
        const std::string assembly = masked_load(from, skylake);
        INFO(assembly);
        CHECK(assembly.find("pinsrb") == std::string::npos);
    }
}

TEST_CASE("lanes that are left out in any case are not touched") {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {4, 8, 9, 16, 32}) {
            for (int known : {1, 3, 5, 9, 16, 31}) {
                if (known > lanes)
                    continue;
                for (const Target &how : {target, target.with_feature(Target::QuickCompile)}) {
                    for (bool load_summand : {true, false}) {
                        check_known_mask<float>(lanes, known, load_summand, how);
                        check_known_mask<double>(lanes, known, load_summand, how);
                        check_known_mask<int16_t>(lanes, known, load_summand, how);
                    }
                }
            }
        }
    }
}

TEST_CASE("gathers and scatters") {
    for (const Target &target : runnable_targets()) {
        for (int lanes : {2, 3, 8, 16}) {
            check_gather<uint8_t>(lanes, target);
            check_gather<int16_t>(lanes, target);
            check_gather<float>(lanes, target);
            check_gather<double>(lanes, target);
        }
    }
}

namespace {

/// out[lane] = in[index], where `index` is made of so many lanes of "index" and of the scalar n = 50.
template <typename Index>
ir::Program gather_program(const std::function<Expr(const Expr &lanes, const Expr &n)> &index,
                           int lanes) {
    ir::Program p;
    p.name = "gather";
    p.args = {{Kind::InputBuffer, "in", Float(32), 1},
              {Kind::InputBuffer, "index", type_of<Index>(), 1},
              {Kind::OutputBuffer, "out", Float(32), 1},
              {Kind::Scalar, "n", Int(32), 0}};
    const Expr at = index(load(type_of<Index>(), "index", int32(0), lanes), var32("n"));
    p.body =
        ir::make_store("out", ramp(int32(0), 1, lanes), ir::make_load(Float(32, lanes), "in", at));
    return p;
}

template <typename Index>
void check_index(const std::function<Expr(const Expr &lanes, const Expr &n)> &index, int first,
                 int step) {
    for (int lanes : {2, 8, 16}) {
        const ir::Program p = gather_program<Index>(index, lanes);
        Guarded<float> in(400, true);
        for (size_t i = 0; i < 400; i++)
            in[i] = float(i) + 0.5f;
        std::vector<Index> where;
        for (int i = 0; i < lanes; i++)
            where.push_back(static_cast<Index>(first + i * step));
        std::vector<float> out(where.size());
        Data where_data(where), out_data(out);
        int n = 50;
        for (const Target &target : runnable_targets()) {
            INFO(target.to_string() << ", " << lanes << " lanes");
            REQUIRE(run(p, {&in.argument, &where_data.argument, &out_data.argument, &n}, nullptr,
                        target) == 0);
            for (size_t i = 0; i < where.size(); i++)
                REQUIRE(out[i] == float(int(where[i]) + 50) + 0.5f);
        }
    }
}

Expr wide(const Expr &e) {
    return ir::make_cast(Int(64).with_lanes(e.type().lanes()), e);
}
Expr all_lanes(const Expr &n, const Expr &like) {
    return ir::make_broadcast(n, like.type().lanes());
}

}  // namespace

TEST_CASE("gathers whose lanes have a common part") {
    auto sum = [](const Expr &a, const Expr &b) { return ir::make_binary(ir::Op::Add, a, b); };
    auto apart = [&](const Expr &i, const Expr &n) { return sum(wide(i), all_lanes(wide(n), i)); };
    auto before = [&](const Expr &i, const Expr &n) { return sum(all_lanes(wide(n), i), wide(i)); };
    auto narrow = [&](const Expr &i, const Expr &n) {
        const Expr i32 = ir::make_cast(Int(32).with_lanes(i.type().lanes()), i);
        return wide(sum(i32, all_lanes(n, i)));
    };
    auto difference = [&](const Expr &i, const Expr &n) {
        const Expr negative = ir::make_binary(ir::Op::Sub, int32(0), n);
        return ir::make_binary(ir::Op::Sub, wide(i), all_lanes(wide(negative), i));
    };
    for (const auto &index : std::vector<std::function<Expr(const Expr &, const Expr &)>>{
             apart, before, narrow, difference}) {
        check_index<int32_t>(index, -50, 23);
        check_index<uint8_t>(index, 255, -17);
        check_index<int8_t>(index, -50, 11);
        check_index<uint16_t>(index, 300, -20);
        check_index<int64_t>(index, -50, 23);
    }
}

TEST_CASE("where no instruction gathers, indices are taken from vectors as narrow as they are") {
    const Target target("x86-64-linux-avx2");
    const auto index = [](const Expr &i, const Expr &n) {
        return ir::make_binary(ir::Op::Add, wide(i), all_lanes(wide(n), i));
    };
    const std::string of_ints = jit::compile(gather_program<int32_t>(index, 8), target).llvm_ir();
    INFO(of_ints);
    CHECK(of_ints.find("call <8 x float> @llvm.masked.gather") == std::string::npos);
    CHECK(of_ints.find("<8 x i64>") == std::string::npos);
    // Bytes are loaded one by one.
    const std::string of_bytes = jit::compile(gather_program<uint8_t>(index, 8), target).llvm_ir();
    INFO(of_bytes);
    CHECK(of_bytes.find("<8 x i8>") == std::string::npos);
    CHECK(of_bytes.find("zext i8") != std::string::npos);
}

namespace {

/// k planes put together, and k channels taken apart from a load of `span` elements.
template <typename T> void check_channels(int lanes, int k, const Target &target) {
    const Type type = type_of<T>().with_lanes(lanes);
    const size_t all = static_cast<size_t>(lanes * k);
    auto values = samples<T>(all, 5);
    for (int read = 1; read <= k; read++) {  // channels
        const size_t span = all - static_cast<size_t>(k - read);
        Expr whole = ir::make_load(type.with_lanes(static_cast<int>(span)), "in",
                                   ramp(int32(0), 1, static_cast<int>(span)));
        ir::Program p = copy_program(type, ramp(int32(0), 1, lanes), ramp(int32(0), 1, lanes));
        std::vector<ir::Stmt> stores;
        std::vector<Expr> channels;
        for (int c = 0; c < read; c++) {
            channels.push_back(ir::make_slice(whole, c, k, lanes));
            stores.push_back(
                ir::make_store("out", ramp(int32(c * lanes), 1, lanes), channels.back()));
        }
        Expr together = ir::make_interleave(channels);
        for (int c = 0; c < read; c++)
            stores.push_back(ir::make_store("out", ramp(int32((read + c) * lanes), 1, lanes),
                                            ir::make_slice(together, c * lanes, 1, lanes)));
        p.body = ir::make_block(stores);
        Guarded<T> in(span, true), out(static_cast<size_t>(2 * read * lanes), true);
        std::copy(values.begin(), values.begin() + static_cast<long>(span), in.begin());
        int n = 0;
        void *args[] = {&in.argument, &out.argument, &n};
        REQUIRE(jit::compile(p, target).run({}, args, nullptr) == 0);
        for (int i = 0; i < lanes; i++)
            for (int c = 0; c < read; c++) {
                INFO("lane " << i << " of " << lanes << ", channel " << c << " of " << k << ", "
                             << read << " read, " << target.to_string());
                const T expected = values[static_cast<size_t>(i * k + c)];
                REQUIRE(+out[static_cast<size_t>(c * lanes + i)] == +expected);
                REQUIRE(+out[static_cast<size_t>(read * lanes + i * read + c)] == +expected);
            }
    }
}

}  // namespace

TEST_CASE(
    "channels are put together and taken apart, from memory that ends with the last element") {
    for (const Target &target : runnable_targets())
        for (int k : {2, 3, 4, 6, 7})
            for (int lanes : {2, 5, 8, 16, 32}) {
                check_channels<uint8_t>(lanes, k, target);
                if (k > 4)
                    continue;
                check_channels<int16_t>(lanes, k, target);
                check_channels<float>(lanes, k, target);
                check_channels<double>(lanes, k, target);
            }
}

TEST_CASE("a predicate on one element is a branch") {
    ir::Program p = copy_program(Int(32), var32("n"), int32(0),
                                 ir::make_binary(ir::Op::GE, var32("n"), int32(0)), true);
    std::vector<int32_t> in{5}, out{1};
    Data in_data(in), out_data(out);
    int n = -1;
    REQUIRE(run(p, {&in_data.argument, &out_data.argument, &n}) == 0);
    REQUIRE(out[0] == 1);
    n = 0;
    REQUIRE(run(p, {&in_data.argument, &out_data.argument, &n}) == 0);
    REQUIRE(out[0] == 5);
}

TEST_CASE("an index seen through sums, products, casts and lets is a ramp") {
    // in[(ramp(0, 1) + 3) * 2 - 6 + n], through a let, with 64 bits
    Expr r = ir::make_binary(ir::Op::Add, ramp(int32(0), 1, 8), ir::make_broadcast(int32(3), 8));
    r = ir::make_binary(ir::Op::Mul, r, ir::make_broadcast(int32(2), 8));
    r = ir::make_cast(Int(64, 8), r);
    Expr t = ir::make_variable(Int(64, 8), "t");
    Expr index = ir::make_binary(ir::Op::Sub, t, ir::make_broadcast(ir::make_int(Int(64), 6), 8));
    index = ir::make_binary(ir::Op::Add, index,
                            ir::make_broadcast(ir::make_cast(Int(64), var32("n")), 8));
    Type type = Float(32, 8);
    ir::Program p = copy_program(type, index, ramp(int32(0), 1, 8));
    p.body = ir::make_let("t", r, p.body);
    std::vector<float> in = samples<float>(20, 4), out(8);
    Data in_data(in), out_data(out);
    int n = 1;
    REQUIRE(run(p, {&in_data.argument, &out_data.argument, &n}) == 0);
    for (size_t i = 0; i < 8; i++)
        REQUIRE(out[i] == in[2 * i + 1]);
    REQUIRE(jit::compile(p, get_host_target()).llvm_ir().find("gather") == std::string::npos);
}
