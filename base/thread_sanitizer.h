// Tells ThreadSanitizer of a hand-over between threads that it can't see, because the library that makes it (gRPC)
// isn't built for it. Nothing in other builds.
#ifndef PYPTOX_BASE_THREAD_SANITIZER_H_
#define PYPTOX_BASE_THREAD_SANITIZER_H_

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
#endif

namespace pyptox {

// What this thread did until now happens before whatever follows HandedOver of the same address.
inline void HandOver([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_release(address);
#endif
}

inline void HandedOver([[maybe_unused]] void* address) {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(address);
#endif
}

}  // namespace pyptox

#endif  // PYPTOX_BASE_THREAD_SANITIZER_H_
