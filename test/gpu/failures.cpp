// Every failure of every call of the driver: the error names it, nothing is left behind, and what comes next works.

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "test/gpu/fixture.h"
#include "test/support/require_message.h"

using namespace gpu_test;

namespace {

/// All codes of CUresult that CUDA 13 has.
std::vector<int> all_codes() {
    std::vector<int> codes = {34,  36,  46,  600, 900, 901, 902, 903, 904, 905, 906, 907,
                              908, 909, 910, 911, 912, 913, 914, 915, 916, 917, 999};
    auto add = [&](int first, int last) {
        for (int c = first; c <= last; c++)
            codes.push_back(c);
    };
    add(1, 8);
    add(100, 102);
    add(200, 226);
    add(300, 304);
    add(400, 402);
    add(500, 500);
    add(700, 721);
    add(800, 812);
    return codes;
}

/// A graph of launches is made, used as it is, and used with other parameters. The user has a stream, too.
void use_graphs(const Buffer<int> &in, const Buffer<int> &out) {
    Buffer<int> other(40, 30);
    other.device_malloc(Target("host-cuda"));
    for (int i = 0; i < 5; i++) {
        const Buffer<int> &result = i < 4 ? out : other;
        realize_chain(in, result, 4);
        result.copy_to_host();
        if (result(3, 4) != 4007)
            throw InternalError("a graph gives wrong elements");
    }
    static JITUserContext user;
    user.cuda_stream = fake_cuda::make_users_stream();
    realize_chain(in, out, 3, &user);
    out.device_sync();
}

/// Uses all that there is of the run time. Throws what fails.
void use_everything() {
    const Target cuda("host-cuda");
    Buffer<int> in = counted(40, 30), out(40, 30);
    std::vector<runtime::KernelTime> times;
    realize_add(in, out, 100, nullptr, &times);
    if (out(3, 4) != 4103)
        throw InternalError("a run gives wrong elements");
    realize_add(in.cropped(0, 4, 8), out.cropped(0, 4, 8), 1);
    JITUserContext other;
    other.gpu_device = 1;
    realize_add(in, out, 3, &other);
    in.copy_to_device(cuda);
    out.device_malloc(cuda);
    realize_add(in, out, 7);
    out.device_sync();
    out.copy_to_host();
    if (out(3, 4) != 4010)
        throw InternalError("a run with resident Buffers gives wrong elements");
    use_graphs(in, out);
    out.device_free();
    in.device_free();
    release_memory();
    runtime::unload_module(cuda, add_module());
}

bool is_of_graphs(const std::string &function) {
    return function == "cuGraphCreate" || function == "cuGraphAddKernelNode" ||
           function == "cuGraphInstantiateWithFlags" ||
           function == "cuGraphExecKernelNodeSetParams";
}

/// Failures of these are no one's business: what they were to free stays, or is freed later.
bool may_be_silent(const std::string &function, int n) {
    static const char *const silent[] = {"cuModuleUnload",     "cuMemFree_v2",
                                         "cuLinkDestroy",      "cuEventDestroy_v2",
                                         "cuCtxPopCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
                                         "cuGraphDestroy",     "cuGraphExecDestroy"};
    for (const char *name : silent)
        if (function == name)
            return true;
    // Without a graph, kernels are launched one by one.
    if (is_of_graphs(function))
        return true;
    // release_memory() and the like wait, and try again another time.
    return function == "cuCtxSynchronize" ||
           (n > 1 && (function == "cuMemAlloc_v2" || function == "cuStreamSynchronize" ||
                      function == "cuCtxGetCurrent" || function == "cuCtxPushCurrent_v2"));
}

std::string without_version(const std::string &function) {
    return function.substr(0, function.rfind("_v2"));
}

/// "" where everything is as it has to be.
std::string problem_after(const std::string &function, int n, int code) {
    std::string said;
    fake_cuda::fail_call(function, n, code);
    try {
        use_everything();
    } catch (const RuntimeError &error) {
        said = error.what();
    }
    fake_cuda::fail_nothing();
    if (said.empty() && !may_be_silent(function, n))
        return "no error";
    for (const std::string &part : {without_version(function), fmt::format("({})", code)})
        if (!may_be_silent(function, n) && said.find(part) == std::string::npos)
            return "the message does not say " + part + ": " + said;
    try {
        use_everything();
        use_everything();
    } catch (const Error &error) {
        return std::string("the next run fails: ") + error.what();
    }
    const fake_cuda::Live live = fake_cuda::live();
    // What could not be freed stays.
    const int64_t kept = may_be_silent(function, n);
    if (live.allocations > 16 * kept || live.modules > 2 * kept || live.links > kept ||
        live.graphs > 4 * kept || live.events > 2 * kept || live.pushed_contexts > kept)
        return fmt::format("{} allocations, {} modules, {} links, {} contexts are left",
                           live.allocations, live.modules, live.links, live.pushed_contexts);
    // The user's stream goes with the context, where its loss was nobody's business.
    const std::string misuse = fake_cuda::misuse();
    return misuse == "a dead stream" && runtime::cuda::loses_context(code) ? "" : misuse;
}

/// In a child, so that the driver is new each time.
bool passes(const std::string &function, int n, int code) {
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        std::string problem;
        try {
            problem = problem_after(function, n, code);
        } catch (const std::exception &error) {
            problem = error.what();
        }
        if (!problem.empty()) {
            std::fprintf(stderr, "call %d of %s fails with %d: %s\n", n, function.c_str(), code,
                         problem.c_str());
            std::fflush(stderr);
        }
        _exit(problem.empty() ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status))
        std::fprintf(stderr, "call %d of %s fails with %d: the process was killed\n", n,
                     function.c_str(), code);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// How often each function is called, in a child.
std::map<std::string, int> counted_calls() {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    if (child == 0) {
        use_everything();
        std::string text;
        for (const auto &[function, count] : fake_cuda::calls())
            text += fmt::format("{} {}\n", function, count);
        _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0
                                                                                            : 1);
    }
    close(ends[1]);
    std::map<std::string, int> calls;
    FILE *in = fdopen(ends[0], "r");
    char name[128];
    for (int count = 0; std::fscanf(in, "%127s %d", name, &count) == 2;)
        calls[name] = count;
    std::fclose(in);
    waitpid(child, nullptr, 0);
    return calls;
}

}  // namespace

