#include "jit/runtime/gpu/cuda/disk_cache.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "support/env.h"

namespace Pipe::runtime::cuda {

namespace fs = std::filesystem;

namespace {

constexpr uint64_t largest_folder = 256 << 20;
constexpr const char *ending = ".cubin";

/// Begins a file; then come the bytes that it is about.
struct Header {
    char format[8] = {'P', 'i', 'p', 'e', 'G', 'P', 'U', '2'};
    uint64_t bytes = 0;
    XXH128_canonical_t checksum = {};
};

/// 128 bits of a text: enough to tell it from all others, though not from one made to deceive, which nobody
/// else can put into a private folder.
XXH128_canonical_t checksum_of(const std::string &text) {
    XXH128_canonical_t result;
    XXH128_canonicalFromHash(&result, XXH3_128bits(text.data(), text.size()));
    return result;
}

/// The folder; "" where there is none to use: of others' making, or writable by others, it might
/// hold others' code.
std::string private_folder() {
    const std::string folder = support::gpu_cache_folder();
    if (folder.empty())
        return "";
    std::error_code ignored;
    fs::create_directories(fs::path(folder).parent_path(), ignored);
    mkdir(folder.c_str(), 0700);
    struct stat info {};
    const bool fine = lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                      info.st_uid == geteuid() && (info.st_mode & 022) == 0;
    return fine ? folder : "";
}

/// Removes the files that were used longest ago where the folder has become too large.
void bound_folder(const std::string &folder) {
    struct File {
        fs::file_time_type time;
        uint64_t bytes;
        fs::path path;
    };
    std::vector<File> files;
    std::error_code error;
    uint64_t sum = 0;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
        File file{at->last_write_time(error), 0, at->path()};
        file.bytes = at->file_size(error);
        if (error || file.path.extension() != ending)
            continue;
        sum += file.bytes;
        files.push_back(std::move(file));
    }
    std::sort(files.begin(), files.end(),
              [](const File &a, const File &b) { return a.time < b.time; });
    for (size_t i = 0; i < files.size() && sum > largest_folder; i++) {
        fs::remove(files[i].path, error);
        sum -= files[i].bytes;
    }
}

bool write_all(int file, const void *data, size_t bytes) {
    const char *at = static_cast<const char *>(data);
    while (bytes > 0) {
        const ssize_t n = write(file, at, bytes);
        if (n <= 0)
            return false;
        at += n;
        bytes -= static_cast<size_t>(n);
    }
    return true;
}

}  // namespace

std::string cache_key(const std::string &ptx, int capability, int driver_version) {
    const auto checksum = checksum_of(fmt::format("{} {} {}", capability, driver_version, ptx));
    return fmt::format("{:02x}", fmt::join(checksum.digest, ""));
}

std::string read_cached(const std::string &key) {
    const std::string folder = private_folder();
    if (folder.empty())
        return "";
    const std::string path = folder + "/" + key + ending;
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    Header header;
    const Header expected;
    if (!in || text.size() < sizeof header)
        return "";
    std::memcpy(&header, text.data(), sizeof header);
    text.erase(0, sizeof header);
    const XXH128_canonical_t checksum = checksum_of(text);
    if (std::memcmp(header.format, expected.format, sizeof header.format) != 0 ||
        header.bytes != text.size() ||
        std::memcmp(&header.checksum, &checksum, sizeof checksum) != 0)
        return "";
    utimensat(AT_FDCWD, path.c_str(), nullptr, 0);  // used now
    return text;
}

void write_cached(const std::string &key, const std::string &cubin) {
    const std::string folder = private_folder();
    if (folder.empty())
        return;
    static std::atomic<int> count{0};
    const std::string path = folder + "/" + key + ending;
    const std::string temporary = fmt::format("{}.{}.{}", path, getpid(), count++);
    Header header;
    header.bytes = cubin.size();
    header.checksum = checksum_of(cubin);
    const int file =
        open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file < 0)
        return;
    const bool written =
        write_all(file, &header, sizeof header) && write_all(file, cubin.data(), cubin.size());
    if (close(file) != 0 || !written || rename(temporary.c_str(), path.c_str()) != 0)
        unlink(temporary.c_str());
    else
        bound_folder(folder);
}

}  // namespace Pipe::runtime::cuda
