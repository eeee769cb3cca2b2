// What the runner is told about one case. Pure.
#ifndef PYPTOX_AGENT_STEPS_CASE_MANIFEST_H_
#define PYPTOX_AGENT_STEPS_CASE_MANIFEST_H_

#include <cstdint>
#include <string>

#include "pyptox/v1/launch.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox::agent {

// Launches where the suite says nothing.
inline constexpr uint32_t kDefaultRepeat = 3;
inline constexpr uint32_t kDefaultCaseSeconds = 60;

// Paths are relative to the attempt's folder, which is the runner's working directory; sources stand in src/.
v1::LaunchManifest MakeManifest(const v1::Lane& lane, const v1::Case& one, const std::string& output_dir);

// Limit of one case's launches, in seconds.
uint32_t CaseSeconds(const v1::Lane& lane);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_CASE_MANIFEST_H_
