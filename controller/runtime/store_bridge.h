// Carries the core's values to and from the database.
#ifndef PYPTOX_CONTROLLER_RUNTIME_STORE_BRIDGE_H_
#define PYPTOX_CONTROLLER_RUNTIME_STORE_BRIDGE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controller/core/effect.h"
#include "controller/core/recovered.h"
#include "matrix/store/store.h"

namespace pyptox::controller {

// All writes in one transaction, in order; durable when OK.
absl::Status CommitWrites(store::Store& store, const std::vector<Write>& writes);

// What the core starts from.
absl::StatusOr<Recovered> LoadRecovered(store::Store& store);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_STORE_BRIDGE_H_