// In a process of its own, which has not used the driver.
TEST_CASE("each call of the driver fails in each way", "[.][driver-failures]") {
    const std::map<std::string, int> calls = counted_calls();
    int cases = 0, failed = 0;
    auto check = [&](const std::string &function, int n, int code) {
        cases++;
        failed += !passes(function, n, code);
    };
#define FAKE_CUDA_NAME(member, name, parameters) #name,
    for (const std::string function :
         {PIPE_CUDA_ENTRIES(FAKE_CUDA_NAME) PIPE_CUDA_GRAPH_ENTRIES(FAKE_CUDA_NAME)}) {
        if (function.rfind("cuGetError", 0) == 0)
            continue;
        INFO(function);
        auto found = calls.find(function);
        const bool after_failures =
            function.rfind("cuDevicePrimaryCtxRe", 0) == 0 || function == "cuFuncGetAttribute" ||
            function == "cuCtxGetDevice" || function == "cuCtxPushCurrent_v2";
        CHECK((found != calls.end() || after_failures));
        if (found == calls.end())
            continue;
        for (int code : all_codes())
            check(function, 1, code);
        for (int n = 2; n <= found->second; n++)
            for (int code : {2, 700, 999})
                check(function, n, code);
    }
    CHECK(failed == 0);
    CHECK(cases > 2500);
}

TEST_CASE("each call of the driver fails in each way (in a new process)", "[gpu]") {
    CHECK(run_in_new_process("'[driver-failures]'") == "");
}
