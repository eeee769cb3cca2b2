// pyptox-ctl: what people type.
#include <unistd.h>

#include <climits>
#include <string>
#include <vector>

#include "ctl/client/address.h"
#include "ctl/commands/program.h"
#include "ctl/commands/session.h"

namespace {

// Folder of this program: the embedded controller and agent stand beside it.
std::string BinaryFolder() {
  std::string path(PATH_MAX, '\0');
  const ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n < 0 ? 0 : static_cast<size_t>(n));
  return path.substr(0, path.rfind('/'));
}

}  // namespace

int main(int argc, char** argv) {
  pyptox::ctl::Session session(pyptox::ctl::ReadSurroundings(), BinaryFolder());
  return pyptox::ctl::RunProgram(std::vector<std::string>(argv + 1, argv + argc), session);
}
