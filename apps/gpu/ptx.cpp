#include "apps/gpu/ptx.h"

#include "apps/gpu/temporary_file.h"
#include "codegen/codegen.h"
#include "driver/compiled.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace gpu {

Pipe::Target target_of(int sm) {
    return Pipe::Target("host-cuda-cuda_capability_" + std::to_string(sm));
}

namespace {

Pipe::driver::Compiled compiled(const Pipe::Func &output, const Pipe::driver::Settings &settings) {
    return Pipe::driver::Compiled({output}, settings, settings.target, nullptr);
}

}  // namespace

std::string ptx_of(const Pipe::Func &output, const Pipe::Target &target) {
    return Pipe::codegen::ptx(compiled(output, {target, std::nullopt}).program(), target);
}

ChosenKernels chosen_kernels(const Pipe::Func &output, const Pipe::Target &target) {
    const Pipe::driver::Settings settings{target, Pipe::AutoscheduleOptions()};
    Pipe::driver::Compiled chosen = compiled(output, settings);
    std::string ptx = Pipe::codegen::ptx(chosen.program(), target);
    return {std::move(ptx), Pipe::driver::report_text(chosen, settings)};
}

void compile_for_cpu(const Pipe::Func &output) {
    const Pipe::Target target = Pipe::get_host_target();
    Pipe::codegen::compile(compiled(output, {target, std::nullopt}).program(), target);
}

/// That of the PATH, else of CUDA's usual folder; "" where there is none.
std::string find_ptxas() {
    std::string place;
    if (FILE *answer = popen("command -v ptxas || ls /usr/local/cuda/bin/ptxas 2>/dev/null", "r")) {
        for (int c; (c = std::fgetc(answer)) != EOF && c != '\n';)
            place += static_cast<char>(c);
        pclose(answer);
    }
    return place;
}

namespace {

/// The number before `what` in the line; 0 where it is not there.
int64_t number_before(const std::string &line, const std::string &what) {
    std::smatch found;
    return std::regex_search(line, found, std::regex("([0-9]+) " + what)) ? std::stoll(found[1])
                                                                          : 0;
}

std::vector<Kernel> kernels_in(const std::string &report) {
    std::vector<Kernel> kernels;
    std::istringstream lines(report);
    for (std::string line; std::getline(lines, line);) {
        std::smatch found;
        if (std::regex_search(line, found, std::regex("Compiling entry function '([^']*)'"))) {
            kernels.push_back({found[1]});
        } else if (!kernels.empty() && line.find("bytes stack frame") != std::string::npos) {
            Kernel &k = kernels.back();
            k.stack_bytes = std::max(k.stack_bytes, number_before(line, "bytes stack frame"));
            k.spilled_bytes += number_before(line, "bytes spill stores") +
                               number_before(line, "bytes spill loads");
        } else if (!kernels.empty() && line.find("Used ") != std::string::npos) {
            kernels.back().registers = int(number_before(line, "registers"));
            kernels.back().shared_bytes = number_before(line, "bytes smem");
        }
    }
    return kernels;
}

}  // namespace

std::vector<Kernel> assemble(const std::string &ptx, int sm) {
    TemporaryFile file, binary;
    std::ofstream(file.path()) << ptx.substr(0, ptx.find_last_not_of('\0') + 1);
    const std::string command = find_ptxas() + " -v -arch sm_" + std::to_string(sm) + " -o " +
                                binary.path() + " " + file.path() + " 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE *)> output(popen(command.c_str(), "r"),
                                                        [](FILE *) { return 0; });
    if (!output)
        throw std::runtime_error("cannot start " + command);
    std::string report;
    for (char text[4096]; std::fgets(text, sizeof text, output.get());)
        report += text;
    if (pclose(output.get()) != 0)
        throw std::runtime_error(command + ":\n" + report);
    return kernels_in(report);
}

double occupancy(int threads, int registers, int64_t shared_bytes) {
    constexpr int max_threads = 2048, max_blocks = 32, all_registers = 65536, warp = 32;
    constexpr int64_t all_shared = 164 << 10, reserved = 1 << 10;  // of each block
    const int warps = (threads + warp - 1) / warp;
    const int of_warp =
        (std::max(registers, 1) * warp + 255) / 256 * 256;  // registers are given in units of 256
    int64_t blocks = std::min<int64_t>(max_blocks, max_threads / (warps * warp));
    blocks = std::min<int64_t>(blocks, all_registers / of_warp / warps);
    blocks = std::min(blocks, all_shared / (shared_bytes + reserved));
    return double(blocks * warps * warp) / max_threads;
}

}  // namespace gpu
