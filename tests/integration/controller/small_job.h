// The smallest submission that the controller takes: one case on one lane.
#ifndef PYPTOX_TESTS_INTEGRATION_CONTROLLER_SMALL_JOB_H_
#define PYPTOX_TESTS_INTEGRATION_CONTROLLER_SMALL_JOB_H_

#include <memory>
#include <string>

#include "grpcpp/grpcpp.h"
#include "pyptox/v1/job.pb.h"

namespace pyptox::controller {

// Sends bytes as an artifact, in chunks of 1 MiB.
grpc::Status Upload(const std::shared_ptr<grpc::Channel>& channel, const std::string& data);

// Suite `small`, lane `cpu-scalar@dev`, case `zeros`; clean at a made-up commit. Its artifacts are not uploaded.
v1::SubmitRequest SmallSubmit(const std::string& idempotency_key);

// Uploads the artifacts of SmallSubmit.
void UploadSmallTree(const std::shared_ptr<grpc::Channel>& channel);

// What an agent reports when the case of `assign` passed.
v1::Evidence PassingEvidence(const v1::JobSpec& spec);

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_INTEGRATION_CONTROLLER_SMALL_JOB_H_
