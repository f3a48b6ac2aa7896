# SPDX-License-Identifier: Apache-2.0
# Puts the folders' objects together: the engine library, the names it is linked by,
# and the installed package.

get_property(layers GLOBAL PROPERTY XSHARDS_LAYERS)
get_property(objects GLOBAL PROPERTY XSHARDS_OBJECTS)
get_property(headers GLOBAL PROPERTY XSHARDS_HEADERS)
get_property(public_headers GLOBAL PROPERTY XSHARDS_PUBLIC_HEADERS)

add_library(xshards SHARED)
add_library(xshards::xshards ALIAS xshards)
target_link_libraries(
  xshards
  PRIVATE ${objects} xshards_options
  PUBLIC XShardsArrow::arrow XShardsArrow::compute xtensor Threads::Threads)
target_compile_features(xshards PUBLIC cxx_std_20)
set(_include_dir "${CMAKE_INSTALL_INCLUDEDIR}/xshards-1")
target_include_directories(xshards PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                                          "$<INSTALL_INTERFACE:${_include_dir}>")

# Every header compiles alone, whether installed or not: `make lint-all`.
add_library(xshards_headers INTERFACE)
target_link_libraries(xshards_headers INTERFACE xshards)
target_sources(
  xshards_headers
  INTERFACE FILE_SET HEADERS
            BASE_DIRS "${PROJECT_SOURCE_DIR}"
            FILES ${headers})
set_target_properties(xshards_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)

# In a Python environment Arrow's libraries are next to the package; a C++ install is for
# this machine and remembers where they were found.
set(XSHARDS_INSTALL_RPATH "$ORIGIN" "$ORIGIN/../pyarrow")
if(NOT XSHARDS_PORTABLE)
  list(APPEND XSHARDS_INSTALL_RPATH "${XSHARDS_PYARROW_DIR}")
endif()
set_target_properties(xshards PROPERTIES LINKER_LANGUAGE CXX
                                         INSTALL_RPATH "${XSHARDS_INSTALL_RPATH}")

# xshards::core, ::io, ::ops, ::learn all lead to the one library.
foreach(layer IN LISTS layers)
  add_library(xshards_${layer} INTERFACE)
  add_library(xshards::${layer} ALIAS xshards_${layer})
  target_link_libraries(xshards_${layer} INTERFACE xshards)
  set_target_properties(xshards_${layer} PROPERTIES EXPORT_NAME ${layer})
  list(APPEND layer_targets xshards_${layer})
endforeach()

# The same objects as an archive, for tests and benchmarks: these reach the internals
# that the shared library hides.
if(XSHARDS_BUILD_TESTS OR XSHARDS_BUILD_BENCHMARKS)
  add_library(xshards_internal STATIC)
  set_target_properties(xshards_internal PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(xshards_internal PUBLIC ${objects} xshards_options)
endif()

include(CMakePackageConfigHelpers)
set(_config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/xshards")
configure_file("${PROJECT_SOURCE_DIR}/xshards/cmake/xshardsConfig.cmake.in"
               "${PROJECT_BINARY_DIR}/xshardsConfig.cmake" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/xshardsConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(
  TARGETS xshards ${layer_targets}
  EXPORT xshardsTargets
  COMPONENT development
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(
  CODE "set(xshards_source_dir \"${PROJECT_SOURCE_DIR}\")
set(xshards_public_headers \"${public_headers}\")
set(xshards_include_dir \"${_include_dir}\")"
  COMPONENT development)
install(SCRIPT "${PROJECT_SOURCE_DIR}/xshards/cmake/InstallHeaders.cmake"
        COMPONENT development)
install(
  EXPORT xshardsTargets
  NAMESPACE xshards::
  DESTINATION "${_config_dir}"
  COMPONENT development)
install(
  FILES "${PROJECT_BINARY_DIR}/xshardsConfig.cmake"
        "${PROJECT_BINARY_DIR}/xshardsConfigVersion.cmake"
        "${PROJECT_SOURCE_DIR}/xshards/cmake/FindXShardsArrow.cmake"
  DESTINATION "${_config_dir}"
  COMPONENT development)
