// The emulated GPU runs kernels: threads, barriers, shared and global memory.
#include "test/gpu/emulator/kernels.h"

#include <numeric>
#include <thread>

#include "test/support/require_message.h"

using namespace hand_written;

namespace {

constexpr int width = 8;

/// out(x) = 2 * in(x) + 1, where x < n.
void pointwise(EmulatedThread *t, void *const *params) {
    auto *in = param<const int32_t *>(params, 0);
    auto *out = param<int32_t *>(params, 1);
    const int x = t->block[0] * 32 + t->thread[0];
    if (x < param<int64_t>(params, 2))
        store(t, 1, out + x, 2 * load(t, 0, in + x) + 1);
}

Module make_pointwise() {
    return {
        "pointwise",
        pointwise,
        {site("in", GPUSite::Load, GPUSite::Global), site("out", GPUSite::Store, GPUSite::Global)}};
}

/// The sum of 64 numbers of each block, by halving.
void block_sum(EmulatedThread *t, void *const *params) {
    const SharedArray<int32_t> sums{t, 0, 64, 1, 2};
    const int x = t->thread[0];
    sums.store(x, load(t, 0, param<const int32_t *>(params, 0) + t->block[0] * 64 + x));
    for (int half = 32; half > 0; half /= 2) {
        barrier(t, 4);
        if (x < half)
            sums.store(x, sums.load(x) + sums.load(x + half));
    }
    if (x == 0)
        store(t, 3, param<int32_t *>(params, 1) + t->block[0], sums.load(0));
}

Module make_block_sum() {
    return {"block_sum",
            block_sum,
            {site("in", GPUSite::Load, GPUSite::Global),
             site("sums", GPUSite::Load, GPUSite::Shared),
             site("sums", GPUSite::Store, GPUSite::Shared),
             site("out", GPUSite::Store, GPUSite::Global), barrier_site}};
}

/// out(y, x) = in(x, y), by tiles of 8 x 8.
void transpose(EmulatedThread *t, void *const *params) {
    const SharedArray<uint8_t> tile{t, 0, width * width, 1, 2};
    const int64_t columns = param<int64_t>(params, 2), rows = param<int64_t>(params, 3);
    const int tx = t->thread[0], ty = t->thread[1];
    const int x0 = t->block[0] * width, y0 = t->block[1] * width;
    if (x0 + tx < columns && y0 + ty < rows)
        tile.store(ty * width + tx,
                   load(t, 0, param<const uint8_t *>(params, 0) + (y0 + ty) * columns + x0 + tx));
    barrier(t, 4);
    if (x0 + ty < columns && y0 + tx < rows)
        store(t, 3, param<uint8_t *>(params, 1) + (x0 + ty) * rows + y0 + tx,
              tile.load(tx * width + ty));
}

Module make_transpose() {
    return {"transpose",
            transpose,
            {site("in", GPUSite::Load, GPUSite::Global, 1),
             site("tile", GPUSite::Load, GPUSite::Shared, 1),
             site("tile", GPUSite::Store, GPUSite::Shared, 1),
             site("out", GPUSite::Store, GPUSite::Global, 1), barrier_site}};
}

/// Which block and thread ran, and in which order: out(thread) = (block, thread), 3 numbers each.
void coordinates_of_threads(EmulatedThread *t, void *const *params) {
    auto *out = param<int32_t *>(params, 0);
    auto *next = param<int32_t *>(params, 1);
    for (int i = 0; i < 3; i++) {
        out[*next * 6 + i] = t->block[i];
        out[*next * 6 + 3 + i] = t->thread[i];
    }
    ++*next;
}

std::vector<int32_t> order_of_threads(EmulatedDevice &device) {
    // With a site for an access, it counts as a kernel with checks: these run on one thread.
    Module module("coordinates", coordinates_of_threads,
                  {site("out", GPUSite::Store, GPUSite::Global)});
    std::vector<int32_t> out(2 * 3 * 2 * 4 * 2 * 3 * 6);
    int32_t next = 0;
    module.launch(device, {2, 3, 2}, {4, 2, 3}, 0,
                  {reinterpret_cast<uint64_t>(out.data()), reinterpret_cast<uint64_t>(&next)});
    REQUIRE(next * 6 == static_cast<int>(out.size()));
    return out;
}

}  // namespace

