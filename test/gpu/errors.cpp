// What a kernel cannot be: one misuse each, and what its message says.
#include <pipe/pipe.h>

#include "test/support/require_message.h"

using namespace Pipe;

namespace {

Var x("x"), y("y"), z("z"), c("c"), d("d"), xo("xo"), yo("yo"), xi("xi"), yi("yi");
const Target emulator("host-cuda_emulator");

/// f(x, y) = x + y; g(x, y) = f(x, y) + f(x + 1, y), in tiles of 8 x 4.
struct TwoStages {
    Func f{"f"}, g{"g"};
    TwoStages() {
        f(x, y) = x + y;
        g(x, y) = f(x, y) + f(x + 1, y);
    }
    void tile() { g.gpu_tile(x, y, xo, yo, xi, yi, 8, 4); }
    void refused(const std::vector<std::string> &parts) {
        require_message<CompileError>([&] { g.compile_jit(emulator); }, parts);
    }
};

extern "C" int gpu_errors_fill(RawBuffer *) {
    return 0;
}

}  // namespace

TEST_CASE_METHOD(TwoStages, "a loop of the CPU in a kernel", "[errors]") {
    tile();
    f.compute_at(g, xo).parallel(y);
    refused({"kernel", "g", "f", "y of f", "parallel on the CPU", "gpu_threads"});
}

TEST_CASE_METHOD(TwoStages, "a texture", "[errors]") {
    tile();
    f.compute_root().store_in(MemoryType::GPUTexture);
    refused({"f.store_in(MemoryType::GPUTexture)", "no such memory", "Heap", "GPUShared"});
}

TEST_CASE("an extern stage in a kernel", "[errors]") {
    Func e("by_c"), h("h");
    e.define_extern("gpu_errors_fill", {}, Int(32), {x, y});
    h(x, y) = e(x, y);
    h.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    e.compute_at(h, xo);
    require_message<CompileError>([&] { h.compile_jit(emulator); },
                                  {"C function", "by_c", "kernel", "h", "compute_root"});
}

TEST_CASE_METHOD(TwoStages, "a task of its own in a kernel", "[errors]") {
    tile();
    f.compute_at(g, xo).async();
    refused({"kernel", "g", "async", "f", "async() out"});
}

TEST_CASE_METHOD(TwoStages, "memoize in a kernel", "[errors]") {
    tile();
    f.compute_at(g, xo).memoize();
    refused({"kernel", "g", "memoize", "f", "compute_root"});
}

TEST_CASE("4 dimensions of blocks", "[errors]") {
    Func f("f");
    f(x, y, z, c) = x + y + z + c;
    f.gpu_blocks(x, y, z).gpu_blocks(c);
    require_message<CompileError>([&] { f.compile_jit(emulator); },
                                  {"f", "at most 3 loops over blocks", "4", "fuse()"});
}

TEST_CASE("4 dimensions of threads", "[errors]") {
    Func f("f");
    f(x, y, z, c, d) = x + y + z + c + d;
    f.bound(x, 0, 2).bound(y, 0, 2).bound(z, 0, 2).bound(c, 0, 2);
    f.gpu_blocks(d).gpu_threads(x, y, z).gpu_threads(c);
    require_message<CompileError>(
        [&] { f.compile_jit(emulator); },
        {"f", "c of f", "fourth of the loops over threads", "at most 3", "fuse()"});
}

TEST_CASE_METHOD(TwoStages, "2048 threads", "[errors]") {
    g.gpu_tile(x, y, xo, yo, xi, yi, 64, 32);
    refused({"kernel", "g", "2048", "threads per block", "1024", "tiles smaller"});
}

TEST_CASE("65 threads in the third dimension", "[errors]") {
    Func f("f");
    f(x, y, z, c) = x + y + z + c;
    f.bound(x, 0, 2).bound(y, 0, 2).bound(z, 0, 65).gpu_blocks(c).gpu_threads(x, y, z);
    require_message<CompileError>(
        [&] { f.compile_jit(emulator); },
        {"f", "65", "threads per block in dimension z", "64", "tiles smaller"});
}

