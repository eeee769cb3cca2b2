// Enum values as the published views write them.
#ifndef PYPTOX_MATRIX_STORE_WORDS_H_
#define PYPTOX_MATRIX_STORE_WORDS_H_

#include <string>

#include "pyptox/v1/job.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::store {

// `QUEUED`, `DONE`; `ASSIGNED`; `AVAILABLE`: the value's name without the enum's prefix.
std::string EnumWord(const google::protobuf::EnumDescriptor* descriptor, int number);

template <typename Enum>
std::string WordOf(Enum value) {
  return EnumWord(google::protobuf::GetEnumDescriptor<Enum>(), static_cast<int>(value));
}

// Empty while there is no outcome.
std::string OutcomeOrEmpty(const v1::Outcome& outcome);

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_WORDS_H_
