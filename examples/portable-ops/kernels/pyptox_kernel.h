/* The C interface between pyptox-runner and a kernel in a shared object.
 *
 * A kernel is an exported function
 *
 *     int32_t NAME(const pyptox_launch* launch);
 *
 * The runner owns all memory and calls the kernel from one thread, several times with fresh outputs. A kernel
 * writes only to buffers whose role is OUT or INOUT and only within `bytes`; it leaves MXCSR/FPCR as it found
 * them. It returns PYPTOX_DONE, or a PYPTOX_REFUSED_* code when the input is outside its contract, and then has
 * written nothing.
 *
 * Units: bytes where a name says so, elements for strides and extents. Plain C11, usable from C++.
 */
#ifndef PYPTOX_BACKENDS_RUNNER_PYPTOX_KERNEL_H_
#define PYPTOX_BACKENDS_RUNNER_PYPTOX_KERNEL_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Raised with every change of the layouts below. A kernel may check launch->abi_version. */
#define PYPTOX_KERNEL_ABI 1u

/* What a kernel returns. */
enum {
  PYPTOX_DONE = 0,
  PYPTOX_REFUSED_ARGUMENT = 1, /* number, dtype, rank or extent of buffers or parameters */
  PYPTOX_REFUSED_INDEX = 2     /* an index in the data is out of range */
};

/* Element types; the numbers equal pyptox.v1.DType. */
enum {
  PYPTOX_F32 = 1,
  PYPTOX_F64 = 2,
  PYPTOX_F16 = 3,
  PYPTOX_BF16 = 4,
  PYPTOX_I8 = 5,
  PYPTOX_I16 = 6,
  PYPTOX_I32 = 7,
  PYPTOX_I64 = 8,
  PYPTOX_U8 = 9,
  PYPTOX_U16 = 10,
  PYPTOX_U32 = 11,
  PYPTOX_U64 = 12,
  PYPTOX_BOOL = 13
};

/* Roles; the numbers equal pyptox.v1.Role. */
enum { PYPTOX_IN = 1, PYPTOX_OUT = 2, PYPTOX_INOUT = 3 };

typedef struct pyptox_buffer {
  void* data;              /* first element; never null when bytes > 0 */
  uint64_t bytes;          /* length of the storage */
  uint32_t dtype;          /* PYPTOX_F32 ... */
  uint32_t role;           /* PYPTOX_IN ... */
  uint32_t rank;           /* number of axes; 0 for a scalar */
  uint32_t reserved;       /* 0 */
  const uint64_t* shape;   /* `rank` extents, outermost first; an extent may be 0 */
  const uint64_t* strides; /* `rank` steps in elements, always filled in */
} pyptox_buffer;

typedef struct pyptox_param {
  uint32_t is_float; /* 0: i64 counts, 1: f64 counts */
  uint32_t reserved; /* 0 */
  int64_t i64;
  double f64;
} pyptox_param;

typedef struct pyptox_launch {
  uint32_t abi_version; /* PYPTOX_KERNEL_ABI */
  uint32_t buffer_count;
  const pyptox_buffer* buffers;
  uint32_t param_count;
  uint32_t reserved; /* 0 */
  const pyptox_param* params;
} pyptox_launch;

typedef int32_t (*pyptox_kernel)(const pyptox_launch* launch);

#ifdef __cplusplus
}
#endif

#endif /* PYPTOX_BACKENDS_RUNNER_PYPTOX_KERNEL_H_ */
