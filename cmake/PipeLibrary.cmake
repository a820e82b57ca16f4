# Each room is an object library, so that one room can be built alone (ninja pipe_lower); all of
# them together are the one library that users link. The order is the layering of the rooms.

set(PIPE_ALL_ROOMS support ir image_io schedule graph poly region reference autoschedule lower
    codegen jit driver)
set(PIPE_ROOMS "${PIPE_ALL_ROOMS}" CACHE STRING
    "Rooms to build; a shorter list lets a room's tests run while rooms above it do not compile")

add_library(Pipe)
add_library(Pipe::Pipe ALIAS Pipe)

function(pipe_add_room room folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(NOT sources)
    return()
  endif()
  add_library(pipe_${room} OBJECT ${sources})
  target_include_directories(pipe_${room}
    PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
  target_link_libraries(pipe_${room} PRIVATE pipe_build_options fmt::fmt ${ARGN})
  set_target_properties(pipe_${room} PROPERTIES
    UNITY_BUILD ${PIPE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 0)
  target_sources(Pipe PRIVATE $<TARGET_OBJECTS:pipe_${room}>)
endfunction()

foreach(room IN LISTS PIPE_ROOMS)
  set(folder ${PROJECT_SOURCE_DIR}/lib/${room})
  set(packages "")
  if(room STREQUAL "support")
    set(packages pipe_hwloc)
  elseif(room STREQUAL "poly")
    set(packages pipe_isl)
  elseif(room STREQUAL "codegen")
    set(packages pipe_llvm)
  elseif(room STREQUAL "jit")
    set(folder ${PROJECT_SOURCE_DIR}/jit)
    set(packages pipe_llvm OpenMP::OpenMP_CXX)
  elseif(room STREQUAL "image_io")
    set(packages PNG::PNG JPEG::JPEG)
  endif()
  pipe_add_room(${room} ${folder} ${packages})
endforeach()

target_compile_features(Pipe PUBLIC cxx_std_20)
target_include_directories(Pipe PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(Pipe PRIVATE
  $<BUILD_INTERFACE:pipe_build_options> $<BUILD_INTERFACE:pipe_isl> $<BUILD_INTERFACE:pipe_llvm>
  $<BUILD_INTERFACE:pipe_hwloc>
  fmt::fmt OpenMP::OpenMP_CXX PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS})
set_target_properties(Pipe PROPERTIES LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH_USE_LINK_PATH ON)
# Sanitizers replace symbols at run time, so those builds keep them undefined until the program.
if(BUILD_SHARED_LIBS AND NOT PIPE_ASAN AND NOT PIPE_TSAN AND "${PIPE_ROOMS}" STREQUAL "${PIPE_ALL_ROOMS}")
  target_link_options(Pipe PRIVATE LINKER:--no-undefined)
elseif(NOT "${PIPE_ROOMS}" STREQUAL "${PIPE_ALL_ROOMS}")
  target_link_options(Pipe INTERFACE LINKER:--unresolved-symbols=ignore-in-shared-libs)
endif()

# What a shared library exports. (What is inside of Pipe is among it: the tests call that.)
if(BUILD_SHARED_LIBS AND CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
  target_link_options(Pipe PRIVATE LINKER:--version-script=${CMAKE_CURRENT_LIST_DIR}/Pipe.map)
  set_property(TARGET Pipe APPEND PROPERTY LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/Pipe.map)
endif()

include(CMakePackageConfigHelpers)
set(PIPE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Pipe)
install(TARGETS Pipe EXPORT PipeTargets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/pipe DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/pipe)
install(EXPORT PipeTargets NAMESPACE Pipe:: DESTINATION ${PIPE_CMAKE_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PipeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/PipeConfig.cmake INSTALL_DESTINATION ${PIPE_CMAKE_DIR})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PipeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/PipeConfig.cmake ${PROJECT_BINARY_DIR}/PipeConfigVersion.cmake
  DESTINATION ${PIPE_CMAKE_DIR})
