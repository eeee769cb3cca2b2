// What a cell of the matrix says, out of the records of its lane. Pure. The view `matrix` picks by the same rule in SQL
// (matrix/store/schema.cc); a test holds the two against each other.
//
// - The newest record that is admitted and says something about the code decides: PASS, PASS (limited), FAIL,
//   BLOCKED(toolchain), BLOCKED(device). Without one the cell is NEVER_RUN.
// - A PASS goes STALE when a newer admitted record came to no verdict by the code's or the suite's doing: NO_VERDICT
//   (fewer cases than planned, a prerequisite that failed) or TIMEOUT(run|silence).
// - A newer complete record of another kind changes nothing and is named in the reason: one that is not admitted, or
//   one whose lack of a verdict is the harness's or a person's doing (INFRA, LOST, CANCELLED, TIMEOUT(queue)).
// - Partial records are no statement about the cell.
#ifndef PYPTOX_MATRIX_STANDING_H_
#define PYPTOX_MATRIX_STANDING_H_

#include <span>
#include <string>

#include "pyptox/v1/matrix.pb.h"
#include "pyptox/v1/record.pb.h"

namespace pyptox::matrix {

// What the record says by itself: `PASS`, `PASS (limited)`, `FAIL`, `BLOCKED(toolchain)`, `BLOCKED(device)`; empty when
// it came to no verdict.
std::string RecordStanding(const v1::Record& record);

// One sentence to it: the outcome's reason; of a limited PASS the first thing that it does not cover.
std::string RecordReason(const v1::Record& record);

// The record came to no verdict, and not by the harness's doing.
bool UnsettlesPass(const v1::Outcome& outcome);

// The cell of `lane` of `suite`. `records` are that lane's, in order of their ids; target and resource are those that
// the newest suite gives the lane.
v1::Cell CellOf(const std::string& suite, const v1::Lane& lane, std::span<const v1::Record> records);

}  // namespace pyptox::matrix

#endif  // PYPTOX_MATRIX_STANDING_H_
