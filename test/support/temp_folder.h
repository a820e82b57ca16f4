#pragma once
// A folder of its own for a test, gone at the end of it.

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include <unistd.h>

class TempFolder {
  public:
    TempFolder() {
        static std::atomic<int> count = 0;
        path_ = std::filesystem::temp_directory_path() /
                ("pipe_test_" + std::to_string(getpid()) + "_" + std::to_string(count++));
        std::filesystem::create_directories(path_);
    }
    ~TempFolder() { std::filesystem::remove_all(path_); }
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;

    /// The path of a file in it.
    std::string operator/(const std::string &name) const { return (path_ / name).string(); }

    std::string read(const std::string &name) const {
        std::ifstream in(path_ / name, std::ios::binary);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void write(const std::string &name, const std::string &bytes) const {
        std::ofstream(path_ / name, std::ios::binary) << bytes;
    }
    void rename(const std::string &from, const std::string &to) const {
        std::filesystem::rename(path_ / from, path_ / to);
    }

  private:
    std::filesystem::path path_;
};
