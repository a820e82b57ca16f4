// Misuse of Buffers: each message names the Buffer, the dimension and the values.
#include <pipe/buffer.h>

#include "test/support/require_message.h"

using namespace Pipe;

TEST_CASE("an undefined Buffer says so", "[buffer][error]") {
    Buffer<float> none;
    require_message<RuntimeError>([&] { none.width(); }, {"default-constructed"});
    require_message<RuntimeError>([&] { none(1, 2) = 3; }, {"default-constructed"});
    require_message<RuntimeError>([&] { none.fill(0); }, {"default-constructed"});
    require_message<RuntimeError>([&] { none.copy(); }, {"default-constructed"});
    // What asks for memory gets none.
    CHECK(none.number_of_elements() == 0);
    CHECK(none.size_in_bytes() == 0);
    CHECK(none.begin() == none.end());
    CHECK_FALSE(none.owns_host_memory());
    CHECK_FALSE(none.has_device_allocation());
    CHECK_FALSE(none.host_dirty());
    CHECK_FALSE(none.device_dirty());
    none.deallocate();
    none.device_free();
}

TEST_CASE("sizes that cannot be", "[buffer][error]") {
    require_message<RuntimeError>([] { Buffer<uint8_t>(4, -3, "in"); },
                                  {"'in'", "uint8", "dimension 1", "-3", "negative"});
    const int64_t big = int64_t{1} << 31;
    require_message<RuntimeError>([&] { Buffer<float>(big, big, 2, "huge"); },
                                  {"'huge'", "2147483648 x 2147483648 x 2", "overflows"});
    require_message<RuntimeError>([&] { Buffer<float>(big, big, "huge"); },
                                  {"'huge'", "4 bytes", "overflows"});
    float data = 0;
    require_message<RuntimeError>(
        [&] {
            Buffer<float>(&data, {{0, big, big}, {0, 2, INT64_MAX / 2}}, "w");
        },
        {"'w'", "overflows"});
    require_message<RuntimeError>(
        [&] {
            Buffer<float>(&data, {{INT64_MAX, 2, 1}}, "w");
        },
        {"'w'", "dimension 0", "9223372036854775807", "64 bits"});
    require_message<RuntimeError>([&] { Buffer<>(Type(), 3, "w"); }, {"'w'", "scalar numbers"});
    require_message<RuntimeError>([&] { Buffer<>(Float(32, 4), 3, "w"); }, {"'w'", "float32x4"});
    require_message<RuntimeError>([] { Buffer<int>({4, 5}, {0, 0}); }, {"[0, 0]", "2 dimensions"});
}

TEST_CASE("memory that cannot be had", "[buffer][error]") {
    require_message<RuntimeError>([] { Buffer<uint8_t>(int64_t{1} << 60, "vast"); },
                                  {"'vast'", "out of memory", "1152921504606846976"});
}

TEST_CASE("another type or number of dimensions", "[buffer][error]") {
    Buffer<> b = Buffer<uint8_t>(3, 4, "in");
    require_message<RuntimeError>([&] { b.as<float>(); }, {"'in'", "uint8", "float32"});
    require_message<RuntimeError>([&] { Buffer<int16_t> c = b; }, {"'in'", "uint8", "int16"});
    require_message<RuntimeError>([&] { Buffer<uint8_t, 3> c = b; }, {"'in'", "2 dimensions", "3"});
    require_message<RuntimeError>([&] { Buffer<float>(UInt(8), 3, 4); }, {"uint8", "float32"});
    require_message<RuntimeError>([&] { Buffer<uint8_t>(3, 4, 5).copy_from(b); },
                                  {"'in'", "2 dimensions", "3"});
    require_message<RuntimeError>([&] { Buffer<int>(3, 4).copy_from(b); },
                                  {"'in'", "uint8", "int32"});
}

TEST_CASE("shapes that cannot be", "[buffer][error]") {
    Buffer<int> b(8, 6, "b");
    require_message<RuntimeError>([&] { b.cropped(1, 2, 5); },
                                  {"'b'", "dimension 1", "min 2, extent 5", "min 0, extent 6"});
    require_message<RuntimeError>([&] { b.cropped(0, -1, 2); }, {"dimension 0", "min -1"});
    require_message<RuntimeError>([&] { b.cropped(0, 2, -1); }, {"dimension 0", "extent -1"});
    require_message<RuntimeError>([&] { b.crop(2, 0, 1); }, {"no dimension 2"});
    require_message<RuntimeError>([&] { b.sliced(0, 8); }, {"dimension 0", "at 8"});
    require_message<RuntimeError>([&] { b.transpose({1, 1}); }, {"[1, 1]"});
    require_message<RuntimeError>([&] { b.transpose(0, 5); }, {"no dimension 5"});
    require_message<RuntimeError>([&] { b.embed(4); }, {"index 4"});
    require_message<RuntimeError>([&] { b.translate(0, INT64_MAX); }, {"dimension 0", "64 bits"});
    require_message<RuntimeError>([&] { b.extent(-1); }, {"no dimension -1", "2 dimensions"});
    require_message<RuntimeError>([&] { b.set_min(1, 2, 3); }, {"no dimension 2"});
    b(7, 5) = 1;  // still usable
    REQUIRE(b(7, 5) == 1);
    REQUIRE(b.left() == 0);
}

TEST_CASE("functions and Buffers that do not fit", "[buffer][error]") {
    Buffer<int> b(8, 6, "b"), other(8, 7, "other");
    auto of_nine = [](int, int, int, int, int, int, int, int, int) {};
    require_message<RuntimeError>([&] { b.for_each_element(of_nine); },
                                  {"'b'", "coordinate per dimension: 2"});
    require_message<RuntimeError>([&] { b.for_each_value([](int, int) {}, other); },
                                  {"'other'", "8 x 7", "8 x 6"});
    Buffer<int> empty(static_cast<int *>(nullptr), 8, 6);
    require_message<RuntimeError>([&] { b.copy_from(empty); }, {"no memory"});
}

#ifndef NDEBUG
TEST_CASE("debug builds check each access", "[buffer][error]") {
    Buffer<int> b(8, 6, "b");
    require_message<RuntimeError>([&] { b(8, 2) = 0; },
                                  {"'b'", "(8, 2)", "coordinate 8", "dimension 0", "0..7"});
    require_message<RuntimeError>([&] { b(1) = 0; }, {"coordinate per dimension: 2"});
    require_message<RuntimeError>([&] { b(1, 2, 3) = 0; },
                                  {"'b'", "(1, 2, 3)", "coordinate 3", "dimension 2", "0..0"});
}
#endif