TEST_CASE("a pointwise kernel", "[emulator]") {
    EmulatedDevice device;
    Module module = make_pointwise();
    for (int64_t n : {1, 31, 32, 100, 1000}) {
        DeviceArray<int32_t> in(device, count_up<int32_t>(n)), out(device, n);
        module.launch(device, {static_cast<int>(n + 31) / 32}, {32}, 0,
                      {in.address, out.address, static_cast<uint64_t>(n)});
        const std::vector<int32_t> values = out.values();
        for (int64_t i = 0; i < n; i++)
            REQUIRE(values[static_cast<size_t>(i)] == 2 * (i + 1) + 1);
    }
    REQUIRE(device.take_reports().empty());
}

TEST_CASE("a reduction with barriers, in every order of threads", "[emulator]") {
    EmulatedDevice device;
    Module module = make_block_sum();
    DeviceArray<int32_t> in(device, count_up<int32_t>(640));
    for (uint64_t seed = 0; seed < 50; seed++) {
        device.set_seed(seed);
        DeviceArray<int32_t> out(device, 10);
        module.launch(device, {10}, {64}, 256, {in.address, out.address});
        const std::vector<int32_t> values = out.values();
        for (int block = 0; block < 10; block++)
            REQUIRE(values[static_cast<size_t>(block)] == 64 * (64 * block) + 64 * 65 / 2);
    }
}

TEST_CASE("a transposition through shared memory, with incomplete tiles", "[emulator]") {
    EmulatedDevice device;
    Module module = make_transpose();
    for (auto [columns, rows] : {std::pair(8, 8), {1, 1}, {9, 7}, {37, 21}, {5, 64}}) {
        const std::vector<uint8_t> values = count_up<uint8_t>(columns * rows);
        DeviceArray<uint8_t> in(device, values), out(device, columns * rows);
        module.launch(
            device, {(columns + 7) / 8, (rows + 7) / 8}, {width, width}, width * width,
            {in.address, out.address, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows)});
        const std::vector<uint8_t> result = out.values();
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++)
                REQUIRE(result[static_cast<size_t>(x * rows + y)] ==
                        values[static_cast<size_t>(y * columns + x)]);
    }
}

TEST_CASE("each thread of each block runs once, in an order that the seed says", "[emulator]") {
    EmulatedDevice device, same, other;
    other.set_seed(77);
    const std::vector<int32_t> first = order_of_threads(device), second = order_of_threads(device);
    REQUIRE(first != second);  // from launch to launch
    REQUIRE(order_of_threads(same) == first);
    REQUIRE(order_of_threads(other) != first);
    std::vector<std::vector<int32_t>> threads;
    for (size_t i = 0; i < first.size(); i += 6)
        threads.emplace_back(first.begin() + static_cast<long>(i),
                             first.begin() + static_cast<long>(i) + 6);
    std::sort(threads.begin(), threads.end());
    REQUIRE(std::unique(threads.begin(), threads.end()) == threads.end());
    REQUIRE(threads.front() == std::vector<int32_t>{0, 0, 0, 0, 0, 0});
    REQUIRE(threads.back() == std::vector<int32_t>{1, 2, 1, 3, 1, 2});
}

TEST_CASE("many launches neither leak nor slow down", "[emulator]") {
    EmulatedDevice device;
    Module module = make_block_sum();
    for (int i = 0; i < 2000; i++) {
        DeviceArray<int32_t> in(device, count_up<int32_t>(128)), out(device, 2);
        module.launch(device, {2}, {64}, 256, {in.address, out.address});
        REQUIRE(out.values()[0] == 64 * 65 / 2);
    }
    REQUIRE(device.allocated_bytes() == 0);
}

