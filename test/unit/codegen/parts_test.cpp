// Which parts of a program become functions of their own.

#include "codegen/parts.h"

#include <cstring>
#include <utility>

#include <elf.h>

#include <catch2/catch_test_macros.hpp>

#include "codegen/codegen.h"
#include "unit/codegen/kernels.h"

using namespace Pipe;
using namespace Pipe::test;

namespace {

/// A loop of many additions to an array of so many floats.
ir::Stmt production(const std::string &name, int stores, LoopKind kind = LoopKind::Serial) {
    std::vector<ir::Stmt> step;
    for (int i = 0; i < stores; i++) {
        Expr sum = ir::make_binary(ir::Op::Add, load(Float(32), name, int32(i), 1),
                                   load(Float(32), "in", var32("r"), 1));
        step.push_back(ir::make_store(name, int32(i), sum));
    }
    return ir::make_produce(
        name, ir::make_for("r", int32(0), var32("n"), kind, ir::make_block(std::move(step))));
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

using Files = std::vector<std::vector<char>>;

/// The objects of a program of so many functions, which are the bodies of parallel loops.
Files objects_of(int functions, int threads) {
    std::vector<ir::Stmt> all;
    for (int i = 0; i < functions; i++)
        all.push_back(production("f" + std::to_string(i), 300, LoopKind::Parallel));
    ir::Program program;
    program.name = "many";
    program.args = {{Kind::InputBuffer, "in", Float(32), 1}, {Kind::Scalar, "n", Int(32), 0}};
    for (int i = 0; i < functions; i++)
        program.args.push_back({Kind::OutputBuffer, "f" + std::to_string(i), Float(32), 1});
    program.body = ir::make_block(std::move(all));
    codegen::Options options;
    options.threads = threads;
    return codegen::compile(program, Target("x86-64-linux-avx2-fma"), options).files;
}

/// The relocations of an object file, as (type, whether the symbol is of another file).
std::vector<std::pair<uint64_t, bool>> relocations_of(const std::vector<char> &file) {
    std::vector<std::pair<uint64_t, bool>> result;
    auto at = [&]<typename T>(uint64_t offset, T value) {
        std::memcpy(&value, file.data() + offset, sizeof value);
        return value;
    };
    const auto header = at(0, Elf64_Ehdr());
    auto section = [&](size_t i) {
        return at(header.e_shoff + i * sizeof(Elf64_Shdr), Elf64_Shdr());
    };
    for (size_t i = 0; i < header.e_shnum; i++) {
        const Elf64_Shdr list = section(i);
        if (list.sh_type != SHT_RELA)
            continue;
        const Elf64_Shdr symbols = section(list.sh_link);
        for (uint64_t offset = 0; offset < list.sh_size; offset += sizeof(Elf64_Rela)) {
            const uint64_t info = at(list.sh_offset + offset, Elf64_Rela()).r_info;
            const auto symbol =
                at(symbols.sh_offset + ELF64_R_SYM(info) * sizeof(Elf64_Sym), Elf64_Sym());
            result.emplace_back(ELF64_R_TYPE(info), symbol.st_shndx == SHN_UNDEF);
        }
    }
    return result;
}

}  // namespace

TEST_CASE("the functions of a large program are compiled on several threads") {
    CHECK(objects_of(1, 4).size() == 1);  // there is nothing to share
    CHECK(objects_of(4, 1).size() == 1);
    CHECK(objects_of(4, 2).size() == 2);
    CHECK(objects_of(4, 16).size() == 4);
}

// They are loaded one by one: more than 2 GiB may lie between them, which only calls and what is found in tables
// reach.
TEST_CASE("objects of one program may lie far apart") {
    size_t to_others = 0;
    for (const std::vector<char> &file : objects_of(4, 4))
        for (const auto &[type, is_of_other_file] : relocations_of(file)) {
            to_others += is_of_other_file;
            CHECK((!is_of_other_file || type == R_X86_64_PLT32 || type == R_X86_64_GOTPCREL ||
                   type == R_X86_64_GOTPCRELX || type == R_X86_64_REX_GOTPCRELX));
        }
    CHECK(to_others >= 3);
}