TEST_CASE_METHOD(TwoStages, "too much shared memory", "[errors]") {
    g.split(x, xo, xi, 60000).gpu_blocks(xo, y);
    f.compute_at(g, xo);
    refused(
        {"g", "f 240004", "bytes of shared memory", "232448", "tiles smaller", "MemoryType::Heap"});
}

TEST_CASE_METHOD(TwoStages, "a thread's memory at a loop over blocks", "[errors]") {
    tile();
    for (MemoryType memory : {MemoryType::Stack, MemoryType::Register}) {
        f.compute_at(g, xo).store_in(memory);
        refused({"f.store_in(MemoryType::", "loop over blocks", "GPUShared", "Heap",
                 "loop over threads"});
    }
}

TEST_CASE_METHOD(TwoStages, "shared memory at a loop over threads", "[errors]") {
    tile();
    f.compute_at(g, xi).store_in(MemoryType::GPUShared);
    refused({"f.store_in(MemoryType::GPUShared)", "loop over threads", "loop over blocks"});
}

TEST_CASE("a serial loop between loops over threads", "[errors]") {
    Func k("k");
    k(x, y, z, c) = x + y + z + c;
    k.bound(x, 0, 8).bound(z, 0, 8).bound(y, 0, 4);
    k.gpu_blocks(c).gpu_threads(x).gpu_threads(z);
    require_message<CompileError>(
        [&] { k.compile_jit(emulator); },
        {"kernel", "k", "between two loops over threads", "y of k", "reorder()"});
}

TEST_CASE_METHOD(TwoStages, "an array of a thread of unknown size", "[errors]") {
    Param<int> n("n");
    Func h("h");
    RDom r(0, n, "r");
    h(x, y) = 0;
    h(x, y) += f(x + r, y);
    h.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    h.update().gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    f.compute_at(h, xi);
    require_message<CompileError>([&] { h.compile_jit(emulator); },
                                  {"f", "each thread", "how many elements", "Bound", "blocks"});
}

TEST_CASE("too large an array of a thread", "[errors]") {
    Func f("f"), g("g");
    RDom r(0, 400000, "r");
    f(x) = x;
    f(r) += 1;
    g(x) = f(x);
    f.bound(x, 0, 400000);
    g.bound(x, 0, 16).gpu_tile(x, xo, xi, 8);
    f.compute_at(g, xi);
    require_message<CompileError>([&] { g.compile_jit(emulator); },
                                  {"g.s0", "1600000 bytes", "f", "131072", "loop over blocks"});
}

TEST_CASE_METHOD(TwoStages, "something between loops over blocks", "[errors]") {
    g.gpu_tile(x, y, xo, yo, xi, yi, 8, 4);
    f.compute_at(g, yo);
    refused({"Between the loops over blocks", "g", "innermost", "reorder()"});
}

TEST_CASE_METHOD(TwoStages, "a kernel in a kernel", "[errors]") {
    tile();
    f.compute_at(g, xo).gpu_blocks(y);
    refused({"kernel", "g", "y of f", "loop over blocks, too", "compute_root", "gpu_threads"});
}

TEST_CASE_METHOD(TwoStages, "another API", "[errors]") {
    g.gpu_tile(x, y, xo, yo, xi, yi, 8, 4, TailStrategy::Auto, DeviceAPI::Metal);
    refused({"g.gpu_", "DeviceAPI::CUDA", "Metal", "Leave the DeviceAPI out"});
}

TEST_CASE_METHOD(TwoStages, "directives for a GPU and a CPU", "[errors]") {
    tile();
    require_message<CompileError>(
        [&] { g.compile_jit(Target("host")); },
        {"g.gpu_", "is a CPU", "has_gpu_feature", "host-cuda\"", "host-cuda_emulator"});
}
