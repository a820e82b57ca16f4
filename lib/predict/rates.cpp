#include "predict/rates.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

#include <pipe/error.h>

#include "support/env.h"
#include "support/processors.h"

namespace Pipe::predict {

namespace {

using RateClock = std::chrono::steady_clock;

double nanoseconds_since(RateClock::time_point start) {
    return std::chrono::duration<double, std::nano>(RateClock::now() - start).count();
}

/// A value that the compiler knows nothing of.
void hide(uint64_t &x) {
    asm volatile("" : "+r"(x));
}

/// Multiplications that wait for each other: current processors take three clocks for each.
double measure_ghz() {
    constexpr int count = 100000, attempts = 30;
    constexpr double latency = 3;
    double best = 0;
    for (int i = 0; i < attempts; i++) {
        uint64_t x = 3, odd = 0x9e3779b97f4a7c15;
        hide(odd);
        const auto start = RateClock::now();
        for (int k = 0; k < count; k++) {
            x *= odd;
            hide(x);
        }
        best = std::max(best, latency * count / nanoseconds_since(start));
    }
    return best;
}

/// Touches each cache line; several at a time.
void read(const uint64_t *data, size_t words) {
    constexpr size_t line = 8;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    for (size_t i = 0; i + 4 * line <= words; i += 4 * line)
        a += data[i], b += data[i + line], c += data[i + 2 * line], d += data[i + 3 * line];
    a += b + c + d;
    hide(a);
}

/// Bytes per nanosecond of repeated reading, the best of several attempts within `budget` nanoseconds.
double reading_rate(const std::vector<uint64_t> &data, size_t words, double budget) {
    constexpr double shortest = 50e3;
    double best = 0, once = shortest;
    for (const auto begin = RateClock::now(); best == 0 || nanoseconds_since(begin) < budget;) {
        const int times = static_cast<int>(std::clamp(shortest / once, 1.0, 1000.0));
        const auto start = RateClock::now();
        for (int i = 0; i < times; i++)
            read(data.data(), words);
        once = std::max(1.0, nanoseconds_since(start) / times);
        best = std::max(best, static_cast<double>(words * sizeof(uint64_t)) / once);
    }
    return best;
}

/// The same of stores that bypass the caches; of plain stores where there is no such instruction.
double streaming_rate(std::vector<uint64_t> &data) {
    constexpr int attempts = 3;
    double best = 0;
    for (int i = 0; i < attempts; i++) {
        const auto start = RateClock::now();
#if defined(__x86_64__)
        for (uint64_t &word : data)
            _mm_stream_si64(reinterpret_cast<long long *>(&word), 1);
        _mm_sfence();
#else
        std::fill(data.begin(), data.end(), 1);
#endif
        best = std::max(best, static_cast<double>(data.size() * sizeof(uint64_t)) /
                                  nanoseconds_since(start));
    }
    return best;
}

/// Bytes per nanosecond if all cores work on parts of so many words at the same time.
template <typename Work> double rate_of_all(size_t words, int cores, Work &&work) {
    constexpr int attempts = 3;
    const size_t part = words / static_cast<size_t>(cores);
    double best = 0;
    for (int i = 0; i < attempts; i++) {
        std::atomic<int> waiting{cores};
        std::vector<std::thread> threads;
        RateClock::time_point start;
        for (int t = 0; t < cores; t++)
            threads.emplace_back([&, t] {
                if (--waiting == 0)
                    start = RateClock::now();
                while (waiting > 0)
                    std::this_thread::yield();
                work(static_cast<size_t>(t) * part, part);
            });
        for (std::thread &t : threads)
            t.join();
        best = std::max(best,
                        static_cast<double>(words * sizeof(uint64_t)) / nanoseconds_since(start));
    }
    return best;
}

double reading_rate_of_all(const std::vector<uint64_t> &data, int cores) {
    return rate_of_all(data.size(), cores,
                       [&](size_t begin, size_t words) { read(data.data() + begin, words); });
}

/// Not by memcpy, which may bypass the caches.
void copy(const uint64_t *from, uint64_t *to, size_t words) {
    size_t i = 0;
#if defined(__x86_64__)
    for (; i + 2 <= words; i += 2)
        _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i)));
#endif
    for (; i < words; i++) {
        uint64_t word = from[i];
        hide(word);
        to[i] = word;
    }
}

/// A line is read before it is written.
double copying_rate_of_all(std::vector<uint64_t> &data, int cores) {
    constexpr double passes = 3;
    const size_t half = data.size() / 2;
    return passes * rate_of_all(half, cores, [&](size_t begin, size_t words) {
               copy(data.data() + begin, data.data() + half + begin, words);
           });
}

