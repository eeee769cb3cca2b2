# Every outside package, found once. scripts/install-deps installs them.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(nlohmann_json REQUIRED)
# The arm64 and amd64 -dev packages share /usr/include; only the libraries differ.
find_package(OpenSSL REQUIRED COMPONENTS Crypto)

if(PYPTOX_COMPONENTS STREQUAL "all")
  find_package(Protobuf REQUIRED)
  find_package(gRPC REQUIRED)
  find_package(SQLite3 REQUIRED)
  find_package(yaml-cpp REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(EXPAT REQUIRED)
  if(PYPTOX_BUILD_TESTS)
    find_package(GTest REQUIRED)
    # For tests/bench alone, which is left out without it.
    find_package(benchmark QUIET)
  endif()
endif()

# Header-only use of fmt. The cross build takes the headers alone: fmt's package file lies in the other architecture's folder.
if(NOT TARGET fmt::fmt-header-only)
  find_package(fmt QUIET)
endif()
if(NOT TARGET fmt::fmt-header-only)
  add_library(fmt::fmt-header-only INTERFACE IMPORTED)
  set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
endif()