TEST_CASE("several threads launch at once", "[emulator]") {
    EmulatedDevice device;
    Module checked = make_block_sum();
    Module unchecked = make_block_sum();
    unchecked.module.site_count = 0;  // its calls of pipe_emulator_access() do nothing then
    std::atomic<int> wrong = 0;
    auto work = [&](Module &module) {
        for (int i = 0; i < 50; i++) {
            DeviceArray<int32_t> in(device, count_up<int32_t>(640)), out(device, 10);
            module.launch(device, {10}, {64}, 256, {in.address, out.address});
            const std::vector<int32_t> values = out.values();
            for (int block = 0; block < 10; block++)
                wrong += values[static_cast<size_t>(block)] != 64 * (64 * block) + 64 * 65 / 2;
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; i++)
        threads.emplace_back(work, std::ref(i % 2 == 0 ? checked : unchecked));
    for (std::thread &thread : threads)
        thread.join();
    REQUIRE(wrong == 0);
    REQUIRE(device.take_reports().empty());
}

namespace {

/// Has as much memory of its own as CUDA allows: 512 KB.
void large_frame(EmulatedThread *t, void *const *params) {
    volatile int32_t own[(512 << 10) / 4 - 256];
    const int size = static_cast<int>(std::size(own));
    for (int i = 0; i < size; i += 64)
        own[i] = t->thread[0] + i;
    barrier(t, 1);
    int32_t wrong = 0;
    for (int i = 0; i < size; i += 64)
        wrong += own[i] != t->thread[0] + i;
    store(t, 0, param<int32_t *>(params, 0) + t->thread[0], wrong);
}

}  // namespace

TEST_CASE("threads with large arrays of their own", "[emulator]") {
    EmulatedDevice device;
    Module module("large_frame", large_frame,
                  {site("out", GPUSite::Store, GPUSite::Global), barrier_site});
    DeviceArray<int32_t> out(device, 40);
    module.launch(device, {2}, {40}, 0, {out.address});
    REQUIRE(out.values() == std::vector<int32_t>(40, 0));
}

TEST_CASE("without checks, blocks run on several threads, each once", "[emulator]") {
    EmulatedDevice device;
    Module module = make_block_sum();
    module.module.site_count = 0;
    for (int blocks : {1, 2, 7, 1000}) {
        DeviceArray<int32_t> in(device, count_up<int32_t>(64 * blocks)), out(device, blocks);
        module.launch(device, {blocks}, {64}, 256, {in.address, out.address});
        const std::vector<int32_t> values = out.values();
        for (int block = 0; block < blocks; block++)
            REQUIRE(values[static_cast<size_t>(block)] == 64 * (64 * block) + 64 * 65 / 2);
    }
}

TEST_CASE("copies by rows, and new memory", "[emulator]") {
    EmulatedDevice device;
    std::vector<uint8_t> values = count_up<uint8_t>(30), back(30, 7);
    DeviceArray<uint8_t> array(device, 30);
    REQUIRE(array.address % 256 == 0);
    device.copy_to_device(array.address + 1, values.data() + 1, {3, 3, 10}, {});
    device.copy_to_host(back.data(), array.address, {30, 1, 0}, {});
    for (size_t i = 0; i < 30; i++)
        REQUIRE(back[i] == (i % 10 >= 1 && i % 10 <= 3 ? values[i] : 0xfb));
    back.assign(30, 7);
    device.copy_to_host(back.data(), array.address, {3, 3, 10}, {});
    for (size_t i = 0; i < 30; i++)
        REQUIRE(back[i] == (i >= 23 || i % 10 > 2 ? 7 : i % 10 == 0 ? 0xfb : values[i]));
}

TEST_CASE("what a GPU would refuse", "[emulator]") {
    EmulatedDevice device;
    Module module = make_pointwise();
    using Pipe::RuntimeError;
    auto refused = [&](Size blocks, Size threads, int64_t shared,
                       const std::vector<std::string> &parts) {
        require_message<RuntimeError>(
            [&] {
                module.launch(device, blocks, threads, shared, {0, 0, 0});
            },
            parts);
    };
    refused({1}, {1025}, 0, {"emulated GPU", "pointwise", "1025 x 1 x 1 threads", "1024"});
    refused({1}, {32, 33}, 0, {"32 x 33 x 1 threads", "at most 1024 in all"});
    refused({1}, {1, 1, 65}, 0, {"1 x 1 x 65 threads"});
    refused({0}, {1}, 0, {"0 x 1 x 1 blocks"});
    refused({1, 65536}, {1}, 0, {"1 x 65536 x 1 blocks"});
    refused({1}, {1}, 300000, {"300000 bytes of shared memory", "232448"});
    require_message<RuntimeError>([&] { device.allocate(-1, {}); }, {"cannot allocate -1 bytes"});
    require_message<RuntimeError>([&] { device.allocate(int64_t(1) << 60, {}); },
                                  {"cannot allocate"});
    DeviceArray<uint8_t> array(device, 10);
    char host[20] = {};
    require_message<RuntimeError>(
        [&] {
            device.copy_to_device(array.address, host, {11, 1, 0}, {});
        },
        {"copying from the host", "11 bytes"});
    require_message<RuntimeError>(
        [&] {
            device.copy_to_host(host, array.address + 1, {5, 2, 5}, {});
        },
        {"copying to the host", "2 rows of 5 bytes"});
    // and it goes on
    DeviceArray<int32_t> in(device, count_up<int32_t>(5)), out(device, 5);
    module.launch(device, {1}, {32}, 0, {in.address, out.address, 5});
    REQUIRE(out.values()[4] == 11);
}
