#include "base/canonical_json.h"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_view.h"
#include "base/utf8.h"

namespace pyptox {
namespace {

using nlohmann::json;

// Hands out the text and tells how far the parser has read.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** read_to) : at_(at), read_to_(read_to) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *read_to_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.at_ == b.at_; }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return a.at_ != b.at_; }

 private:
  const char* at_;
  const char** read_to_;
};

// Goes through the text once, builds nothing, and stops at the first fault.
class JsonChecker : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t& text) override {
    if (text.find_first_of(".eE") != std::string::npos) return true;
    return Fail(absl::StrCat("integer ", text, " does not fit into 64 bits"));
  }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return Push(); }
  bool start_array(size_t) override { return Push(); }
  bool end_object() override { return Pop(); }
  bool end_array() override { return Pop(); }
  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    return Fail(absl::StrCat("duplicate key \"", absl::CHexEscape(name), "\""));
  }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: TEXT": our own position stands before it.
    std::string text = error.what();
    if (const size_t colon = text.find(": "); colon != std::string::npos) text = text.substr(colon + 2);
    return Fail(text);
  }

  const std::string& fault() const { return fault_; }

 private:
  bool Push() {
    if (keys_.size() >= static_cast<size_t>(kMaxJsonDepth)) {
      return Fail(absl::StrCat("nested deeper than ", kMaxJsonDepth));
    }
    keys_.emplace_back();
    return true;
  }
  bool Pop() {
    keys_.pop_back();
    return true;
  }
  bool Fail(std::string text) {
    fault_ = std::move(text);
    return false;
  }

  // Keys seen, for every open object (an open array has an empty set).
  std::vector<std::set<std::string>> keys_;
  std::string fault_;
};

std::string Position(std::string_view before) {
  size_t line = 1, column = 0;
  for (char c : before) {
    if (c == '\n') {
      ++line;
      column = 0;
    } else {
      ++column;
    }
  }
  return absl::StrCat("line ", line, ", column ", column);
}

// Appends canonical JSON.
class CanonicalWriter {
 public:
  explicit CanonicalWriter(std::string* out) : out_(out) {}

  absl::Status Write(const json& value, int depth) {
    switch (value.type()) {
      case json::value_t::object:
        return WriteObject(value, depth);
      case json::value_t::array:
        return WriteArray(value, depth);
      case json::value_t::string:
        return WriteString(value.get_ref<const std::string&>());
      case json::value_t::number_float:
        return WriteFloat(value.get<double>());
      case json::value_t::number_integer:
        absl::StrAppend(out_, value.get<int64_t>());
        return absl::OkStatus();
      case json::value_t::number_unsigned:
        absl::StrAppend(out_, value.get<uint64_t>());
        return absl::OkStatus();
      case json::value_t::boolean:
        *out_ += value.get<bool>() ? "true" : "false";
        return absl::OkStatus();
      case json::value_t::null:
        *out_ += "null";
        return absl::OkStatus();
      default:
        return absl::InvalidArgumentError("binary or discarded values have no JSON form");
    }
  }

 private:
  absl::Status WriteObject(const json& value, int depth) {
    if (depth >= kMaxJsonDepth) return TooDeep();
    // nlohmann::json keeps objects sorted by the bytes of their keys.
    char separator = '{';
    for (const auto& [key, member] : value.get_ref<const json::object_t&>()) {
      *out_ += separator;
      separator = ',';
      if (absl::Status status = WriteString(key); !status.ok()) return status;
      *out_ += ':';
      if (absl::Status status = Write(member, depth + 1); !status.ok()) return status;
    }
    *out_ += value.empty() ? "{}" : "}";
    return absl::OkStatus();
  }

  absl::Status WriteArray(const json& value, int depth) {
    if (depth >= kMaxJsonDepth) return TooDeep();
    char separator = '[';
    for (const json& member : value) {
      *out_ += separator;
      separator = ',';
      if (absl::Status status = Write(member, depth + 1); !status.ok()) return status;
    }
    *out_ += value.empty() ? "[]" : "]";
    return absl::OkStatus();
  }

  absl::Status WriteString(std::string_view text) {
    if (!IsValidUtf8(text)) {
      return absl::InvalidArgumentError(
          absl::StrCat("string \"", absl::CHexEscape(AbslView(text.substr(0, 300))), "\" is not UTF-8"));
    }
    constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
    constexpr std::string_view kNames = "\"\\bfnrt";
    *out_ += '"';
    for (char c : text) {
      if (const size_t named = kNamed.find(c); named != std::string_view::npos) {
        *out_ += '\\';
        *out_ += kNames[named];
      } else if (static_cast<uint8_t>(c) < 0x20) {
        absl::StrAppendFormat(out_, "\\u%04x", c);
      } else {
        *out_ += c;
      }
    }
    *out_ += '"';
    return absl::OkStatus();
  }

  absl::Status WriteFloat(double value) {
    if (!std::isfinite(value)) return absl::InvalidArgumentError("NaN and infinity have no JSON form");
    if (value == 0 && std::signbit(value)) {
      *out_ += "-0.0";  // "-0" would be read back as the integer 0
    } else if (value == std::trunc(value) && std::abs(value) < 0x1p63) {
      absl::StrAppend(out_, static_cast<int64_t>(value));
    } else {
      char buffer[32];
      const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, value);
      out_->append(buffer, end.ptr);
    }
    return absl::OkStatus();
  }

  static absl::Status TooDeep() {
    return absl::InvalidArgumentError(absl::StrCat("JSON value is nested deeper than ", kMaxJsonDepth));
  }

  std::string* out_;
};

}  // namespace

absl::StatusOr<json> ParseJson(std::string_view text, std::string_view name) {
  const char* begin = text.data();
  const char* end = begin + text.size();
  const char* read_to = begin;
  JsonChecker checker;
  if (!json::sax_parse(CountingIterator(begin, &read_to), CountingIterator(end, &read_to), &checker)) {
    return absl::InvalidArgumentError(absl::StrCat(
        AbslView(name), ": ", Position(text.substr(0, static_cast<size_t>(read_to - begin))), ": ", checker.fault()));
  }
  return json::parse(begin, end);
}

absl::StatusOr<std::string> CanonicalJson(const json& value) {
  std::string out;
  if (absl::Status status = CanonicalWriter(&out).Write(value, 0); !status.ok()) return status;
  return out;
}

}  // namespace pyptox
