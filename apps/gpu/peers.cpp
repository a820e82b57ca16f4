#include "apps/gpu/peers.h"

#include "apps/bench/peers/gpu_peer_api.h"
#include "apps/bench/peers/pipe_arrays.h"
#include "apps/common/arrays.h"

#include <filesystem>
#include <optional>
#include <stdexcept>

#include <dlfcn.h>

namespace gpu {
namespace {

struct Library {
    decltype(&pipe_peer_variants) variants;
    decltype(&pipe_peer_prepare) prepare;
    decltype(&pipe_peer_run_prepared) run;
    decltype(&pipe_peer_finish) finish;
};

/// In the folder of this program. Stays loaded until the process ends.
std::optional<Library> load_library() {
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    void *handle = dlopen((here / "libpipe_gpu_peers_halide.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return std::nullopt;
    Library library{};
    auto load = [&](auto &function, const char *symbol) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, symbol));
        if (!function)
            throw std::runtime_error(std::string("the library of peers has no ") + symbol);
    };
    load(library.variants, "pipe_peer_variants");
    load(library.prepare, "pipe_peer_prepare");
    load(library.run, "pipe_peer_run_prepared");
    load(library.finish, "pipe_peer_finish");
    return library;
}

const std::optional<Library> &library() {
    static const std::optional<Library> loaded = load_library();
    return loaded;
}

/// One variant, with its arrays on the device.
class Prepared {
  public:
    Prepared(int index, const std::vector<Pipe::Buffer<>> &inputs, const Pipe::Buffer<> &output) {
        std::vector<PeerArray> in;
        for (const Pipe::Buffer<> &input : inputs)
            in.push_back(bench::peer_array(input));
        const PeerArray out = bench::peer_array(output);
        run_ = library()->prepare(index, in.data(), int(in.size()), &out);
        if (!run_)
            throw std::runtime_error("the arrays could not be copied to the device");
    }
    ~Prepared() {
        if (run_)
            library()->finish(run_, false);
    }
    Prepared(const Prepared &) = delete;

    void run() {
        if (library()->run(run_) != 0)
            throw std::runtime_error("the kernels reported an error");
    }
    void copy_to_host() {
        if (library()->finish(std::exchange(run_, nullptr), true) != 0)
            throw std::runtime_error("the output could not be copied to the host");
    }

  private:
    PeerRun *run_ = nullptr;
};

}  // namespace

std::vector<Timing> time_peers_on_gpu(const apps::App &app, double seconds) {
    std::vector<Timing> rows;
    if (!library())
        return rows;
    const std::unique_ptr<apps::Program> program = app.make();
    const std::vector<Pipe::Buffer<>> inputs = apps::make_inputs(app, *program, app.size);
    Pipe::Buffer<> expected;
    int count = 0;
    const PeerVariant *variants = library()->variants(&count);
    for (int i = 0; i < count; ++i) {
        if (!bench::names(variants[i].app, app.name))
            continue;
        Timing timing;
        timing.app = app.name;
        timing.variant = variants[i].variant;
        timing.failure = variants[i].failure;
        timing.size = app.size;
        if (timing.failure.empty()) {
            try {
                const Pipe::Buffer<> output = apps::make_output(app, *program, app.size);
                Prepared variant(i, inputs, output);
                time_calls([&] { variant.run(); }, seconds, timing);
                variant.copy_to_host();
                if (!expected.defined())
                    expected = result_of_cpu(app, inputs, app.size);
                compare(app, output, expected, timing);
            } catch (const std::exception &error) {
                timing.failure = error.what();
            }
        }
        rows.push_back(timing);
    }
    return rows;
}

}  // namespace gpu
