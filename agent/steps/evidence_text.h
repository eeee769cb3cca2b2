// Texts of evidence come from outside: names of files, versions of tools, reports. Pure.
#ifndef PYPTOX_AGENT_STEPS_EVIDENCE_TEXT_H_
#define PYPTOX_AGENT_STEPS_EVIDENCE_TEXT_H_

#include "google/protobuf/message.h"

namespace pyptox::agent {

// Puts U+FFFD for every byte of every text, at any depth, that is not UTF-8: neither the wire nor canonical JSON takes
// another, and one file's odd name would lose the whole attempt.
void MakeTextsValid(google::protobuf::Message* message);

}  // namespace pyptox::agent

#endif  // PYPTOX_AGENT_STEPS_EVIDENCE_TEXT_H_
