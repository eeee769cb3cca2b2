#include "base/message_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "google/protobuf/util/message_differencer.h"
#include "pyptox/v1/agent.pb.h"
#include "pyptox/v1/suite.pb.h"

namespace pyptox {
namespace {

using google::protobuf::util::MessageDifferencer;
using testing::HasSubstr;

v1::Case ExampleCase() {
  v1::Case c;
  c.set_name("add");
  c.set_kernel("k_é");
  c.set_expect_status(-3);
  v1::Buffer* buffer = c.add_buffers();
  buffer->set_name("x");
  buffer->set_role(v1::ROLE_IN);
  buffer->set_dtype(v1::DTYPE_BF16);
  buffer->add_shape(std::numeric_limits<uint64_t>::max());
  buffer->add_shape(0);
  buffer->mutable_generate()->set_low(-0.5);
  buffer->mutable_file()->set_packed(true);
  c.add_params()->set_i64(std::numeric_limits<int64_t>::min());
  c.add_params()->set_f64(0);  // a oneof's member is written even at its default
  c.add_params();
  return c;
}

constexpr char kExampleJson[] =
    R"({"buffers":[{"dtype":"DTYPE_BF16","file":{"packed":true},"generate":{"low":-0.5},"name":"x","role":"ROLE_IN",)"
    R"("shape":["18446744073709551615","0"]}],"expect_status":-3,"kernel":"k_é","name":"add",)"
    R"("params":[{"i64":"-9223372036854775808"},{"f64":0},{}]})";

TEST(MessageJson, CanonicalForm) { EXPECT_EQ(*MessageToCanonicalJson(ExampleCase()), kExampleJson); }

TEST(MessageJson, ReadsBackTheSameMessage) {
  v1::Case back;
  ASSERT_TRUE(JsonToMessage(kExampleJson, "f", &back).ok());
  EXPECT_TRUE(MessageDifferencer::Equals(back, ExampleCase()));
}

TEST(MessageJson, SpecialValuesReadBack) {
  for (double value : {std::nan(""), std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity(),
                       -0.0, 5e-324, 0x1p63, 0.1, 1e300}) {
    v1::Param param;
    param.set_f64(value);
    const absl::StatusOr<std::string> text = MessageToCanonicalJson(param);
    ASSERT_TRUE(text.ok()) << text.status();
    v1::Param back;
    ASSERT_TRUE(JsonToMessage(*text, "f", &back).ok()) << *text;
    EXPECT_EQ(*MessageToCanonicalJson(back), *text);
    EXPECT_EQ(std::signbit(back.f64()), std::signbit(value)) << *text;
    EXPECT_TRUE(std::isnan(value) ? std::isnan(back.f64()) : back.f64() == value) << *text;
  }
}

TEST(MessageJson, UnknownEnumNumbersStayNumbers) {
  v1::Buffer buffer;
  buffer.set_dtype(static_cast<v1::DType>(99));
  EXPECT_EQ(*MessageToCanonicalJson(buffer), R"({"dtype":99})");
  v1::Buffer back;
  ASSERT_TRUE(JsonToMessage(R"({"dtype":99,"shape":[3,"4"]})", "f", &back).ok());
  EXPECT_EQ(static_cast<int>(back.dtype()), 99);
  EXPECT_EQ(back.shape(0) * 10 + back.shape(1), 34u);
}

TEST(MessageJson, BytesAreBase64) {
  v1::LogChunk chunk;
  chunk.set_data(std::string("\0\xff\x01", 3));
  EXPECT_EQ(*MessageToCanonicalJson(chunk), R"({"data":"AP8B"})");
  v1::LogChunk back;
  ASSERT_TRUE(JsonToMessage(R"({"data":"AP8B"})", "f", &back).ok());
  EXPECT_EQ(back.data(), chunk.data());
  EXPECT_THAT(JsonToMessage(R"({"data":"?"})", "f", &back).message(), HasSubstr("data: must be base64"));
}

TEST(MessageJson, RefusesTextThatIsNotUtf8) {
  v1::Case c;
  c.add_buffers()->set_name("\xff");
  EXPECT_EQ(MessageToJson(c).status(), absl::InvalidArgumentError("pyptox.v1.Buffer.name is not UTF-8"));
}

TEST(JsonToMessage, Refuses) {
  for (const auto& [text, part] : std::vector<std::pair<const char*, const char*>>{
           {R"({"nam":"x"})", "nam: unknown field"},
           {R"({"expectStatus":1})", "expectStatus: unknown field"},
           {R"({"name":3})", "name: must be a string"},
           {R"({"name":["x"]})", "name: must be a string"},
           {R"({"name":null})", "name: must be a string"},
           {R"({"expect_status":"1"})", "expect_status: must be an int32"},
           {R"({"expect_status":2147483648})", "expect_status: must be an int32"},
           {R"({"expect_status":1.5})", "expect_status: must be an int32"},
           {R"({"buffers":{}})", "buffers: must be an array"},
           {R"({"buffers":[1]})", "buffers[0]: must be an object"},
           {R"({"buffers":[{},{"dtype":"F32"}]})", "buffers[1].dtype: must be a value name of the enum"},
           {R"({"buffers":[{"shape":5}]})", "buffers[0].shape: must be an array"},
           {R"({"buffers":[{"shape":["-1"]}]})", "buffers[0].shape[0]: must be a uint64"},
           {R"({"buffers":[{"shape":["18446744073709551616"]}]})", "buffers[0].shape[0]: must be a uint64"},
           {R"({"buffers":[{"shape":["1 "]}]})", "buffers[0].shape[0]: must be a uint64"},
           {R"({"buffers":[{"shape":[-1]}]})", "buffers[0].shape[0]: must be a uint64"},
           {R"({"buffers":[{"file":{"packed":1}}]})", "buffers[0].file.packed: must be true or false"},
           {R"({"params":[{"f64":"1"}]})", "params[0].f64: must be a number"},
           {R"({"params":[{"f64":1,"i64":2}]})", "params[0].i64: excludes another field"},
           {R"({"name":"x","name":"y"})", "duplicate key"},
           {R"({"name":"x",})", "line 1, column 13"},
           {R"({'name':'x'})", "line 1"},
           {R"([])", "must be an object"},
           {"", "line 1"},
       }) {
    v1::Case c;
    const absl::Status status = JsonToMessage(text, "f.json", &c);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(status.message(), HasSubstr("f.json: ")) << text;
    EXPECT_THAT(status.message(), HasSubstr(part)) << text;
  }
}

}  // namespace
}  // namespace pyptox
