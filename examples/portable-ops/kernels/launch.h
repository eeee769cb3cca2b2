/* Reading a launch: the questions that every kernel asks before it writes anything.
 *
 * An argument that a kernel does not take is answered with PYPTOX_REFUSED_ARGUMENT; the functions here return false
 * for it. Offsets and strides count elements, sizes count bytes.
 */
#ifndef PORTABLE_OPS_KERNELS_LAUNCH_H_
#define PORTABLE_OPS_KERNELS_LAUNCH_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pyptox_kernel.h"

/* Before each kernel: the other symbols of the module are hidden. */
#define PORTABLE_OPS_KERNEL __attribute__((visibility("default"))) int32_t

/* Longest row that kernels keep on the stack; a longer one is refused. */
enum { kRowMax = 1024 };

/* Highest rank that kernels take. */
enum { kRankMax = 8 };

/* Whether the launch has `in` inputs, then `inout` carried buffers, then `out` outputs, and `params` parameters. */
bool launch_has(const pyptox_launch* launch, uint32_t in, uint32_t inout, uint32_t out, uint32_t params);

/* Reads an integer parameter within [low, high]. */
bool launch_integer(const pyptox_launch* launch, uint32_t index, int64_t low, int64_t high, int64_t* value);

/* Reads a real parameter. */
bool launch_real(const pyptox_launch* launch, uint32_t index, float* value);

size_t dtype_size(uint32_t dtype);
bool dtype_is_real(uint32_t dtype); /* f32 or bf16: what the kernels compute with */

/* Product of the extents of the axes [first, last). */
uint64_t extent_product(const pyptox_buffer* buffer, uint32_t first, uint32_t last);
uint64_t element_count(const pyptox_buffer* buffer);
bool same_shape(const pyptox_buffer* a, const pyptox_buffer* b);
bool is_dense(const pyptox_buffer* buffer);
/* Dense, with this dtype and rank; the extents are the caller's to check. */
bool is_array(const pyptox_buffer* buffer, uint32_t dtype, uint32_t rank);

/* Where the row-major element `index` of the first `axes` axes stands, by the strides. */
uint64_t element_offset(const pyptox_buffer* buffer, uint32_t axes, uint64_t index);

/* The element at an offset. */
void* element_at(const pyptox_buffer* buffer, uint64_t offset);

/* Copies one element of `size` bytes: 1, 2, 4 or 8. */
void element_copy(void* to, const void* from, size_t size);

#endif /* PORTABLE_OPS_KERNELS_LAUNCH_H_ */
