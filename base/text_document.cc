#include "base/text_document.h"

#include <algorithm>
#include <exception>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "base/utf8.h"
#include "yaml-cpp/eventhandler.h"
#include "yaml-cpp/exceptions.h"
#include "yaml-cpp/parser.h"

namespace pyptox {
namespace {

// Ends the parser from inside a handler; yaml-cpp has no other way.
struct TooDeep : std::exception {
  explicit TooDeep(int at) : line(at) {}
  int line;
};

int LineOf(const YAML::Mark& mark) { return mark.is_null() ? 0 : mark.line + 1; }

// Builds TextNodes out of yaml-cpp's events.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& file, std::vector<TextFault>* faults) : file_(file), faults_(faults) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) Fault(mark, "a second document in the file");
    stack_.clear();
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    RefuseAnchor(mark, anchor);
    Add({TextNode::Kind::kNull, LineOf(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Fault(mark, "aliases are not allowed");
    Add({TextNode::Kind::kNull, LineOf(mark)});
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    Add({TextNode::Kind::kScalar, LineOf(mark), value, tag == "!"});
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(TextNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(TextNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { Close(); }

  int documents() const { return documents_; }
  TextNode TakeRoot() { return std::move(root_); }

 private:
  // An open list or map; a map's key waits here for its value.
  struct Frame {
    TextNode node;
    TextNode key;
    bool has_key = false;
  };

  void Open(TextNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (stack_.size() >= static_cast<size_t>(kMaxTextDepth)) throw TooDeep(LineOf(mark));
    RefuseAnchor(mark, anchor);
    RefuseTag(mark, tag);
    stack_.push_back({{kind, LineOf(mark)}});
  }

  void Close() {
    TextNode node = std::move(stack_.back().node);
    stack_.pop_back();
    Add(std::move(node));
  }

  void Add(TextNode node) {
    if (stack_.empty()) {
      if (documents_ == 1) root_ = std::move(node);
      return;
    }
    Frame& frame = stack_.back();
    if (frame.node.kind == TextNode::Kind::kList) {
      frame.node.items.push_back(std::move(node));
    } else if (!frame.has_key) {
      frame.key = std::move(node);
      frame.has_key = true;
    } else {
      frame.node.members.emplace_back(std::move(frame.key), std::move(node));
      frame.has_key = false;
    }
  }

  void RefuseAnchor(const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) Fault(mark, "anchors are not allowed");
  }

  // yaml-cpp says "?" for a plain and "!" for a quoted scalar without a tag.
  void RefuseTag(const YAML::Mark& mark, const std::string& tag) {
    if (!tag.empty() && tag != "?" && tag != "!") Fault(mark, "tags are not allowed");
  }

  void Fault(const YAML::Mark& mark, std::string text) {
    faults_->push_back({file_, LineOf(mark), "", std::move(text)});
  }

  const std::string& file_;
  std::vector<TextFault>* faults_;
  std::vector<Frame> stack_;
  TextNode root_;
  int documents_ = 0;
};

int LineAt(std::string_view text, size_t offset) {
  return 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n'));
}

// yaml-cpp would replace bad bytes and stop at a NUL without a word.
bool CheckBytes(std::string_view text, const std::string& file, std::vector<TextFault>* faults) {
  if (const size_t valid = ValidUtf8Prefix(text); valid != text.size()) {
    faults->push_back({file, LineAt(text, valid), "", absl::StrCat("not UTF-8 at byte ", valid)});
    return false;
  }
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  };
  if (const auto found = std::find_if(text.begin(), text.end(), is_control); found != text.end()) {
    const auto at = static_cast<size_t>(found - text.begin());
    faults->push_back({file, LineAt(text, at), "", absl::StrCat("control character at byte ", at)});
    return false;
  }
  return true;
}

}  // namespace

bool ParseTextDocument(std::string_view text, const std::string& file, TextNode* root, std::vector<TextFault>* faults) {
  if (!CheckBytes(text, file, faults)) return false;
  TreeBuilder builder(file, faults);
  const auto fail = [&](int line, std::string what) {
    faults->push_back({file, line, "", std::move(what)});
    return false;
  };
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const TooDeep& deep) {
    return fail(deep.line, absl::StrCat("nested deeper than ", kMaxTextDepth));
  } catch (const YAML::Exception& error) {
    return fail(LineOf(error.mark), absl::StrCat("syntax: ", error.msg));
  }
  if (builder.documents() == 0) return fail(0, "the file is empty");
  *root = builder.TakeRoot();
  return true;
}

}  // namespace pyptox
