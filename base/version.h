// The version of this software, from CMake's PROJECT_VERSION. It stands in records, `--version` and `server info`.
#ifndef PYPTOX_BASE_VERSION_H_
#define PYPTOX_BASE_VERSION_H_

namespace pyptox {

extern const char kVersion[];

}  // namespace pyptox

#endif  // PYPTOX_BASE_VERSION_H_
