// The parse tree of a YAML or JSON text with line numbers: what ReadTextMessage (base/text_message.h) walks over.
#ifndef PYPTOX_BASE_TEXT_DOCUMENT_H_
#define PYPTOX_BASE_TEXT_DOCUMENT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text_message.h"

namespace pyptox {

// Deepest nesting of lists and maps (DESIGN section 10).
inline constexpr int kMaxTextDepth = 64;

// One value.
struct TextNode {
  enum class Kind { kNull, kScalar, kList, kMap };
  Kind kind = Kind::kNull;
  int line = 0;  // 1-based
  // For kScalar: the text, and whether it was written in quotes or as a block.
  std::string scalar;
  bool quoted = false;
  std::vector<TextNode> items;                         // for kList
  std::vector<std::pair<TextNode, TextNode>> members;  // for kMap, in order, duplicates kept
};

// Parses one document. Adds faults for bad syntax, bad UTF-8, control characters, a second document, depth, anchors,
// aliases and tags. False when `root` can't be used.
bool ParseTextDocument(std::string_view text, const std::string& file, TextNode* root, std::vector<TextFault>* faults);

}  // namespace pyptox

#endif  // PYPTOX_BASE_TEXT_DOCUMENT_H_
