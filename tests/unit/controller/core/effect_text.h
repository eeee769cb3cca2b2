// Effects as short lines, so that a test can say exactly which ones it expects and in which order.
#ifndef PYPTOX_TESTS_UNIT_CONTROLLER_CORE_EFFECT_TEXT_H_
#define PYPTOX_TESTS_UNIT_CONTROLLER_CORE_EFFECT_TEXT_H_

#include <fmt/format.h>

#include <string>
#include <variant>
#include <vector>

#include "controller/core/effect.h"
#include "matrix/verdict.h"

namespace pyptox::controller {

inline std::string Word(const std::string& name, std::string_view prefix) { return name.substr(prefix.size()); }
inline std::string Word(v1::JobState state) { return Word(v1::JobState_Name(state), "JOB_STATE_"); }
inline std::string Word(v1::AttemptState state) { return Word(v1::AttemptState_Name(state), "ATTEMPT_STATE_"); }
inline std::string Word(v1::ResourceState state) { return Word(v1::ResourceState_Name(state), "RESOURCE_STATE_"); }
// With the kind, whatever the verdict.
inline std::string Word(const v1::Outcome& outcome) {
  if (outcome.verdict() == v1::VERDICT_UNSPECIFIED) return "";
  const std::string verdict = Word(v1::Verdict_Name(outcome.verdict()), "VERDICT_");
  return outcome.kind().empty() ? " " + verdict : fmt::format(" {}({})", verdict, outcome.kind());
}

struct EffectText {
  std::string operator()(const PutJob& put) const {
    return fmt::format("job {} {}{}", put.job.id(), Word(put.job.state()), Word(put.job.outcome()));
  }
  std::string operator()(const PutJobSpec& put) const { return fmt::format("spec {}", put.job_id); }
  std::string operator()(const PutAttempt& put) const {
    return fmt::format("attempt {} {}{}", put.attempt.id(), Word(put.attempt.state()), Word(put.attempt.outcome()));
  }
  std::string operator()(const PutLease& put) const {
    return fmt::format("lease {} {} token {}", put.lease.key(), put.lease.attempt_id(), put.lease.token());
  }
  std::string operator()(const DeleteLeases& put) const { return fmt::format("no lease {}", put.attempt_id); }
  std::string operator()(const PutToken& put) const {
    return fmt::format("token {} {}", put.token.key(), put.token.token());
  }
  std::string operator()(const PutAgent& put) const {
    return fmt::format("agent {} {}", put.agent.name(), put.agent.connected() ? "connected" : "away");
  }
  std::string operator()(const PutResource& put) const {
    const v1::Resource& resource = put.resource;
    return fmt::format("resource {} {} by {}", resource.name(), Word(resource.state()), resource.holder_job_id());
  }
  std::string operator()(const PutResourceOrder& put) const {
    const v1::ResourceOrder& order = put.order;
    return fmt::format("order {} {} {} by {}", order.id(), order.resource(), Word(order.state()), order.person());
  }
  std::string operator()(const PutRecord& put) const {
    return fmt::format("record {} of {}{}", put.record.id(), put.record.job_id(), Word(put.record.outcome()));
  }
  std::string operator()(const PutOrphan& put) const {
    return fmt::format("orphan {}: {}", put.finished.attempt_id(), put.reason);
  }
  std::string operator()(const PutIdempotency& put) const {
    return fmt::format("key {} {}", put.key, put.submission_id);
  }
  std::string operator()(const PutCounters& put) const {
    return fmt::format("counters {} {} {}", put.counters.submissions, put.counters.jobs, put.counters.attempts);
  }
  std::string operator()(const Reply& reply) const {
    return fmt::format("reply {} {}", reply.request_id, absl::StatusCodeToString(reply.status.code()));
  }
  std::string operator()(const Send& send) const {
    const v1::ControllerMessage& message = send.message;
    const std::string to = fmt::format("to {}: ", send.session_id);
    switch (message.body_case()) {
      case v1::ControllerMessage::kWelcome: {
        std::string text = to + "welcome";
        for (const v1::Assign& assign : message.welcome().assigned()) text += fmt::format(" +{}", assign.attempt_id());
        for (const uint64_t id : message.welcome().forget()) text += fmt::format(" -{}", id);
        return text;
      }
      case v1::ControllerMessage::kAssign:
        return to + fmt::format("assign {}", message.assign().attempt_id());
      case v1::ControllerMessage::kCancel:
        return to + fmt::format("cancel {}", message.cancel().attempt_id());
      case v1::ControllerMessage::kFinishedAck:
        return to + fmt::format("ack {}", message.finished_ack().attempt_id());
      case v1::ControllerMessage::kHeartbeatAck:
        return to + fmt::format("heartbeat {}", message.heartbeat_ack().sequence());
      default:
        return to + "?";
    }
  }
  std::string operator()(const CloseSession& close) const {
    return fmt::format("close {} {}", close.session_id, absl::StatusCodeToString(close.status.code()));
  }
  std::string operator()(const JobChanged& changed) const {
    return fmt::format("changed {} {}", changed.job.id(), Word(changed.job.state()));
  }
};

template <typename Effect>
std::vector<std::string> Text(const std::vector<Effect>& effects) {
  std::vector<std::string> lines;
  for (const Effect& effect : effects) lines.push_back(std::visit(EffectText{}, effect));
  return lines;
}

}  // namespace pyptox::controller

#endif  // PYPTOX_TESTS_UNIT_CONTROLLER_CORE_EFFECT_TEXT_H_
