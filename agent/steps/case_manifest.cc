#include "agent/steps/case_manifest.h"

namespace pyptox::agent {
namespace {

v1::FileRegion InSources(v1::FileRegion region) {
  region.set_path("src/" + region.path());
  return region;
}

}  // namespace

uint32_t CaseSeconds(const v1::Lane& lane) {
  return lane.limits().case_s() > 0 ? lane.limits().case_s() : kDefaultCaseSeconds;
}

v1::LaunchManifest MakeManifest(const v1::Lane& lane, const v1::Case& one, const std::string& output_dir) {
  const v1::KernelStep& kernel = lane.kernel();
  v1::LaunchManifest manifest;
  manifest.set_case_(one.name());
  manifest.set_module(kernel.module());
  manifest.set_symbol(one.kernel());
  manifest.set_repeat(kernel.repeat() > 0 ? kernel.repeat() : kDefaultRepeat);
  for (const v1::Buffer& buffer : one.buffers()) {
    v1::LaunchBuffer* out = manifest.add_buffers();
    out->set_name(buffer.name());
    out->set_role(buffer.role());
    out->set_dtype(buffer.dtype());
    *out->mutable_shape() = buffer.shape();
    *out->mutable_strides() = buffer.strides();
    if (buffer.has_generate()) *out->mutable_generate() = buffer.generate();
    if (buffer.has_file()) *out->mutable_file() = InSources(buffer.file());
    if (buffer.has_golden()) *out->mutable_golden() = InSources(buffer.golden());
    out->set_align(buffer.align());
    out->set_misalign(buffer.misalign());
  }
  *manifest.mutable_params() = one.params();
  manifest.set_expect_status(one.expect_status());
  manifest.set_output_dir(output_dir);
  manifest.set_safetensors(kernel.safetensors());
  manifest.set_sve_vector_bytes(kernel.sve_vector_bytes());
  manifest.set_timeout_ms(CaseSeconds(lane) * 1000);
  return manifest;
}

}  // namespace pyptox::agent
