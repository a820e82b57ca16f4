# How we compile our own code. Nothing here reaches users of the installed package.

# ccache caches what includes a precompiled header only if told that macros of the time are of no
# consequence, and only if the preprocessor keeps the header as a line of its output. Comments count
# for its hash: a precompiled header holds checksums of the files in it, by which "#pragma once"
# recognizes them, so one from before a change of a comment would define everything twice.
find_program(PIPE_CCACHE ccache)
if(PIPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    CCACHE_COMMENTS=1 ${PIPE_CCACHE})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

if(PIPE_ASAN AND PIPE_TSAN)
  message(FATAL_ERROR "PIPE_ASAN and PIPE_TSAN exclude each other")
endif()

add_library(pipe_build_options INTERFACE)
target_compile_options(pipe_build_options INTERFACE -Wall -Wextra)
# A file of a unity build is a header to GCC, whose anonymous types it warns about in templates.
if(PIPE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(pipe_build_options INTERFACE -Wno-subobject-linkage)
endif()
# GCC 12 warns about std::string's and std::vector's own code where two strings are added or an element is inserted
# (GCC bug 105651), and about LLVM's classes with an operator new of their own, which it inlines.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(pipe_build_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-mismatched-new-delete)
endif()
if(PIPE_ASAN)
  target_compile_options(pipe_build_options INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer)
  target_link_options(pipe_build_options INTERFACE -fsanitize=address,undefined)
elseif(PIPE_TSAN)
  target_compile_options(pipe_build_options INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(pipe_build_options INTERFACE -fsanitize=thread)
endif()
