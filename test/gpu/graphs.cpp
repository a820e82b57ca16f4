// Launches that wait, and graphs of them: they do what single launches do, in the same order.

#include <thread>

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"

using namespace gpu_test;
using runtime::DeviceOverwrite;
using runtime::DeviceRead;
using runtime::DeviceWrite;

namespace {

const Target cuda("host-cuda");

/// Calls of some functions since it was made.
class Calls {
  public:
    int of(const std::string &function) const {
        const std::map<std::string, int> now = fake_cuda::calls();
        auto count = [&](const std::map<std::string, int> &calls) {
            auto found = calls.find(function);
            return found == calls.end() ? 0 : found->second;
        };
        return count(now) - count(before_);
    }
    int kernels() const { return of("cuLaunchKernel"); }
    int graphs() const { return of("cuGraphLaunch"); }
    int changes() const { return of("cuGraphExecKernelNodeSetParams"); }

  private:
    std::map<std::string, int> before_ = fake_cuda::calls();
};

/// The device is as if nothing had been launched yet.
void start_anew() {
    runtime::unload_module(cuda, add_module());
    live_now();
}

/// Runs that find no memory in the arena have their launches in several parts, because to allocate some submits what waits.
void have_memory_for_chains() {
    Buffer<int> b(40, 30);
    b.fill(0);
    realize_chain(b, b.copy(), 12);
}

JITUserContext with_users_stream() {
    Buffer<int> b(4, 4);
    realize_add(b, b.copy(), 1);  // the primary context is there
    JITUserContext user;
    user.cuda_stream = fake_cuda::make_users_stream();
    return user;
}

struct Pair {
    Pair(int w, int h) : in(counted(w, h)), out(w, h) {
        in.copy_to_device(cuda);
        out.device_malloc(cuda);
    }
    /// Whether out = in + added.
    bool is_right(int added) {
        out.copy_to_host();
        bool same = true;
        out.for_each_element([&](int x, int y) { same &= out(x, y) == x + 1000 * y + added; });
        return same;
    }
    Buffer<int> in, out;
};

}  // namespace

