// Which parts of a program become functions of their own.

#include "codegen/parts.h"

#include <catch2/catch_test_macros.hpp>

#include "codegen/codegen.h"
#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

/// A loop of many additions to an array of so many floats.
ir::Stmt production(const std::string &name, int stores) {
    std::vector<ir::Stmt> step;
    for (int i = 0; i < stores; i++) {
        Expr sum = ir::make_binary(ir::Op::Add, load(Float(32), name, int32(i), 1),
                                   load(Float(32), "in", var32("r"), 1));
        step.push_back(ir::make_store(name, int32(i), sum));
    }
    return ir::make_produce(name, ir::make_for("r", int32(0), var32("n"), LoopKind::Serial,
                                               ir::make_block(std::move(step))));
}

size_t parts_with_array_of(int floats) {
    constexpr int stores = 60;
    ir::Stmt both = ir::make_block({production("sums", stores), production("out", stores)});
    ir::Stmt program =
        ir::make_allocate("sums", Float(32), {int32(floats)}, MemoryType::Auto, both);
    return codegen::parts_of(program).size();
}

}  // namespace

TEST_CASE("what sums in registers is no function of its own") {
    CHECK(parts_with_array_of(512) == 1);
    CHECK(parts_with_array_of(1 << 16) == 2);
}

TEST_CASE("deep nests of loops are cut into functions") {
    ir::Stmt nest;
    for (int depth = 0; depth < 60; depth++) {
        const std::string name = "f" + std::to_string(depth);
        ir::Stmt body = ir::make_block({nest, ir::make_store(name, int32(0), int32(1))});
        nest = ir::make_produce(name, ir::make_for("y" + std::to_string(depth), int32(0),
                                                   var32("n"), LoopKind::Serial, body));
    }
    CHECK(codegen::parts_of(nest, 100).size() == 3);  // of 16 loops each, and what is left
}

namespace {

/// The objects of a program of so many functions.
size_t objects_of(int functions, int threads) {
    std::vector<ir::Stmt> all;
    for (int i = 0; i < functions; i++)
        all.push_back(production("f" + std::to_string(i), 300));
    ir::Stmt body = ir::make_block(std::move(all));
    ir::Program program;
    program.name = "many";
    program.args = {{Kind::InputBuffer, "in", Float(32), 1}, {Kind::Scalar, "n", Int(32), 0}};
    for (int i = 0; i < functions; i++)
        program.args.push_back({Kind::OutputBuffer, "f" + std::to_string(i), Float(32), 1});
    program.body = body;
    codegen::Options options;
    options.threads = threads;
    return codegen::compile(program, get_host_target(), options).files.size();
}

}  // namespace

TEST_CASE("the functions of a large program are compiled on several threads") {
    CHECK(objects_of(1, 4) == 1);  // there is nothing to share
    CHECK(objects_of(4, 1) == 1);
    CHECK(objects_of(4, 2) == 2);
    CHECK(objects_of(4, 16) == 4);
}
