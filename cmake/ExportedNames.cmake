# Build script: writes a version script for the linker that exports names of the namespace Pipe, and
# nothing else (LLVM, isl, fmt, instances of the standard library's templates). Without INTERNALS,
# only names that public headers declare: not those of the layers' namespaces.

cmake_policy(VERSION 3.25)

set(layers autoschedule codegen driver graph image_io ir jit language lower poly predict reference region runtime support)
set(declared "^_ZN4Pipe2ir(6retain|7release|ls)")  # in <pipe/expr.h> and <pipe/stream.h>

# Functions and objects, type information, virtual and thread-local ones, static ones of functions.
set(prefix "^_Z(T[A-Z]|T[hv][n0-9_]+|GV|Z)*NK?4Pipe")
set(runtime_functions "^pipe_")  # jit/runtime/abi.h; only for tests
set(mangled "")
foreach(layer IN LISTS layers)
  string(LENGTH ${layer} length)
  list(APPEND mangled "${length}${layer}")
endforeach()
list(JOIN mangled "|" mangled)

string(REPLACE "," ";" OBJECTS "${OBJECTS}")
execute_process(COMMAND ${NM} --extern-only --defined-only --format=just-symbols ${OBJECTS}
  OUTPUT_VARIABLE names COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE "\n" ";" names "${names}")
list(FILTER names INCLUDE REGEX "${prefix}|${runtime_functions}")
if(NOT INTERNALS)
  set(public ${names})
  list(FILTER public EXCLUDE REGEX "${prefix}(${mangled})|${runtime_functions}")
  list(FILTER names INCLUDE REGEX "${declared}")
  list(APPEND names ${public})
endif()
list(SORT names)
list(REMOVE_DUPLICATES names)
list(JOIN names ";\n    " names)
file(WRITE ${OUTPUT} "{\n  global:\n    ${names};\n  local:\n    *;\n};\n")
