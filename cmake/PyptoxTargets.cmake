# Functions that every folder's CMakeLists.txt uses, so that warnings and include paths are said once.

find_program(PYPTOX_CCACHE ccache)
if(PYPTOX_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${PYPTOX_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PYPTOX_CCACHE})
endif()

add_library(pyptox_flags INTERFACE)
target_include_directories(pyptox_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(pyptox_flags INTERFACE -Wall -Wextra -Wno-missing-field-initializers
                       $<$<BOOL:${PYPTOX_WERROR}>:-Werror>)

# pyptox_library(NAME SOURCES ... LIBS ...): a static library of one folder; an INTERFACE one without sources.
function(pyptox_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  if(arg_SOURCES)
    add_library(${name} STATIC ${arg_SOURCES})
    target_link_libraries(${name} PUBLIC pyptox_flags ${arg_LIBS})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE pyptox_flags ${arg_LIBS})
  endif()
endfunction()

# pyptox_binary(NAME SOURCES ... LIBS ...): a program in ${CMAKE_BINARY_DIR}/bin, installed.
function(pyptox_binary name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE pyptox_flags ${arg_LIBS})
  install(TARGETS ${name} DESTINATION ${CMAKE_INSTALL_BINDIR})
endfunction()

# pyptox_test(NAME SOURCES ... LIBS ... [TIMEOUT s] [LABELS ...] [ENV K=V ...]): one GoogleTest program, one ctest entry.
function(pyptox_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBS;LABELS;ENV" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE pyptox_flags ${arg_LIBS} GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}"
                       ENVIRONMENT "PYPTOX_BIN_DIR=${CMAKE_BINARY_DIR}/bin;PYPTOX_SOURCE_DIR=${CMAKE_SOURCE_DIR};${arg_ENV}")
endfunction()

# PYPTOX_SANITIZE: value for -fsanitize=, set by the asan and tsan presets.
if(PYPTOX_SANITIZE)
  add_compile_options(-fsanitize=${PYPTOX_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${PYPTOX_SANITIZE})
endif()
