# SPDX-License-Identifier: Apache-2.0
# How every source of the project is compiled, and the functions the folders use.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# Of the few files that exist once for each processor family and are chosen at run time.
set(XSHARDS_AVX2_OPTIONS -mavx2 -mbmi -mpopcnt -mpclmul)
set(XSHARDS_AVX512_OPTIONS -mavx512f -mavx512bw -mavx512vbmi2 -mbmi -mpopcnt -mpclmul)

if(XSHARDS_USE_CCACHE)
  find_program(XSHARDS_CCACHE ccache)
endif()
if(XSHARDS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the source tree are hashed relative to it and the working directory is
  # left out, so that another clone, and the other presets, share the cache. The
  # sloppiness values are those ccache asks for with precompiled headers; PCH_EXTSUM is
  # explained at xshards_add_pch.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_PCH_EXTSUM=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${XSHARDS_CCACHE})
endif()

# g++ 12 follows values through std::string, std::vector and std::optional, inlined at -O3,
# to overflows and uninitialised members that cannot happen (GCC bugs 105329 and 105651 are
# two of them; fixed in 13). The places change with every edit, so these warnings are left
# to the Debug presets, which compile the same sources; but the address sanitizer has it
# say of std::regex that it may be uninitialised (105562).
set(_gcc12_false_positives)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set(_gcc12_false_positives -Wno-array-bounds -Wno-free-nonheap-object
                               -Wno-maybe-uninitialized -Wno-restrict
                               -Wno-stringop-overflow -Wno-stringop-overread)
  elseif(XSHARDS_SANITIZE)
    set(_gcc12_false_positives -Wno-maybe-uninitialized)
  endif()
endif()

add_library(xshards_options INTERFACE)
target_compile_options(
  xshards_options
  # -fPIC everywhere, not CMake's -fPIE in programs: one precompiled header fits all.
  INTERFACE -Wall -Wextra -Wshadow -Wconversion -fPIC
            -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
            # g++ 12 warns about the members a designated initialiser leaves at their
            # defaults, which is what options structs are for.
            -Wno-missing-field-initializers
            ${_gcc12_false_positives}
            # ccache asks for the preprocessed form that names the precompiled header.
            $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
            $<$<BOOL:${XSHARDS_WERROR}>:-Werror>)
target_compile_definitions(
  xshards_options
  INTERFACE XSHARDS_USE_TBB=$<BOOL:${XSHARDS_USE_TBB}>
            $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
if(XSHARDS_SANITIZE)
  set(_sanitize -fsanitize=${XSHARDS_SANITIZE} -fno-sanitize-recover=all
                -fno-omit-frame-pointer)
  target_compile_options(xshards_options INTERFACE ${_sanitize})
  target_link_options(xshards_options INTERFACE ${_sanitize})
endif()

# xshards_add_pch(<target> <header> [<library>...]): makes a target that precompiles
# <header>. It sees no more than all of its users do: GCC refuses a precompiled header
# where a macro of its maker is missing. The header is named in angle brackets, for a
# quoted name would be written into the generated file as an absolute path and ccache
# would miss in every other clone.
# GCC writes another file each time it precompiles the same headers. ccache takes the file
# .gch.sum for it, which says what is in there: else a header precompiled again would make
# it miss every object.
function(xshards_add_pch target header)
  if(XSHARDS_USE_PCH)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
                                           "${PROJECT_SOURCE_DIR}/${header}")
    file(READ "${PROJECT_SOURCE_DIR}/xshards/pch.h" base)
    file(READ "${PROJECT_SOURCE_DIR}/${header}" own)
    file(
      CONFIGURE
      OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum"
      CONTENT
        "Arrow ${XShardsArrow_VERSION}, compiler ${CMAKE_CXX_COMPILER_VERSION}\n${base}${own}"
      @ONLY)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/pch.cc" CONTENT "")
    add_library(${target} OBJECT "${PROJECT_BINARY_DIR}/pch.cc")
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE xshards_options XShardsArrow::arrow ${ARGN})
    target_precompile_headers(${target} PRIVATE <${header}>)
  endif()
endfunction()

# One precompiled header for the library, the bindings and the benchmarks; the tests have
# another.
xshards_add_pch(xshards_pch xshards/pch.h)

function(xshards_use_pch target)
  if(XSHARDS_USE_PCH)
    target_precompile_headers(${target} REUSE_FROM xshards_pch)
  endif()
endfunction()

# xshards_add_layer(<name> [LIBRARIES <target>...] [PUBLIC_HEADERS <file>...]): makes the
# objects of one folder and hands them, its headers and what it links to
# XShardsLibrary.cmake. What the public headers include is installed with them.
# A folder without sources yet is fine.
function(xshards_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "" "" "LIBRARIES;PUBLIC_HEADERS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "*.cc")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "*.h")
  list(FILTER headers EXCLUDE REGEX "(/pch\\.h|internal[^/]*\\.h)$")
  set_property(GLOBAL APPEND PROPERTY XSHARDS_LAYERS ${name})
  set_property(GLOBAL APPEND PROPERTY XSHARDS_HEADERS ${headers})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME folder)
  list(TRANSFORM layer_PUBLIC_HEADERS PREPEND "${folder}/")
  set_property(GLOBAL APPEND PROPERTY XSHARDS_PUBLIC_HEADERS ${layer_PUBLIC_HEADERS})
  if(NOT sources)
    return()
  endif()
  add_library(xshards_${name}_objects OBJECT ${sources})
  target_include_directories(xshards_${name}_objects PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(
    xshards_${name}_objects
    PRIVATE xshards_options
    PUBLIC XShardsArrow::arrow
           XShardsArrow::compute
           XShardsArrow::acero
           XShardsArrow::dataset
           XShardsArrow::parquet
           xtensor
           Threads::Threads
           ${layer_LIBRARIES})
  xshards_use_pch(xshards_${name}_objects)
  set_property(GLOBAL APPEND PROPERTY XSHARDS_OBJECTS xshards_${name}_objects)
endfunction()
