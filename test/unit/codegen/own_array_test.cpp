// Masked accesses to small arrays of the function, such as sums that LLVM keeps in registers.

#include "support/parse_ir.h"
#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

/// With an input "in", an output "out", both of floats, and a number "n".
ir::Program program(const std::string &body) {
    ir::Program p;
    p.args = {{Kind::InputBuffer, "in", Float(32), 1},
              {Kind::OutputBuffer, "out", Float(32), 1},
              {Kind::Scalar, "n", Int(32), 0}};
    p.body = testing::parse_stmt(body, {{"in", Float(32)}, {"out", Float(32)}, {"n", Int(32)}});
    return p;
}

void run(const jit::Kernel &kernel, std::vector<float> &in, std::vector<float> &out, int n) {
    Data in_data(in), out_data(out);
    void *args[] = {&in_data.argument, &out_data.argument, &n};
    std::string error;
    REQUIRE(kernel.run({}, args, &error) == 0);
}

}  // namespace

TEST_CASE("masked stores to an array of the function are whole stores, where all lanes are in it") {
    // Two vectors of an array that holds `size` elements; all lanes are set, then the first n of each once more.
    auto program_of = [](int size, int last) {
        const std::string at = "[ramp(i * " + std::to_string(last) + ", 1, 8)]";
        const std::string mask = "ramp(0, 1, 8) < broadcast(n, 8)";
        return program("allocate own[float32 * " + std::to_string(size) + "] {\n" +
                       "for j in [0, " + std::to_string(size) + ") {\nown[j] = float32(1)\n}\n" +
                       "for i in [0, 2) {\nown" + at + " = in" + at + " if " + mask + "\n}\n" +
                       "for j in [0, " + std::to_string(size) + ") {\nout[j] = own[j]\n}\n}\n");
    };
    for (const Target &target : runnable_targets())
        for (const auto &[size, last] : {std::pair{16, 8}, {20, 12}, {14, 8}, {10, 8}}) {
            const jit::Kernel kernel = jit::compile(program_of(size, last), target);
            INFO(size << " elements, the last vector from " << last << ", " << target.to_string());
            const bool is_masked = kernel.llvm_ir().find("masked.store") != std::string::npos;
            CHECK(is_masked == (last + 8 > size));
            std::vector<float> in = samples<float>(static_cast<size_t>(last) + 8, 3);
            std::vector<float> out(static_cast<size_t>(size));
            for (int n = 0; n <= std::min(8, size - last); n++) {
                run(kernel, in, out, n);
                for (int j = 0; j < size; j++) {
                    const bool set = j < n || (j >= last && j < last + n);
                    CHECK(out[size_t(j)] == (set ? in[size_t(j)] : 1));
                }
            }
        }
}

TEST_CASE("masked stores to an array of the function stay masked where they go backwards beyond "
          "its begin") {
    const ir::Program p = program(R"(allocate own[float32 * 16] {
  own[ramp(0, 1, 16)] = broadcast(1.0f, 16)
  own[ramp(3, -1, 8)] = in[ramp(0, 1, 8)] if ramp(0, 1, 8) < broadcast(n, 8)
  for j in [0, 16) {
    out[j] = own[j]
  }
}
)");
    for (const Target &target : runnable_targets()) {
        const jit::Kernel kernel = jit::compile(p, target);
        INFO(target.to_string());
        CHECK(kernel.llvm_ir().find("masked.store") != std::string::npos);
        std::vector<float> in = samples<float>(8, 3), out(16);
        for (int n = 0; n <= 4; n++) {
            run(kernel, in, out, n);
            for (int j = 0; j < 16; j++)
                CHECK(out[size_t(j)] == (j <= 3 && j > 3 - n ? in[size_t(3 - j)] : 1));
        }
    }
}

TEST_CASE("sums in several vectors, the last ones masked, stay in vectors") {
    // GVN took the parts of the sums that fit into a register from integers as wide.
    const ir::Program p = program(R"(allocate sums[float32 * 64] {
  sums[ramp(0, 1, 64)] = broadcast(0.0f, 64)
  for i in [0, n / 64) {
    sums[ramp(0, 1, 64)] = sums[ramp(0, 1, 64)] + in[ramp(i * 64, 1, 64)]
  }
  for i in [n / 64, n / 64 + 1) {
    sums[ramp(0, 1, 64)] = sums[ramp(0, 1, 64) if ramp(i * 64, 1, 64) < broadcast(n, 64)] + in[ramp(i * 64, 1, 64) if ramp(i * 64, 1, 64) < broadcast(n, 64)] if ramp(i * 64, 1, 64) < broadcast(n, 64)
  }
  out[0] = reduce<+>(sums[ramp(0, 1, 64)], 1)
}
)");
    for (const Target &target : runnable_targets()) {
        const jit::Kernel kernel = jit::compile(p, target);
        INFO(target.to_string() << "\n" << kernel.llvm_ir());
        for (const char *integers : {"x i128>", "x i256>", "x i512>"})
            CHECK(kernel.llvm_ir().find(integers) == std::string::npos);
        for (int n : {1, 63, 64, 200}) {
            std::vector<float> in(256, 1), out(1);
            run(kernel, in, out, n);
            CHECK(out[0] == float(n));
        }
    }
}
