// A disk that fails: at each call in turn, once or from then on. What was promised is there, what was not is not half
// there, and nothing is promised after the first failure.
#include "tests/unit/matrix/store/store_fixture.h"

namespace pyptox::store {
namespace {

// A VFS over SQLite's own whose calls of one kind fail from the n-th on.
enum class Call { kWrite, kSync, kTruncate, kShmMap };

struct Faults {
  Call call = Call::kWrite;
  int at = 0;  // 0: none
  int code = 0;
  int seen = 0;  // calls of that kind
  bool Hit(Call which) { return which == call && at != 0 && ++seen >= at; }
};
Faults faults;

struct FaultyFile {
  sqlite3_file base;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

FaultyFile* Of(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file); }
sqlite3_file* Real(sqlite3_file* file) { return Of(file)->real(); }

// Every method of sqlite3_io_methods handed on to the real file.
template <auto method, typename... Args>
int Pass(sqlite3_file* file, Args... args) {
  return (Real(file)->pMethods->*method)(Real(file), args...);
}
template <Call which, auto method, typename... Args>
int PassOrFail(sqlite3_file* file, Args... args) {
  return faults.Hit(which) ? faults.code : Pass<method, Args...>(file, args...);
}
void Barrier(sqlite3_file* file) { Real(file)->pMethods->xShmBarrier(Real(file)); }

using Io = sqlite3_io_methods;
Io FaultyMethods() {
  Io io{};
  io.iVersion = 2;
  io.xClose = &Pass<&Io::xClose>;
  io.xRead = &Pass<&Io::xRead, void*, int, sqlite3_int64>;
  io.xWrite = &PassOrFail<Call::kWrite, &Io::xWrite, const void*, int, sqlite3_int64>;
  io.xTruncate = &PassOrFail<Call::kTruncate, &Io::xTruncate, sqlite3_int64>;
  io.xSync = &PassOrFail<Call::kSync, &Io::xSync, int>;
  io.xFileSize = &Pass<&Io::xFileSize, sqlite3_int64*>;
  io.xLock = &Pass<&Io::xLock, int>;
  io.xUnlock = &Pass<&Io::xUnlock, int>;
  io.xCheckReservedLock = &Pass<&Io::xCheckReservedLock, int*>;
  io.xFileControl = &Pass<&Io::xFileControl, int, void*>;
  io.xSectorSize = &Pass<&Io::xSectorSize>;
  io.xDeviceCharacteristics = &Pass<&Io::xDeviceCharacteristics>;
  io.xShmMap = &PassOrFail<Call::kShmMap, &Io::xShmMap, int, int, int, void volatile**>;
  io.xShmLock = &Pass<&Io::xShmLock, int, int, int>;
  io.xShmBarrier = &Barrier;
  io.xShmUnmap = &Pass<&Io::xShmUnmap, int>;
  return io;
}

int OpenFaulty(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out) {
  static const Io methods = FaultyMethods();
  auto* const real = static_cast<sqlite3_vfs*>(vfs->pAppData);
  const int code = real->xOpen(real, name, Real(file), flags, out);
  file->pMethods = Real(file)->pMethods == nullptr ? nullptr : &methods;
  return code;
}

const char* FaultyVfs() {
  static sqlite3_vfs vfs = [] {
    sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);
    sqlite3_vfs faulty = *real;
    faulty.szOsFile = static_cast<int>(sizeof(FaultyFile)) + real->szOsFile;
    faulty.zName = "pyptox-faulty";
    faulty.pAppData = real;
    faulty.pNext = nullptr;
    faulty.xOpen = &OpenFaulty;
    return faulty;
  }();
  static const int registered = sqlite3_vfs_register(&vfs, 0);
  EXPECT_EQ(registered, SQLITE_OK);
  return vfs.zName;
}

struct FaultCase {
  const char* name;
  Call call;
  int code;
};

class FaultTest : public testing::TestWithParam<FaultCase> {
 protected:
  void TearDown() override { faults = {}; }
};

// Commits one job after the other, each large enough for several pages; gives how many were promised.
uint64_t CommitJobs(const std::string& path, uint64_t count) {
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path, FaultyVfs());
  if (!store.ok()) return 0;
  uint64_t promised = 0;
  for (uint64_t id = 1; id <= count; ++id) {
    Store::Transaction transaction = (*store)->Begin();
    v1::Job job = MakeJob(id);
    job.mutable_outcome()->set_reason(std::string(20'000, 'r'));
    transaction.PutJob(job);
    transaction.PutCounter("job", id);
    const absl::Status status = transaction.Commit();
    if (status.ok()) {
      EXPECT_EQ(promised + 1, id) << "promised after a failure";
      promised = id;
    } else {
      EXPECT_FALSE((*store)->failure().ok());
    }
  }
  return promised;
}

TEST_P(FaultTest, PromisesAreKept) {
  constexpr uint64_t kJobs = 12;
  uint64_t last = 0;
  int at = 1;
  // From the first call on, until the failure comes too late to matter.
  for (; last < kJobs; at += at < 40 ? 1 : 7) {
    const TempFolder folder;
    const std::string path = folder / "pyptox.db";
    faults = {GetParam().call, at, GetParam().code, 0};
    last = CommitJobs(path, kJobs);
    faults = {};
    absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(path);
    ASSERT_TRUE(store.ok()) << "call " << at << ": " << store.status();
    absl::StatusOr<Snapshot> snapshot = (*store)->LoadSnapshot();
    ASSERT_TRUE(snapshot.ok()) << snapshot.status();
    const uint64_t jobs = snapshot->jobs.size();
    EXPECT_GE(jobs, last) << "call " << at << ": a promise was lost";
    EXPECT_LE(jobs, last + 1) << "call " << at << ": written after the failure";
    EXPECT_EQ(snapshot->counters["job"], jobs) << "call " << at << ": half a transaction";
    absl::StatusOr<Database> database = Database::Open(path, SQLITE_OPEN_READONLY, nullptr);
    ASSERT_TRUE(database.ok());
    Statement check = database->Prepare("PRAGMA integrity_check");
    ASSERT_TRUE(check.Step());
    EXPECT_EQ(check.Text(0), "ok");
    ASSERT_LT(at, 2000);
  }
  EXPECT_GT(at, 2) << "no failure was ever seen";
}

INSTANTIATE_TEST_SUITE_P(Disk, FaultTest,
                         testing::Values(FaultCase{"FullOnWrite", Call::kWrite, SQLITE_FULL},
                                         FaultCase{"IoErrorOnWrite", Call::kWrite, SQLITE_IOERR_WRITE},
                                         FaultCase{"IoErrorOnSync", Call::kSync, SQLITE_IOERR_FSYNC},
                                         FaultCase{"IoErrorOnMap", Call::kShmMap, SQLITE_IOERR_SHMMAP}),
                         [](const auto& info) { return info.param.name; });

TEST(FullDisk, HasItsOwnCode) {
  const TempFolder folder;
  absl::StatusOr<std::unique_ptr<Store>> store = Store::Open(folder / "pyptox.db", FaultyVfs());
  ASSERT_TRUE(store.ok());
  faults = {Call::kWrite, 1, SQLITE_FULL, 0};
  Store::Transaction transaction = (*store)->Begin();
  transaction.PutCounter("job", 1);
  EXPECT_EQ(transaction.Commit().code(), absl::StatusCode::kResourceExhausted);
  faults = {};
}

}  // namespace
}  // namespace pyptox::store
