# What the library needs from the distribution.

# Several LLVM versions may live side by side: take 19 from its own prefix, never another one.
find_package(LLVM 19.1 REQUIRED CONFIG
  HINTS ENV LLVM_DIR
  PATHS /usr/lib/llvm-19 /usr/lib64/llvm19 /opt/homebrew/opt/llvm@19 /usr/local/opt/llvm@19)
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

# isl ships no CMake package. Its own C++ bindings (isl/cpp.h) are used, inside lib/poly only.
find_path(ISL_INCLUDE_DIR isl/cpp.h REQUIRED)
find_library(ISL_LIBRARY isl REQUIRED)
add_library(pipe_isl INTERFACE)
target_include_directories(pipe_isl SYSTEM INTERFACE ${ISL_INCLUDE_DIR})
target_link_libraries(pipe_isl INTERFACE ${ISL_LIBRARY})

# The processors and caches of the machine. Used inside lib/support only.
find_path(HWLOC_INCLUDE_DIR hwloc.h REQUIRED)
find_library(HWLOC_LIBRARY hwloc REQUIRED)
add_library(pipe_hwloc INTERFACE)
target_include_directories(pipe_hwloc SYSTEM INTERFACE ${HWLOC_INCLUDE_DIR})
target_link_libraries(pipe_hwloc INTERFACE ${HWLOC_LIBRARY})

# Checksums of files. Headers without a library, inside jit/runtime only.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(pipe_xxhash INTERFACE)
target_include_directories(pipe_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})

# The shared libLLVM: one copy in the process, quick links.
add_library(pipe_llvm INTERFACE)
target_include_directories(pipe_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIRS})
target_link_libraries(pipe_llvm INTERFACE LLVM)

find_package(fmt REQUIRED CONFIG)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(Threads REQUIRED)
# Schedule files, inside lib/driver only. Headers without a library: users of Pipe do not need them.
find_package(nlohmann_json 3.10 REQUIRED CONFIG)
