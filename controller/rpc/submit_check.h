// What a submission must be before the core sees it.
#ifndef PYPTOX_CONTROLLER_RPC_SUBMIT_CHECK_H_
#define PYPTOX_CONTROLLER_RPC_SUBMIT_CHECK_H_

#include "absl/status/status.h"
#include "base/blob_store.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::controller {

// Most bytes of a submission: it travels on to the agent inside other messages, which may not pass kMaxMessageBytes.
inline constexpr size_t kMaxSubmitBytes = 2 << 20;

// INVALID_ARGUMENT with everything that is wrong, one fault a line; FAILED_PRECONDITION naming the first artifact of
// the tree that `blobs` lacks.
absl::Status CheckSubmit(const v1::SubmitRequest& request, const BlobStore& blobs);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RPC_SUBMIT_CHECK_H_
