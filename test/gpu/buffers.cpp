// Buffers with memory on a device, and without: what is copied when.

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"

using namespace gpu_test;
using runtime::DeviceOverwrite;
using runtime::DeviceRead;
using runtime::DeviceWrite;

namespace {

bool is_counted(const Buffer<int> &b, int added) {
    bool same = true;
    b.for_each_element([&](int x, int y) { same &= b(x, y) == x + 1000 * y + added; });
    return same;
}

int copies() {
    std::map<std::string, int> calls = fake_cuda::calls();
    return calls["cuMemcpyHtoDAsync_v2"] + calls["cuMemcpyDtoHAsync_v2"] +
           calls["cuMemcpy2DAsync_v2"];
}

}  // namespace

TEST_CASE("a Buffer that nobody put on the device is right after each run", "[gpu]") {
    Buffer<int> in = counted(40, 30), out(40, 30);
    realize_add(in, out, 5);
    CHECK(is_counted(out, 5));
    in.fill(7);
    realize_add(in, out, 1);
    CHECK(out.all_equal(8));
    CHECK_FALSE(out.has_device_allocation());
    CHECK_FALSE(out.device_dirty());
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("crops as inputs and outputs: what lies between their rows stays", "[gpu]") {
    Buffer<int> image = counted(64, 48);
    Buffer<int> in = image.cropped(0, 3, 20).cropped(1, 5, 10);
    Buffer<int> out = image.cropped(0, 30, 20).cropped(1, 5, 10);
    out.set_min(3, 5);
    realize_add(in, out, 100);
    image.for_each_element([&](int x, int y) {
        const bool written = x >= 30 && x < 50 && y >= 5 && y < 15;
        const int expected = written ? x - 27 + 1000 * y + 100 : x + 1000 * y;
        if (image(x, y) != expected)
            FAIL(x << ", " << y << ": " << image(x, y) << " instead of " << expected);
    });
}

TEST_CASE("an output of which only a part is written keeps the rest", "[gpu]") {
    Buffer<int> in = counted(40, 30), out(40, 30), part = out.cropped(1, 4, 3);
    out.fill(-1);
    Arg input("in", in), whole("out", out), rows("out", part);
    Run run;
    run.on_device(whole.device, DeviceWrite);  // not all of it
    rows.device = whole.device;
    rows.device.device += 4 * 40 * 4;
    rows.owner.kind = runtime::ArgumentBuffer::Temporary;
    run.add(input, rows, 1, DeviceRead);
    run.finish();
    out.for_each_element(
        [&](int x, int y) { CHECK(out(x, y) == (y >= 4 && y < 7 ? x + 1000 * y + 1 : -1)); });
}

TEST_CASE("strides that are negative, zero or wide", "[gpu]") {
    std::vector<int> memory(1000, -9);
    const BufferDim mirrored[] = {{0, 10, -1}, {0, 8, 12}};
    Buffer<int> in(memory.data() + 9, 2, mirrored);
    in.fill([](int x, int y) { return x + 1000 * y; });
    Buffer<int> out(10, 8);
    realize_add(in, out, 2);
    CHECK(is_counted(out, 2));
    realize_add(out, in, 1);
    CHECK(is_counted(in, 3));
    CHECK(memory[10] == -9);  // between the rows
    int one = 4;
    const BufferDim broadcast[] = {{0, 10, 0}, {0, 8, 0}};
    realize_add(Buffer<int>(&one, 2, broadcast), out, 1);
    CHECK(out.all_equal(5));
    const int rectangles = fake_cuda::calls()["cuMemcpy2DAsync_v2"];
    Buffer<int> interleaved = Buffer<int>::make_interleaved(10, 8, 3);
    interleaved.fill(1);
    const int before = copies();
    realize_add(out, interleaved.sliced(2, 1), 1);
    CHECK(copies() == before + 2);
    CHECK(fake_cuda::calls()["cuMemcpy2DAsync_v2"] == rectangles);  // not pixel by pixel
    CHECK(interleaved(3, 3, 0) == 1);
    CHECK(interleaved(3, 3, 1) == 6);
    CHECK(interleaved(3, 3, 2) == 1);
    realize_add(interleaved.sliced(2, 1), out, 1);
    CHECK(out.all_equal(7));
}

TEST_CASE("empty Buffers cost nothing", "[gpu]") {
    Buffer<int> in(0, 5), out(0, 5);
    const int before = copies();
    Arg input("in", in), output("out", out);
    Run run;
    run.add(input, output, 1, DeviceWrite);
    run.finish();
    CHECK(input.device.device == 0);
    CHECK(copies() == before);
    in.copy_to_device(DeviceAPI::CUDA, Target("host-cuda"));
    in.set_device_dirty();
    CHECK(in.copy_to_host() == 0);
}

TEST_CASE("a Buffer with device memory stays there", "[gpu]") {
    const Target cuda("host-cuda");
    Buffer<int> in = counted(40, 30), out(40, 30);
    out.fill(0);
    in.copy_to_device(cuda);
    CHECK(in.has_device_allocation());
    CHECK_FALSE(in.host_dirty());
    out.device_malloc(cuda);
    CHECK(out.host_dirty());
    const int before = copies();
    realize_add(in, out, 3);
    realize_add(in, out, 4);
    CHECK(copies() == before);
    CHECK(out.device_dirty());
    CHECK(out.data()[0] == 0);
    CHECK(out.copy_to_host() == 0);
    CHECK(copies() == before + 1);
    CHECK(is_counted(out, 4));
    CHECK(out.copy_to_host() == 0);
    CHECK(copies() == before + 1);
    in.fill(1);
    in.set_host_dirty();
    realize_add(in, out, 1);
    CHECK(copies() == before + 2);
    out.copy_to_host();
    CHECK(out.all_equal(2));
    out.device_free();
    CHECK_FALSE(out.has_device_allocation());
    CHECK(out.raw_buffer()->device == 0);
    realize_add(in, out, 2);
    CHECK(out.all_equal(3));
    in.device_free();
    CHECK(live_now().allocations == 0);
}

TEST_CASE("crops, slices and handles share device memory and flags", "[gpu]") {
    const Target cuda("host-cuda");
    Buffer<int> image = counted(64, 48);
    Buffer<int> early = image.cropped(0, 8, 16);  // made before there is device memory
    image.copy_to_device(cuda);
    Buffer<int> late = image.cropped(1, 8, 16);
    CHECK(early.has_device_allocation());
    CHECK(late.has_device_allocation());
    CHECK(early.raw_buffer()->device == image.raw_buffer()->device + 8 * 4);
    CHECK(late.raw_buffer()->device == image.raw_buffer()->device + 8 * 64 * 4);
    CHECK(image.translated(0, 5).raw_buffer()->device == image.raw_buffer()->device);

    // One crop is an output, another one sees it; the rest of the image stays.
    Buffer<int> out = image.cropped(0, 8, 16).cropped(1, 0, 10), in = counted(64, 48);
    realize_add(in, out, 50);
    CHECK(image.device_dirty());
    CHECK(early.device_dirty());
    CHECK(late.device_dirty());
    early.copy_to_host();
    CHECK_FALSE(image.device_dirty());
    image.for_each_element([&](int x, int y) {
        const bool written = x >= 8 && x < 24 && y < 10;
        if (image(x, y) != x + 1000 * y + (written ? 50 : 0))
            FAIL(x << ", " << y << ": " << image(x, y));
    });

    // The host changes one part, a kernel another: neither is lost.
    image(60, 40) = -5;
    image.set_host_dirty();
    realize_add(in, out, 60);
    CHECK_FALSE(image.host_dirty());
    late.copy_to_host();
    CHECK(image(60, 40) == -5);
    CHECK(image(8, 0) == 8 + 60);

    // One image as input and as output.
    realize_add(image.cropped(0, 8, 16).cropped(1, 0, 10),
                image.cropped(0, 8, 16).cropped(1, 0, 10), 1);
    image.copy_to_host();
    CHECK(image(8, 0) == 8 + 61);

    Runtime::Buffer<int> value = image;
    CHECK(value.has_device_allocation());
    Buffer<int> wrapped(*image.raw_buffer());
    CHECK(wrapped.has_device_allocation());
    wrapped.set_host_dirty();
    CHECK(image.host_dirty());
    image.device_free();
    CHECK_FALSE(early.has_device_allocation());
    CHECK_FALSE(wrapped.has_device_allocation());
    CHECK(live_now().allocations == 0);
}

TEST_CASE("elements with gaps in memory of the caller's go to the device and back row by row",
          "[gpu]") {
    std::vector<int> memory(20 * 10, -1);
    const BufferDim dims[] = {{0, 12, 1}, {0, 10, 20}};
    Buffer<int> out(memory.data() + 4, 2, dims);
    out.device_malloc(Target("host-cuda"));
    realize_add(counted(12, 10), out, 9);
    memory[3] = memory[16] = 77;  // between the rows: the caller's own
    out.copy_to_host();
    CHECK(memory[3] == 77);
    CHECK(memory[16] == 77);
    CHECK(is_counted(out, 9));
}

TEST_CASE("code of the host between kernels", "[gpu]") {
    for (bool resident : {false, true}) {
        INFO(resident);
        Buffer<int> in = counted(20, 10), middle(20, 10), out(20, 10);
        if (resident)
            middle.device_malloc(Target("host-cuda"));
        Arg input("in", in), between("middle", middle), output("out", out);
        Run run;
        run.add(input, between, 1, DeviceWrite | DeviceOverwrite);
        run.on_host(between.device, DeviceRead | DeviceWrite);
        middle.for_each_value([](int &v) { v *= 2; });
        run.add(between, output, 5, DeviceWrite | DeviceOverwrite);
        run.on_host(output.device, DeviceRead);
        CHECK(out(3, 4) == 2 * 4004 + 5);
        run.finish();
        middle.copy_to_host();
        CHECK(middle(3, 4) == 2 * 4004);
    }
}

TEST_CASE("storage of Funcs is freed, also what an error leaves open", "[gpu]") {
    live_now();
    {
        runtime::DeviceBuffer first, second;
        first.name = "f";
        first.end = second.end = 4000;
        Run run;
        run.open(first);
        run.open(second);
        CHECK(first.device != 0);
        CHECK(first.device != second.device);
        const uint64_t address = first.device;
        run.close(first);
        runtime::DeviceBuffer third;
        third.end = 4000;
        run.open(third);
        CHECK(third.device == address);  // the same stream: at once
    }
    CHECK(live_now().allocations == 0);
}

TEST_CASE("copies of Buffers and accesses know of the device", "[gpu]") {
    const Target cuda("host-cuda");
    Buffer<int> out(20, 10), target(20, 10);
    out.device_malloc(cuda);
    realize_add(counted(20, 10), out, 1);
    CHECK(is_counted(out.copy(), 1));  // copied to the host for it
    CHECK_FALSE(out.device_dirty());
    realize_add(counted(20, 10), out, 2);
#ifndef NDEBUG
    require_message<RuntimeError>([&] { out(3, 3) = 1; }, {"on a device", "copy_to_host"});
#endif
    target.copy_to_device(cuda);
    target.copy_from(out);
    CHECK(target.host_dirty());
    CHECK(is_counted(target, 2));
    CHECK_FALSE(out.copy().has_device_allocation());
}

TEST_CASE("device memory of the user's", "[gpu]") {
    const Target cuda("host-cuda");
    const uint64_t memory = fake_cuda::users_memory(20 * 10 * 4);
    Buffer<int> in = counted(20, 10);
    Buffer<int> device_only(static_cast<int *>(nullptr), 20, 10);
    CHECK(device_only.is_bounds_query());
    device_only.device_wrap_native(DeviceAPI::CUDA, memory, cuda);
    CHECK_FALSE(device_only.is_bounds_query());
    CHECK(device_only.raw_buffer()->device == memory);
    realize_add(in, device_only, 8);
    CHECK(device_only.device_dirty());
    CHECK(device_only.cropped(1, 3, 4).raw_buffer()->device == memory + 3 * 20 * 4);
    require_message<RuntimeError>([&] { device_only.copy_to_host(); }, {"only on a device"});
    require_message<RuntimeError>([&] { device_only.device_free(); }, {"device_detach_native"});
    require_message<RuntimeError>(
        [&] { device_only.device_wrap_native(DeviceAPI::CUDA, memory, cuda); }, {"device_free()"});
    // Its elements as the input of another run, and of the host.
    Buffer<int> out(20, 10), host(20, 10);
    realize_add(device_only, out, 1);
    CHECK(is_counted(out, 9));
    host.device_wrap_native(DeviceAPI::CUDA, memory, cuda);
    host.set_device_dirty();
    host.copy_to_host();
    CHECK(is_counted(host, 8));
    host.device_detach_native();
    device_only.device_detach_native();
    CHECK(device_only.is_bounds_query());
    require_message<RuntimeError>(
        [&] { host.cropped(0, 2, 3).device_wrap_native(DeviceAPI::CUDA, memory, cuda); },
        {"larger Buffer"});
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("misuse of device memory", "[gpu]") {
    Buffer<int> b(10, 10);
    require_message<RuntimeError>([&] { b.set_device_dirty(); },
                                  {"set_device_dirty", "device_malloc"});
    require_message<RuntimeError>([&] { b.copy_to_device(DeviceAPI::Metal); },
                                  {"copy_to_device", "CUDA"});
    b.device_malloc(Target("host-cuda"));
    require_message<RuntimeError>([&] { b.device_detach_native(); }, {"device_free"});
    Buffer<int> none(static_cast<int *>(nullptr), 10, 10), out(10, 10);
    require_message<RuntimeError>([&] { realize_add(none, out, 1); },
                                  {"'in'", "no memory", "allocate()"});
}

TEST_CASE("pipelines of the host take what is newer on the device", "[gpu]") {
    Var x("x"), y("y");
    Func twice("twice");
    Buffer<int> middle(20, 10);
    middle.device_malloc(Target("host-cuda"));
    realize_add(counted(20, 10), middle, 1);
    CHECK(middle.device_dirty());
    twice(x, y) = 2 * middle(x, y);
    Buffer<int> out(20, 10);
    out.copy_to_device(Target("host-cuda"));
    twice.realize(out);
    CHECK(out(3, 4) == 2 * 4004);
    CHECK_FALSE(middle.device_dirty());
    CHECK(out.host_dirty());  // the next kernel that reads it gets this
    Buffer<int> next(20, 10);
    realize_add(out, next, 1);
    CHECK(next(3, 4) == 2 * 4004 + 1);
    Buffer<int> device_only(static_cast<int *>(nullptr), 20, 10);
    device_only.device_malloc(Target("host-cuda"));
    require_message<RuntimeError>([&] { twice.realize(device_only); },
                                  {"'twice'", "only on a device"});
}

TEST_CASE("a buffer beyond what indices of 32 bits reach is refused, before anything is allocated",
          "[gpu]") {
    Run run;
    for (const int64_t sign : {1, -1}) {
        runtime::DeviceBuffer b;
        b.name = "huge";
        b.element_bytes = 4;
        const int64_t end = 4 * (runtime::most_narrow_elements + 1);
        (sign > 0 ? b.end : b.begin) = sign * end;
        const int before = fake_cuda::calls()["cuMemAlloc_v2"];
        require_message<RuntimeError>([&] { run.on_device(b, DeviceRead | runtime::DeviceNarrow); },
                                      {"'huge' extends over 2146435073 elements", "large_buffers"});
        CHECK(fake_cuda::calls()["cuMemAlloc_v2"] == before);
    }
}
