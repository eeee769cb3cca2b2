#include "base/version.h"

namespace pyptox {

const char kVersion[] = PYPTOX_VERSION;

}  // namespace pyptox