std::string file_of_rates() {
    const std::string chosen = support::env("PIPE_MACHINE");
    if (!chosen.empty())
        return chosen == "0" ? "" : chosen;
    const std::string folder = support::cache_folder();
    return folder.empty() ? "" : folder + "/machine";
}

/// A file that the user named has to be right; another one may be of an earlier version.
std::optional<Rates> read_rates(const std::string &file) {
    std::ifstream in(file);
    if (!in)
        return std::nullopt;
    try {
        return parse_rates({std::istreambuf_iterator<char>(in), {}});
    } catch (const RuntimeError &) {
        if (!support::env("PIPE_MACHINE").empty())
            throw;
        return std::nullopt;
    }
}

Rates measure_machine() {
    const support::Topology &here = support::topology();
    auto known = [](int64_t bytes, double otherwise) {
        return bytes > 0 ? static_cast<double>(bytes) : otherwise;
    };
    return measure_rates(known(here.l2_bytes, 1e6), known(here.l3_bytes, 16e6),
                         support::usable_processors());
}

Rates read_or_measure() {
    const std::string file = file_of_rates();
    if (support::env("PIPE_MACHINE") == "0")
        return {};
    if (const std::optional<Rates> known = read_rates(file))
        return *known;
    const Rates rates = measure_machine();
    std::error_code error;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path(), error);
    std::ofstream(file) << to_string(
        rates);  // if it cannot be written, the next process measures again
    return rates;
}

}  // namespace

Rates measure_rates(double l2_bytes, double l3_bytes, int cores) {
    constexpr double most = 512e6, budget = 20e6;  // bytes; nanoseconds
    auto words = [](double bytes) { return static_cast<size_t>(bytes / sizeof(uint64_t)); };
    Rates rates;
    rates.ghz = measure_ghz();
    std::vector<uint64_t> data(words(std::min(most, 2 * l3_bytes)), 1);
    rates.l2 = reading_rate(data, words(l2_bytes / 2), budget) / rates.ghz;
    const double in_l3 =
        std::clamp(l3_bytes / 8, std::min(2 * l2_bytes, l3_bytes), std::max(2 * l2_bytes, 16e6));
    rates.l3 = reading_rate(data, words(in_l3), budget) / rates.ghz;
    rates.memory = reading_rate(data, data.size(), budget) / rates.ghz;
    rates.streams = streaming_rate(data) / rates.ghz;
    rates.memory_of_all = std::max(rates.memory, reading_rate_of_all(data, cores) / rates.ghz);
    rates.copies = copying_rate_of_all(data, cores) / rates.ghz;
    // What is far below the rates of current machines is that of a busy one.
    const Rates typical;
    constexpr double least = 0.5;
    rates.ghz = std::max(rates.ghz, least * typical.ghz);
    rates.l2 = std::max(rates.l2, least * typical.l2);
    rates.l3 = std::max(rates.l3, least * typical.l3);
    rates.memory = std::max(rates.memory, least * typical.memory);
    rates.memory_of_all = std::max(rates.memory_of_all, rates.memory);
    rates.copies =
        std::max(rates.copies, least * std::min(typical.copies, cores * typical.streams));
    return rates;
}

std::string to_string(const Rates &r) {
    return fmt::format("ghz {}\nl2 {}\nl3 {}\nmemory {}\nmemory_of_all {}\nstreams {}\ncopies {}\n",
                       r.ghz, r.l2, r.l3, r.memory, r.memory_of_all, r.streams, r.copies);
}

Rates parse_rates(const std::string &text) {
    Rates r;
    const std::pair<const char *, double *> fields[] = {{"ghz", &r.ghz},
                                                        {"l2", &r.l2},
                                                        {"l3", &r.l3},
                                                        {"memory", &r.memory},
                                                        {"memory_of_all", &r.memory_of_all},
                                                        {"streams", &r.streams},
                                                        {"copies", &r.copies}};
    for (const auto &[name, value] : fields) {
        const std::string label = std::string(name) + " ";
        const size_t at = text.rfind(label, 0) == 0 ? 0 : text.find("\n" + label);
        *value =
            at == std::string::npos ? 0 : std::atof(text.c_str() + at + label.size() + (at > 0));
        if (!(*value > 0))
            throw RuntimeError(
                fmt::format("PIPE_MACHINE: the file of measured rates has no positive number '{}'. "
                            "Remove the file, so that the rates are measured again.",
                            name));
    }
    return r;
}

const Rates &rates_of_machine() {
    static const Rates rates = read_or_measure();
    return rates;
}

}  // namespace Pipe::predict
