// The database's schema: tables behind, published views in front (docs/schema.md), and the way from older versions.
#ifndef PYPTOX_MATRIX_STORE_SCHEMA_H_
#define PYPTOX_MATRIX_STORE_SCHEMA_H_

#include <cstdint>

#include "absl/status/status.h"
#include "matrix/store/sqlite.h"

namespace pyptox::store {

// Version that this program writes; PRAGMA user_version holds it.
uint32_t SchemaVersion();

// Brings an empty or older database to SchemaVersion in one transaction. FAILED_PRECONDITION for a newer one.
absl::Status Migrate(const Database& database);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_SCHEMA_H_
