// Linked programs in files; blocks of memory; rows.

#include <filesystem>

#include <sys/stat.h>

#include "jit/runtime/gpu/cuda/arena.h"
#include "jit/runtime/gpu/cuda/disk_cache.h"
#include "jit/runtime/gpu/rows.h"
#include "test/gpu/fixture.h"
#include "test/support/temp_folder.h"
#include "test/unit/support/set_variable.h"

using namespace gpu_test;
using namespace Pipe::runtime;
using cuda::cache_key;
using cuda::read_cached;
using cuda::write_cached;
using testing::SetVariable;
namespace fs = std::filesystem;

TEST_CASE("the key is of the PTX, the GPU and the driver", "[gpu]") {
    const std::string key = cache_key("ptx", 80, 12040);
    CHECK(key == cache_key("ptx", 80, 12040));
    CHECK(key != cache_key("pty", 80, 12040));
    CHECK(key != cache_key("ptx", 86, 12040));
    CHECK(key != cache_key("ptx", 80, 12050));
    CHECK(key.size() == 32);
}

TEST_CASE("files of linked programs", "[gpu]") {
    TempFolder folder;
    SetVariable where("PIPE_GPU_CACHE", folder / "cache");
    CHECK(read_cached("a").empty());
    const std::string cubin = std::string("\0binary\n", 8) + std::string(100000, 'x');
    write_cached("a", cubin);
    CHECK(read_cached("a") == cubin);
    CHECK(read_cached("b").empty());
    struct stat info {};
    REQUIRE(stat((folder / "cache").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    REQUIRE(stat((folder / "cache/a.cubin").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0600);

    // Broken in any way: a miss, and written anew.
    const std::string file = folder.read("cache/a.cubin");
    for (size_t length : {size_t{0}, size_t{7}, size_t{30}, size_t{48}, file.size() - 1}) {
        folder.write("cache/a.cubin", file.substr(0, length));
        CHECK(read_cached("a").empty());
    }
    for (size_t at : {size_t{0}, size_t{9}, size_t{20}, size_t{60}, file.size() - 1}) {
        std::string changed = file;
        changed[at] ^= 1;
        folder.write("cache/a.cubin", changed);
        CHECK(read_cached("a").empty());
    }
    folder.write("cache/a.cubin", file + "more");
    CHECK(read_cached("a").empty());
    write_cached("a", "short");
    CHECK(read_cached("a") == "short");
    size_t files = 0;
    for (const auto &entry : fs::directory_iterator(folder / "cache"))
        files += entry.is_regular_file();
    CHECK(files == 1);  // no temporary one is left
}

TEST_CASE("folders that cannot be used are no errors", "[gpu]") {
    TempFolder folder;
    {
        SetVariable where("PIPE_GPU_CACHE", "0");
        write_cached("a", "x");
        CHECK(read_cached("a").empty());
    }
    folder.write("file", "");
    for (const std::string &path :
         {folder / "file", folder / "file/below", std::string("/proc/none/cache")}) {
        SetVariable where("PIPE_GPU_CACHE", path);
        write_cached("a", "x");
        CHECK(read_cached("a").empty());
    }
    // Others could put code there.
    fs::create_directory(folder / "open");
    fs::permissions(folder / "open", fs::perms::all);
    SetVariable where("PIPE_GPU_CACHE", folder / "open");
    write_cached("a", "x");
    CHECK(fs::is_empty(folder / "open"));
}

TEST_CASE("the folder stays below its bound", "[gpu]") {
    TempFolder folder;
    SetVariable where("PIPE_GPU_CACHE", folder / "cache");
    write_cached("old", "x");
    const fs::path sparse = folder / "cache/large.cubin";
    folder.write("cache/large.cubin", "");
    fs::resize_file(sparse, 300 << 20);
    fs::last_write_time(folder / "cache/old.cubin",
                        fs::file_time_type::clock::now() - std::chrono::hours(2));
    fs::last_write_time(sparse, fs::file_time_type::clock::now() - std::chrono::hours(1));
    write_cached("new", "y");
    CHECK(read_cached("old").empty());
    CHECK_FALSE(fs::exists(sparse));
    CHECK(read_cached("new") == "y");
}

TEST_CASE("a second process links nothing", "[gpu]") {
    TempFolder folder;
    SetVariable where("PIPE_GPU_CACHE", folder / "cache");
    static const runtime::GPUKernel kernel{"add", nullptr, 0};
    const std::string ptx = ".entry add // " + std::to_string(getpid());
    auto load = [&] {
        // As if in another process: nothing is known of it but the file.
        const std::string other = ptx;
        runtime::GPUModule module{
            "m",     other.c_str(), static_cast<int64_t>(other.size()), &kernel, 1, 0,
            nullptr, nullptr};
        const std::vector<char> none(64);
        void *params[9];
        for (void *&p : params)
            p = const_cast<char *>(none.data());
        Device &device = device_of(cuda_device_interface, nullptr);
        DeviceQueue queue = device.open_queue(nullptr);
        device.launch(module, {}, params, queue);
        device.close_queue(queue);
        unload_module(Target("host-cuda"), module);
    };
    load();
    const int links = fake_cuda::calls()["cuLinkCreate_v2"];
    load();  // from memory
    CHECK(fake_cuda::calls()["cuLinkCreate_v2"] == links);
    size_t files = 0;
    for (const auto &entry : fs::directory_iterator(folder / "cache"))
        files += entry.path().extension() == ".cubin";
    CHECK(files == 1);
}

TEST_CASE("blocks of device memory", "[gpu]") {
    cuda::DeviceArena arena;
    auto *s = reinterpret_cast<cuda::CUstream>(1), *t = reinterpret_cast<cuda::CUstream>(2);
    CHECK(cuda::DeviceArena::block_bytes(1) == 512);
    for (int64_t bytes : {1, 512, 513, 5000, 1 << 20, (1 << 20) + 1, 123456789}) {
        const int64_t block = cuda::DeviceArena::block_bytes(bytes);
        CHECK(block >= bytes);
        CHECK(block <= bytes + bytes / 8 + 512);
        CHECK(cuda::DeviceArena::block_bytes(block) == block);
    }
    CHECK(arena.take(4000, s) == 0);
    arena.add(1 << 16, 4096);
    CHECK(arena.used_bytes() == 4096);
    CHECK_FALSE(arena.give(5000, s));
    CHECK(arena.give(1 << 16, s));
    CHECK_FALSE(arena.give(1 << 16, s));
    CHECK(arena.take(4000, t) == 0);  // work in s may still use it
    CHECK(arena.take(4000, s) == 1 << 16);
    CHECK(arena.give(1 << 16, s));
    arena.synchronized(s);
    CHECK(arena.take(100, t) == 0);  // much too large
    CHECK(arena.take(4000, t) == 1 << 16);
    arena.add(8192, 2048);
    arena.give(1 << 16, nullptr);
    arena.give(8192, t);
    std::vector<uint64_t> freed;
    auto free = [&](cuda::CUdeviceptr a) { freed.push_back(a); };
    arena.trim(0, free);
    CHECK(freed == std::vector<uint64_t>{1 << 16});
    CHECK(arena.idle_bytes() == 2048);
    arena.synchronized(nullptr);
    arena.trim(0, free);
    CHECK(arena.idle_bytes() == 0);
}

TEST_CASE("a block that launches use which wait is their run's", "[gpu]") {
    cuda::DeviceArena arena;
    auto *s = reinterpret_cast<cuda::CUstream>(1);
    const LaunchList run, other;
    auto free = [](cuda::CUdeviceptr) { FAIL("it is freed"); };
    arena.add(1 << 16, 4096);
    arena.give(1 << 16, s, &run);
    arena.synchronized(nullptr);  // of what was in the streams
    arena.trim(0, free);
    CHECK(arena.take(4000, s, &other) == 0);
    CHECK(arena.take(4000, s) == 0);
    CHECK(arena.take(4000, s, &run) == 1 << 16);
    arena.give(1 << 16, s, &run);
    arena.submitted(&other);
    CHECK(arena.take(4000, s, &other) == 0);
    arena.submitted(&run);
    arena.trim(0, free);  // work is in the stream
    CHECK(arena.take(4000, s, &other) == 1 << 16);
}

TEST_CASE("rows cover each element once, and nothing else", "[gpu]") {
    struct Case {
        std::vector<Step> steps;
        size_t copies;
    };
    const std::vector<Case> cases = {
        {{{10, 4}, {5, 40}}, 1},
        {{{10, 4}, {5, 48}}, 1},
        {{{10, -4}, {5, 48}}, 1},
        {{{10, 4}, {5, 48}, {3, 400}}, 3},
        {{{3, 400}, {10, 4}, {5, -48}}, 3},
        {{{7, 12}, {4, 100}}, 4},
        {{{10, 4}, {5, 0}}, 1},
        {{{1, 999}, {6, 4}}, 1},
        {{}, 1},
        {{{0, 4}, {5, 40}}, 0},
        {{{4, 4}, {3, 8}}, 1},
    };
    for (const Case &c : cases) {
        std::map<int64_t, int> touched, expected;
        size_t copies = 0;
        for_each_rows(plan_rows(c.steps, 4), [&](int64_t offset, const Rows &rows) {
            copies++;
            for (int64_t r = 0; r < rows.count; r++)
                for (int64_t b = 0; b < rows.bytes; b++)
                    touched[offset + r * rows.pitch + b]++;
        });
        std::vector<int64_t> offsets{0};
        for (const Step &s : c.steps) {
            std::vector<int64_t> next;
            for (int64_t o : offsets)
                for (int64_t i = 0; i < s.extent; i++)
                    next.push_back(o + i * s.stride);
            offsets = next;
        }
        for (int64_t o : offsets)
            for (int b = 0; b < 4; b++)
                expected[o + b] = 1;
        CHECK(touched == expected);
        CHECK(copies == c.copies);
    }
}
