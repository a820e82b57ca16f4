# Each layer is an object library, so that it can be built alone (ninja pipe_lower). All of them
# together form the library Pipe. Their order is that of the layers.

set(PIPE_ALL_LAYERS support ir runtime image_io schedule graph language poly region reference autoschedule lower
    predict codegen jit driver)
set(PIPE_LAYERS "${PIPE_ALL_LAYERS}" CACHE STRING
    "Layers to build; a shorter list lets a layer's tests run while layers above it do not compile")

add_library(Pipe)
add_library(Pipe::Pipe ALIAS Pipe)
# The same object files for the tests of single layers, with the names of all layers.
add_library(pipe_internals EXCLUDE_FROM_ALL)

function(pipe_add_layer layer folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${folder}/*.cpp)
  if(layer STREQUAL "jit")
    list(FILTER sources EXCLUDE REGEX "/jit/runtime/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_library(pipe_${layer} OBJECT ${sources})
  target_include_directories(pipe_${layer}
    PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR})
  target_link_libraries(pipe_${layer} PRIVATE pipe_build_options fmt::fmt ${ARGN})
  set_target_properties(pipe_${layer} PROPERTIES
    UNITY_BUILD ${PIPE_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 0)
  target_sources(Pipe PRIVATE $<TARGET_OBJECTS:pipe_${layer}>)
  target_sources(pipe_internals PRIVATE $<TARGET_OBJECTS:pipe_${layer}>)
  set(layer_objects ${layer_objects} $<TARGET_OBJECTS:pipe_${layer}> PARENT_SCOPE)
endfunction()

foreach(layer IN LISTS PIPE_LAYERS)
  set(folder ${PROJECT_SOURCE_DIR}/lib/${layer})
  set(packages "")
  if(layer STREQUAL "support")
    set(packages pipe_hwloc)
  elseif(layer STREQUAL "poly")
    set(packages pipe_isl)
  elseif(layer STREQUAL "codegen")
    set(packages pipe_llvm)
  elseif(layer STREQUAL "runtime")
    set(folder ${PROJECT_SOURCE_DIR}/jit/runtime)
    set(packages pipe_xxhash OpenMP::OpenMP_CXX)
  elseif(layer STREQUAL "jit")
    set(folder ${PROJECT_SOURCE_DIR}/jit)
    set(packages pipe_llvm)
  elseif(layer STREQUAL "driver")
    set(packages nlohmann_json::nlohmann_json)
    include(EmbedPage)
  elseif(layer STREQUAL "image_io")
    set(packages PNG::PNG JPEG::JPEG)
  endif()
  pipe_add_layer(${layer} ${folder} ${packages})
endforeach()
if(TARGET pipe_driver)
  target_sources(pipe_driver PRIVATE ${PIPE_PAGE_SOURCE})
endif()

foreach(library Pipe pipe_internals)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PRIVATE
    $<BUILD_INTERFACE:pipe_build_options> $<BUILD_INTERFACE:pipe_isl> $<BUILD_INTERFACE:pipe_llvm>
    $<BUILD_INTERFACE:pipe_hwloc>
    fmt::fmt OpenMP::OpenMP_CXX PNG::PNG JPEG::JPEG Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${library} PROPERTIES LINKER_LANGUAGE CXX)
  # Sanitizers replace symbols at run time, so those builds leave them undefined until the program.
  if(BUILD_SHARED_LIBS AND NOT PIPE_ASAN AND NOT PIPE_TSAN AND "${PIPE_LAYERS}" STREQUAL "${PIPE_ALL_LAYERS}")
    target_link_options(${library} PRIVATE LINKER:--no-undefined)
  elseif(NOT "${PIPE_LAYERS}" STREQUAL "${PIPE_ALL_LAYERS}")
    target_link_options(${library} INTERFACE LINKER:--unresolved-symbols=ignore-in-shared-libs)
  endif()
endforeach()
set_target_properties(Pipe PROPERTIES VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH_USE_LINK_PATH ON)

# The names that the shared libraries export, as version scripts for the linker.
if(BUILD_SHARED_LIBS AND CMAKE_EXECUTABLE_FORMAT STREQUAL "ELF")
  foreach(library Pipe pipe_internals)
    set(map ${PROJECT_BINARY_DIR}/${library}.map)
    add_custom_command(OUTPUT ${map}
      COMMAND ${CMAKE_COMMAND} -DNM=${CMAKE_NM} -DOUTPUT=${map}
        -DINTERNALS=$<STREQUAL:${library},pipe_internals> "-DOBJECTS=$<JOIN:${layer_objects},,>"
        -P ${CMAKE_CURRENT_LIST_DIR}/ExportedNames.cmake
      DEPENDS ${layer_objects} ${CMAKE_CURRENT_LIST_DIR}/ExportedNames.cmake VERBATIM
      COMMENT "Collecting the names that ${library} exports")
    target_sources(${library} PRIVATE ${map})
    target_link_options(${library} PRIVATE LINKER:--version-script=${map})
    set_property(TARGET ${library} APPEND PROPERTY LINK_DEPENDS ${map})
  endforeach()
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
