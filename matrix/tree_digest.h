// Digests of what a job rests on. Pure.
#ifndef PYPTOX_MATRIX_TREE_DIGEST_H_
#define PYPTOX_MATRIX_TREE_DIGEST_H_

#include <string>

#include "absl/status/status.h"
#include "pyptox/v1/artifact.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::matrix {

// INVALID_ARGUMENT when the tree is not sorted by name, names a file twice, or has a name or digest that is not
// harmless.
absl::Status CheckTree(const v1::Tree& tree);

// SHA-256 over the canonical JSON of the manifest. The tree was checked.
std::string TreeSha256(const v1::Tree& tree);

// SHA-256 over the canonical JSON of the suite.
std::string SuiteSha256(const v1::Suite& suite);

// SHA-256 over one `DIGEST  NAME` line for each golden file that a case or a compare names, sorted, and the pins' file.
std::string GoldenSha256(const v1::Suite& suite, const v1::Tree& tree);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_TREE_DIGEST_H_
