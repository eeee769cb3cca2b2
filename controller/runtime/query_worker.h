// The process that answers one SQL statement (docs/adr/0004).
#ifndef PYPTOX_CONTROLLER_RUNTIME_QUERY_WORKER_H_
#define PYPTOX_CONTROLLER_RUNTIME_QUERY_WORKER_H_

#include <string>

namespace pyptox::controller {

// Reads SQL from stdin; writes a QueryResponse as JSON to stdout, or words to stderr. The process's exit code, as
// controller/rpc/query_process.h expects it.
int RunQueryWorker(const std::string& database);

}  // namespace pyptox::controller

#endif  // PYPTOX_CONTROLLER_RUNTIME_QUERY_WORKER_H_
