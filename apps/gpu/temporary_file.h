// Files of other programs, or that Pipe writes and reads again.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace gpu {

/// A file that is removed at the end.
class TemporaryFile {
  public:
    TemporaryFile() {
        std::string name = std::filesystem::temp_directory_path() / "pipe_kernels_XXXXXX";
        const int file = mkstemp(name.data());
        if (file < 0)
            throw std::runtime_error("cannot create a file like " + name);
        close(file);
        path_ = name;
    }
    ~TemporaryFile() { std::filesystem::remove(path_); }
    TemporaryFile(const TemporaryFile &) = delete;
    const std::string &path() const { return path_; }

  private:
    std::string path_;
};

}  // namespace gpu
