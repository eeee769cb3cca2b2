// The one writer of the database DIR/pyptox.db: WAL, synchronous=FULL, and every checkpoint on this connection (SQLite
// 3.40.1 may lose committed rows when two connections write or checkpoint).
#ifndef PYPTOX_MATRIX_STORE_STORE_H_
#define PYPTOX_MATRIX_STORE_STORE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "matrix/store/snapshot.h"
#include "matrix/store/sqlite.h"

namespace pyptox::store {

// Not thread safe: it belongs to the controller's loop. After an I/O error every later call gives that error; the
// controller stops, and the next start verifies.
class Store {
 public:
  // Writes of one transaction. The first error sticks and Commit gives it.
  class Transaction {
   public:
    // Rolls back what was not committed.
    ~Transaction();
    Transaction(Transaction&& other) noexcept;

    void PutCounter(std::string_view name, uint64_t value);
    void PutJob(const v1::Job& job);
    // Also makes the suite's lanes known, so that their cells exist before they ran.
    void PutJobSpec(uint64_t job_id, const v1::JobSpec& spec);
    void PutAttempt(const v1::Attempt& attempt);
    void PutLease(const v1::Lease& lease);
    void DeleteLeases(uint64_t attempt_id);
    void PutToken(std::string_view key, uint64_t token);
    void PutAgent(const v1::Agent& agent);
    // A fact joins the history when its value, observer or method is new.
    void PutResource(const v1::Resource& resource);
    // Once for each id.
    void PutResourceOrder(const v1::ResourceOrder& order);
    // Refused when it is not the next of the chain, or its job or attempt has a record.
    void PutRecord(const v1::Record& record, const v1::StoredRecord& stored);
    void PutOrphan(const v1::AttemptFinished& finished, std::string_view agent, std::string_view reason);
    void PutIdempotency(std::string_view key, uint64_t submission_id);

    // Durable when it is OK.
    absl::Status Commit();

   private:
    friend class Store;
    explicit Transaction(Store* store);
    Statement Prepare(std::string_view sql) const;
    void PutFacts(const v1::Resource& resource);
    void PutFact(const std::string& resource, const v1::Fact& fact);
    void Note(absl::Status status);

    Store* store_;
    absl::Status status_;
  };

  // Opens or makes the database. `vfs` is for tests. FAILED_PRECONDITION for a newer schema.
  static absl::StatusOr<std::unique_ptr<Store>> Open(const std::string& path, const char* vfs = nullptr);
  ~Store();

  absl::StatusOr<Snapshot> LoadSnapshot();
  Transaction Begin() { return Transaction(this); }
  // 32 hex digits, made with the database.
  const std::string& database_id() const { return database_id_; }
  const absl::Status& failure() const { return failure_; }

 private:
  explicit Store(Database database) : database_(std::move(database)) {}
  absl::Status Prepare();

  Database database_;
  std::string database_id_;
  absl::Status failure_;
};

}  // namespace pyptox::store

#endif  // PYPTOX_MATRIX_STORE_STORE_H_
