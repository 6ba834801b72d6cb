# SPDX-FileCopyrightText: The Stoker authors
# SPDX-License-Identifier: Apache-2.0
#
# How everything is compiled. Results must not depend on the machine: no contraction, no
# -march=native and no fast-math.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
string(REPLACE "-O3" "-O2" CMAKE_CXX_FLAGS_RELEASE "${CMAKE_CXX_FLAGS_RELEASE}")

# Designated initialisers may leave members at their default.
set(stoker_host_flags -ffp-contract=off -Wall -Wextra -Wno-missing-field-initializers)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  list(APPEND stoker_host_flags -march=x86-64-v2)
endif()
if(STOKER_WERROR)
  list(APPEND stoker_host_flags -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND stoker_host_flags -Werror=thread-safety)  # base/mutex.h
endif()
if(STOKER_SANITIZE)
  # Frame pointers and a little debug information make reports readable.
  list(APPEND stoker_host_flags -fsanitize=${STOKER_SANITIZE} -fno-sanitize-recover=all
       -fno-omit-frame-pointer -g1 -DSTOKER_ONE_LEVEL)  # kernels/levels.h
  # AddressSanitizer reports accesses through null pointers, too. UndefinedBehaviorSanitizer's own
  # checks of them would make the build a third longer.
  list(APPEND stoker_host_flags -fno-sanitize=null)
  add_link_options(-fsanitize=${STOKER_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC warns of uninitialised variants in the code that the sanitizers add.
    list(APPEND stoker_host_flags -Wno-maybe-uninitialized)
  endif()
endif()
if(STOKER_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR
            "STOKER_FUZZ needs Clang (cmake --preset fuzz), not ${CMAKE_CXX_COMPILER_ID}")
  endif()
  list(APPEND stoker_host_flags -fsanitize=fuzzer-no-link)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${stoker_host_flags}>")

# With the base directory, another checkout of the same tree finds its objects in the cache.
find_program(stoker_ccache ccache)
mark_as_advanced(stoker_ccache)
if(stoker_ccache AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER
      env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${stoker_ccache})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

if(STOKER_CUDA)
  if(CMAKE_VERSION VERSION_LESS 3.26)
    message(FATAL_ERROR "CMake ${CMAKE_VERSION} does not pass -std=c++20 to nvcc; "
                        "use the one of requirements/build.txt")
  endif()
  if(NOT CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
  endif()
  enable_language(CUDA)
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  # nvcc adds parentheses around pointers to members.
  string(REPLACE ";" "," host_flags "${stoker_host_flags};-Wno-parentheses")
  # A fused multiply-add would round differently from the CPU.
  set(device_flags --extended-lambda -fmad=false -Xcompiler=${host_flags})
  if(STOKER_WERROR)
    list(APPEND device_flags -Werror=all-warnings)
  endif()
  add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:${device_flags}>")
  find_package(CUDAToolkit REQUIRED)
endif()