TEST_CASE("a chain of kernels is launched as a graph from its second run on", "[gpu]") {
    start_anew();
    Pair p(40, 30);
    have_memory_for_chains();
    for (int run = 0; run < 4; run++) {
        INFO(run);
        const Calls calls;
        realize_chain(p.in, p.out, 16);
        CHECK(calls.kernels() == (run == 0 ? 16 : 0));
        CHECK(calls.graphs() == (run == 0 ? 0 : 1));
        CHECK(calls.of("cuGraphAddKernelNode") == (run == 1 ? 16 : 0));
        CHECK(calls.changes() == 0);
        CHECK(calls.of("cuMemAlloc_v2") == 0);
        CHECK(p.is_right(16));
    }
    // Two kernels are as fast alone.
    const Calls calls;
    for (int run = 0; run < 3; run++)
        realize_chain(p.in, p.out, 2);
    CHECK(calls.kernels() == 6);
    CHECK(p.is_right(2));
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("other buffers, other values and other sizes between runs", "[gpu]") {
    start_anew();
    Pair first(40, 30), second(40, 30), small(20, 10);
    have_memory_for_chains();
    realize_chain(small.in, small.out, 3);
    for (int run = 0; run < 3; run++)
        realize_chain(first.in, first.out, 4);
    const Calls others;
    realize_chain(first.in, second.out, 4);
    CHECK(others.changes() == 1);  // of the last kernel
    realize_chain(second.in, second.out, 4);
    CHECK(others.changes() == 2);
    CHECK(others.graphs() == 2);
    CHECK(second.is_right(4));
    const Calls sizes;
    for (int run = 0; run < 3; run++) {
        realize_chain(small.in, small.out, 4);
        realize_chain(first.in, first.out, 4);
    }
    CHECK(sizes.kernels() == 4);
    CHECK(sizes.graphs() == 5);
    CHECK(small.is_right(4));
    CHECK(first.is_right(4));
    // Another kernel in between, which wants shared memory.
    for (int run = 0; run < 3; run++)
        for (int value : {1, 100 + run}) {
            Arg in("in", first.in), out("out", first.out);
            Run r;
            for (int i = 0; i < 3; i++)
                r.add(i == 0 ? in : out, out, i == 1 ? value : 1, DeviceWrite);
            r.finish();
            CHECK(first.is_right(2 + value));
        }
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("copies and code of the host come between the launches before and after", "[gpu]") {
    start_anew();
    for (int run = 0; run < 3; run++) {
        INFO(run);
        Buffer<int> in = counted(20, 10), middle(20, 10), out(20, 10), late(20, 10);
        late.fill(5);
        Arg input("in", in), between("middle", middle), output("out", out), other("late", late);
        have_memory_for_chains();
        Run r;
        const Calls calls;
        r.add_by_chain(input, between, 4);
        CHECK(calls.kernels() + calls.graphs() < 4);
        r.on_host(between.device, DeviceRead | DeviceWrite);
        CHECK(calls.kernels() + 4 * calls.graphs() == 4);
        CHECK(middle(3, 4) == 4007);
        middle.for_each_value([](int &v) { v *= 2; });
        r.add_by_chain(between, output, 3);
        r.add(other, output, 1, DeviceWrite | DeviceOverwrite);  // copies `late`
        r.add_by_chain(between, output, 3);
        r.finish();
        CHECK(out(3, 4) == 2 * 4007 + 3);
    }
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("what the host does with buffers that no kernel changes lets launches begin", "[gpu]") {
    Pair p(40, 30);
    have_memory_for_chains();
    Buffer<int> other(20, 10);
    Arg in("in", p.in), out("out", p.out), host("other", other);
    Run run;
    run.add_by_chain(in, out, 3);
    const Calls calls;
    run.on_host(host.device, DeviceWrite);
    CHECK(calls.kernels() + 3 * calls.graphs() == 3);
    run.finish();
    CHECK(p.is_right(3));
}

TEST_CASE("memory that launches use which wait is given to no one else", "[gpu]") {
    start_anew();
    Pair p(40, 30);
    Buffer<int> zero(40, 30), result(40, 30);
    zero.fill(0);
    realize_add(zero, result, 0);  // there is memory for both
    Arg in("in", p.in), out("out", p.out);
    {
        runtime::DeviceBuffer a, b;
        a.end = b.end = 4 * 40 * 30;
        Run run;
        run.on_device(in.device, DeviceRead);
        run.on_device(out.device, DeviceWrite | DeviceOverwrite);
        run.open(a);
        run.open(b);
        run.launch_chain(in.device.device, a.device, 40, 30, 1);
        run.launch_chain(a.device, b.device, 40, 30, 1);
        run.close(a);
        run.launch_chain(b.device, out.device.device, 40, 30, 1);
        run.close(b);
        // What waits for the whole device, and gives back and takes what is idle.
        release_memory();
        p.out.device_sync();
        realize_add(zero, result, 7);
        CHECK(result.all_equal(7));
        run.finish();
    }
    CHECK(p.is_right(3));
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a run whose memory is used up has that of its launches that wait", "[gpu]") {
    start_anew();
    Pair p(1000, 1000);  // 4 MB each, of 64
    Arg in("in", p.in), out("out", p.out);
    Run run;
    run.on_device(in.device, DeviceRead);
    run.on_device(out.device, DeviceWrite | DeviceOverwrite);
    uint64_t from = in.device.device;
    std::vector<runtime::DeviceBuffer> steps(6);
    for (size_t i = 0; i < steps.size(); i++) {
        steps[i].end = int64_t{4000000} + int64_t{4000000} * static_cast<int64_t>(i);
        run.open(steps[i]);
        run.launch_chain(from, steps[i].device, 1000, 1000, 1);
        if (i > 0)
            run.close(steps[i - 1]);
        from = steps[i].device;
    }
    run.launch_chain(from, out.device.device, 1000, 1000, 1);
    run.finish();
    CHECK(p.is_right(7));
}

TEST_CASE("graphs in the user's stream", "[gpu]") {
    start_anew();
    JITUserContext user = with_users_stream();
    Pair p(40, 30);
    for (int run = 0; run < 3; run++) {
        const Calls calls;
        realize_chain(p.in, p.out, 4, &user);
        CHECK(calls.of("cuStreamSynchronize") == 0);
        CHECK(calls.kernels() + 4 * calls.graphs() == 4);
        // Its storage is that of the stream until the work there is done.
        Buffer<int> zero(40, 30), other(40, 30);
        zero.fill(0);
        realize_chain(zero, other, 5);
        CHECK(other.all_equal(5));
        fake_cuda::synchronize_users_stream(user.cuda_stream);
        CHECK(p.is_right(4));
    }
    // What the user captures is no run of a graph of ours.
    const Calls captured;
    fake_cuda::capture_users_stream(user.cuda_stream, true);
    realize_chain(p.in, p.out, 4, &user);
    fake_cuda::capture_users_stream(user.cuda_stream, false);
    CHECK(captured.kernels() == 4);
    CHECK(captured.graphs() == 0);
    fake_cuda::fail_call("cuStreamIsCapturing", 1, 400);
    require_message<RuntimeError>([&] { realize_chain(p.in, p.out, 4, &user); },
                                  {"cuStreamIsCapturing", "(400)"});
    realize_chain(p.in, p.out, 4, &user);
    CHECK(p.is_right(4));
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("another run waits for the user's stream before launches are there", "[gpu]") {
    JITUserContext user = with_users_stream();
    Pair p(40, 30);
    have_memory_for_chains();
    Buffer<int> zero(40, 30), other(40, 30);
    zero.fill(0);
    realize_add(zero, other, 1);  // there is memory for it
    {
        Arg in("in", p.in), out("out", p.out);
        Run run(&user);
        run.on_device(in.device, DeviceRead);
        run.on_device(out.device, DeviceWrite | DeviceOverwrite);
        run.launch_chain(in.device.device, out.device.device, 40, 30, 1);
        realize_add(p.in, other, 1);
        CHECK(other(3, 4) == 4004);
        run.finish();
    }
    realize_add(zero, p.in, 5);  // after the run in the user's stream has read it
    fake_cuda::synchronize_users_stream(user.cuda_stream);
    CHECK(p.is_right(1));
}

TEST_CASE("several threads with the same kernels at once", "[gpu]") {
    start_anew();
    JITUserContext user = with_users_stream();
    for (JITUserContext *stream : {static_cast<JITUserContext *>(nullptr), &user}) {
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int t = 0; t < 4; t++)
            threads.emplace_back([&, t] {
                Buffer<int> in(20, 10), out(20, 10);
                in.fill(t);
                for (int i = 0; i < 50; i++) {
                    realize_chain(in, out, 4, stream);
                    wrong += !out.all_equal(t + 4);
                }
            });
        for (std::thread &t : threads)
            t.join();
        CHECK(wrong == 0);
    }
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("graphs go with the modules of their kernels", "[gpu]") {
    start_anew();
    CHECK(fake_cuda::live().graphs == 0);
    JITUserContext user = with_users_stream();
    Pair p(40, 30);
    for (int i = 0; i < 2; i++) {
        for (int run = 0; run < 3; run++) {
            realize_chain(p.in, p.out, 4);
            realize_chain(p.in, p.out, 4, &user);
        }
        CHECK(fake_cuda::live().graphs == 4);
        runtime::unload_module(cuda, add_module());
        CHECK(fake_cuda::live().graphs == 0);
        CHECK(p.is_right(4));
    }
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("only so many graphs are kept", "[gpu]") {
    start_anew();
    for (int size = 1; size <= 40; size++)
        for (int run = 0; run < 3; run++) {
            Pair p(16 * size, 4);
            realize_chain(p.in, p.out, 3);
            CHECK(p.is_right(3));
        }
    CHECK(fake_cuda::live().graphs == 2 * 32);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a graph with a kernel that fails, and the context that goes with it", "[gpu]") {
    start_anew();
    Buffer<int> in = counted(40, 30), out(40, 30);
    for (int run = 0; run < 4; run++)
        realize_chain(in, out, 4);
    fake_cuda::fail_kernel(2, 700);
    require_message<RuntimeError>(
        [&] { realize_chain(in, out, 4); },
        {"CUDA_ERROR_ILLEGAL_ADDRESS (700)", "Launched before in this run: 4 kernels", "'add'"});
    for (int run = 0; run < 4; run++) {
        const Calls calls;
        realize_chain(in, out, 4);
        CHECK(out(3, 4) == 4007);
        CHECK(calls.kernels() == (run < 2 ? 4 : 0));
    }
    CHECK(fake_cuda::live().graphs == 2);
    CHECK(live_now().allocations == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a graph that the driver refuses", "[gpu]") {
    Pair p(40, 30);
    for (const char *function :
         {"cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags"})
        for (int code : {2, 700}) {
            INFO(function << ", " << code);
            start_anew();
            have_memory_for_chains();
            realize_chain(p.in, p.out, 4);
            fake_cuda::fail_call(function, 1, code);
            if (code == 700) {
                require_message<RuntimeError>(
                    [&] { realize_chain(p.in, p.out, 4); },
                    {function, "(700)", "a graph of 4 kernels, from kernel 'add'", "'adder'"});
                p = Pair(40, 30);  // the old one is lost
            }
            for (int run = 0; run < 3; run++) {
                const Calls calls;
                realize_chain(p.in, p.out, 4);
                CHECK(p.is_right(4));
                if (code != 700)
                    CHECK(calls.kernels() == 4);
            }
        }
    start_anew();
    have_memory_for_chains();
    for (int run = 0; run < 2; run++)
        realize_chain(p.in, p.out, 4);
    fake_cuda::fail_call("cuGraphLaunch", 1, 999);
    require_message<RuntimeError>([&] { realize_chain(p.in, p.out, 4); },
                                  {"cuGraphLaunch", "CUDA_ERROR_UNKNOWN (999)",
                                   "a graph of 4 kernels, from kernel 'add'", "Fake GPU A"});
    realize_chain(p.in, p.out, 4);
    CHECK(p.is_right(4));
    start_anew();
    CHECK(fake_cuda::live().graphs == 0);
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("a launch that is refused among others names its kernel", "[gpu]") {
    Pair p(20, 10);
    fake_cuda::fail_call("cuLaunchKernel", 3, 701);
    start_anew();
    require_message<RuntimeError>(
        [&] { realize_chain(p.in, p.out, 4); },
        {"kernel 'add'", "cuLaunchKernel", "(701)", "Launched before in this run: 2 kernels"});
    // A run that fails elsewhere has launched what came before.
    {
        Arg in("in", p.in), out("out", p.out);
        Run run;
        run.add_by_chain(in, out, 3);
    }
    CHECK(p.is_right(3));
}

TEST_CASE("a long loop of launches", "[gpu]") {
    start_anew();
    Pair p(20, 10);
    for (int run = 0; run < 3; run++) {
        const Calls calls;
        realize_chain(p.in, p.out, 200);
        CHECK(p.is_right(200));
        CHECK(calls.of("cuMemAlloc_v2") <= 2);
    }
    CHECK(fake_cuda::misuse().empty());
}

TEST_CASE("times of kernels are of single launches", "[gpu]") {
    Pair p(20, 10);
    for (int i = 0; i < 3; i++) {
        std::vector<runtime::KernelTime> times;
        Arg in("in", p.in), out("out", p.out);
        Run run(nullptr, cuda, &times);
        const Calls calls;
        run.add_by_chain(in, out, 4);
        CHECK(calls.kernels() == 4);
        run.finish();
        REQUIRE(times.size() == 1);
        CHECK(times[0].launches == 4);
        CHECK(times[0].milliseconds == 10);
    }
}

TEST_CASE("a driver without graphs", "[.][no-graphs]") {
    fake_cuda::settings().version = 11020;
    Pair p(40, 30);
    for (int run = 0; run < 3; run++) {
        Arg in("in", p.in), out("out", p.out);
        Run r;
        const Calls calls;
        r.add_by_chain(in, out, 4);
        CHECK(calls.kernels() == 4);  // at once
        r.finish();
        CHECK(p.is_right(4));
    }
}

TEST_CASE("a driver without graphs (in a new process)", "[gpu]") {
    CHECK(run_in_new_process("'[no-graphs]'") == "");
}
