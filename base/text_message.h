// Reads a protobuf message out of a YAML (or JSON) file that a person wrote, strictly and through the descriptor.
//
// A scalar takes the type of its field, so `version: 9.0` in a string field stays "9.0" and `no` stays "no". An enum
// value is its name without the enum's prefix, in lower case: DTYPE_F32 is `f32`. Fields marked (pyptox.v1.required)
// must be there. Anchors and aliases are refused; depth is capped at 64. All faults of a file are reported, not the
// first one.
#ifndef PYPTOX_BASE_TEXT_MESSAGE_H_
#define PYPTOX_BASE_TEXT_MESSAGE_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "google/protobuf/message.h"

namespace pyptox {

// One fault, or one place. Printed as `FILE:LINE: PATH: TEXT`, with PATH like `lanes[2].compile[0].argv`.
struct TextFault {
  std::string file;
  int line = 0;  // 1-based; 0: the whole file
  std::string path;
  std::string text;

  std::string ToString() const;
};

// What a reading gave.
struct TextReading {
  std::vector<TextFault> faults;
  // Line of each field that was written, by path, so that later checks can name the line too.
  std::map<std::string, int> lines;
};

// Merges the file's contents into `message`; on faults it holds what could be read. `file` is used in faults only.
TextReading ReadTextMessage(std::string_view text, const std::string& file, google::protobuf::Message* message);

}  // namespace pyptox

#endif  // PYPTOX_BASE_TEXT_MESSAGE_H_
