#include "base/blob_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/file_io.h"
#include "tests/support/temp_folder.h"

namespace pyptox {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Path of a blob inside the store, by the rule in the header.
std::string NameOf(const Digest& digest) { return digest.Hex().substr(0, 2) + "/" + digest.Hex().substr(2); }

class BlobStoreTest : public testing::Test {
 protected:
  BlobStoreTest() : store_(*BlobStore::Open(folder_ / "blobs")) {}

  std::string PathOf(const Digest& digest) const { return folder_ / ("blobs/" + NameOf(digest)); }

  // All pieces, joined; the sizes go to `pieces`.
  absl::StatusOr<std::string> ReadAll(const Digest& digest, uint64_t offset, std::vector<size_t>* pieces = nullptr) {
    std::string data;
    const absl::Status status = store_->Read(digest, offset, [&](std::string_view piece) {
      if (pieces != nullptr) pieces->push_back(piece.size());
      data += piece;
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    return data;
  }

  std::vector<std::string> Temporaries() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ / "blobs/tmp")) names.push_back(entry.path());
    return names;
  }

  void Damage(const Digest& digest, const std::string& data) {
    ASSERT_EQ(chmod(PathOf(digest).c_str(), 0600), 0);
    std::ofstream(PathOf(digest), std::ios::binary) << data;
  }

  TempFolder folder_;
  std::unique_ptr<BlobStore> store_;
};

TEST_F(BlobStoreTest, KeepsBytesByTheirDigest) {
  const Digest digest = *store_->Put("hello");
  EXPECT_EQ(digest, Sha256Of("hello"));
  EXPECT_TRUE(store_->Contains(digest));
  EXPECT_FALSE(store_->Contains(Sha256Of("other")));
  EXPECT_EQ(*ReadAll(digest, 0), "hello");
  EXPECT_EQ(*ReadAll(digest, 2), "llo");
  EXPECT_EQ(*ReadAll(digest, 5), "");
  EXPECT_EQ(folder_.Read("blobs/" + NameOf(digest)), "hello");
  EXPECT_EQ(folder_.Mode("blobs"), 0700);
  EXPECT_EQ(folder_.Mode("blobs/" + NameOf(digest)), 0400);
  EXPECT_EQ(*store_->Put("hello"), digest);  // again: fine
  EXPECT_EQ(*ReadAll(*store_->Put(""), 0), "");
  EXPECT_EQ(ReadAll(Sha256Of("other"), 0).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadAll(digest, 6).status().code(), absl::StatusCode::kOutOfRange);
}

TEST_F(BlobStoreTest, ReadsInPiecesFromAnyOffset) {
  constexpr size_t kMiB = 1 << 20;
  std::string data(2 * kMiB + 3, 'a');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 31 >> 3);
  const Digest digest = *store_->Put(data);
  std::vector<size_t> pieces;
  EXPECT_EQ(*ReadAll(digest, 0, &pieces), data);
  EXPECT_THAT(pieces, ElementsAre(kMiB, kMiB, 3));
  for (size_t offset : {size_t{1}, kMiB - 1, kMiB, kMiB + 1, 2 * kMiB, 2 * kMiB + 2, data.size()}) {
    EXPECT_EQ(*ReadAll(digest, offset), data.substr(offset)) << offset;
  }
}

TEST_F(BlobStoreTest, TheCallersErrorEndsTheRead) {
  const Digest digest = *store_->Put("hello");
  EXPECT_EQ(store_->Read(digest, 0, [](std::string_view) { return absl::CancelledError("stop"); }),
            absl::CancelledError("stop"));
  EXPECT_TRUE(store_->Contains(digest));
}

TEST_F(BlobStoreTest, WriterTakesExactlyWhatWasAnnounced) {
  const Digest digest = Sha256Of("abc");
  {
    auto writer = *store_->Write(digest, 3);
    ASSERT_TRUE(writer->Append("a").ok());
    ASSERT_TRUE(writer->Append("").ok());
    EXPECT_FALSE(store_->Contains(digest));
    ASSERT_TRUE(writer->Append("bc").ok());
    ASSERT_TRUE(writer->Commit().ok());
    EXPECT_EQ(writer->Commit().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(writer->Append("").code(), absl::StatusCode::kFailedPrecondition);
  }
  EXPECT_EQ(*ReadAll(digest, 0), "abc");
  EXPECT_THAT(Temporaries(), IsEmpty());
}

TEST_F(BlobStoreTest, WrongDigestOrSizeLeavesNothing) {
  const Digest digest = Sha256Of("abc");
  const auto write = [&](uint64_t size, const std::string& data) {
    auto writer = *store_->Write(digest, size);
    absl::Status status = writer->Append(data);
    return status.ok() ? writer->Commit() : status;
  };
  EXPECT_EQ(write(3, "abd").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(write(3, "ab").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(write(2, "abc").code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(write(4, "abc").code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(write(3, "abd").message(), HasSubstr(digest.Hex()));
  EXPECT_FALSE(store_->Contains(digest));
  EXPECT_THAT(Temporaries(), IsEmpty());
}

TEST_F(BlobStoreTest, NoCommitLeavesNothing) {
  {
    auto writer = *store_->Write(Sha256Of("abc"), 3);
    ASSERT_TRUE(writer->Append("abc").ok());
    EXPECT_EQ(Temporaries().size(), 1u);
  }
  EXPECT_THAT(Temporaries(), IsEmpty());
  EXPECT_FALSE(store_->Contains(Sha256Of("abc")));
}

TEST_F(BlobStoreTest, BadBytesOnDiskAreFoundAndPutAside) {
  const std::string data(3 << 20, 'a');
  for (const std::string& bad :
       {data.substr(1), data + "a", "b" + data.substr(1), data.substr(0, data.size() - 1) + "b", std::string()}) {
    const Digest digest = *store_->Put(data);
    Damage(digest, bad);
    std::string got;
    const absl::Status status = store_->Read(digest, 0, [&](std::string_view piece) {
      got += piece;
      return absl::OkStatus();
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_TRUE(bad.empty() || got.size() < bad.size());  // the last piece was never handed over
    EXPECT_FALSE(store_->Contains(digest));
    EXPECT_EQ(folder_.Read("blobs/bad/" + digest.Hex()), bad);
    EXPECT_EQ(ReadAll(digest, 0).status().code(), absl::StatusCode::kNotFound);
  }
  EXPECT_EQ(*ReadAll(*store_->Put(data), 0), data);  // it heals
}

TEST_F(BlobStoreTest, BadBytesBeforeTheOffsetCountToo) {
  const Digest digest = *store_->Put("hello");
  Damage(digest, "jello");
  EXPECT_EQ(ReadAll(digest, 3).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(BlobStoreTest, PutFile) {
  folder_.Write("f", "hello");
  uint64_t size = 0;
  EXPECT_EQ(*store_->PutFile(folder_ / "f", &size), Sha256Of("hello"));
  EXPECT_EQ(size, 5u);
  EXPECT_EQ(*ReadAll(Sha256Of("hello"), 0), "hello");
  folder_.Write("empty", "");
  EXPECT_EQ(*store_->PutFile(folder_ / "empty", &size), Sha256Of(""));
  EXPECT_EQ(size, 0u);
  ASSERT_EQ(mkfifo((folder_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(store_->PutFile(folder_ / "fifo", &size).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->PutFile(folder_.path(), &size).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store_->PutFile(folder_ / "none", &size).status().code(), absl::StatusCode::kNotFound);
}

TEST_F(BlobStoreTest, PutFileNeverStoresAMixture) {
  const std::string a(300'000, 'a'), b(300'000, 'b');
  folder_.Write("f", a);
  std::atomic<bool> stop = false;
  std::thread changer([&] {
    UniqueFd fd(open((folder_ / "f").c_str(), O_WRONLY | O_CLOEXEC));
    for (int i = 0; !stop; ++i) ASSERT_EQ(pwrite(fd.get(), (i % 2 == 0 ? b : a).data(), a.size(), 0), 300'000);
  });
  for (int i = 0; i < 30; ++i) {
    uint64_t size = 0;
    const absl::StatusOr<Digest> digest = store_->PutFile(folder_ / "f", &size);
    if (!digest.ok()) {
      EXPECT_EQ(digest.status().code(), absl::StatusCode::kFailedPrecondition) << digest.status();
    } else {
      EXPECT_EQ(Sha256Of(*ReadAll(*digest, 0)), *digest);
    }
  }
  stop = true;
  changer.join();
  EXPECT_THAT(Temporaries(), IsEmpty());
}

TEST_F(BlobStoreTest, CopyTo) {
  const Digest digest = *store_->Put("hello");
  const UniqueFd root = folder_.Open();
  ASSERT_TRUE(store_->CopyTo(digest, root.get(), "a/b", 0755).ok());
  EXPECT_EQ(folder_.Read("a/b"), "hello");
  EXPECT_EQ(folder_.Mode("a/b"), 0755);
  EXPECT_EQ(store_->CopyTo(digest, root.get(), "a/b", 0600).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(folder_.Read("a/b"), "hello");
  EXPECT_EQ(store_->CopyTo(digest, root.get(), "../b", 0600).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(store_->CopyTo(Sha256Of("x"), root.get(), "a/c", 0600).code(), absl::StatusCode::kNotFound);
  Damage(digest, "jello");
  EXPECT_EQ(store_->CopyTo(digest, root.get(), "a/d", 0600).code(), absl::StatusCode::kDataLoss);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/c"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a/d"));
}

void SetAge(const std::string& path, int64_t seconds) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  const timespec times[2] = {{now.tv_sec - seconds, 0}, {now.tv_sec - seconds, 0}};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

TEST_F(BlobStoreTest, CollectRemovesWhatIsOldAndNotKept) {
  const Digest kept = *store_->Put("kept"), old = *store_->Put("old"), young = *store_->Put("young"),
               used = *store_->Put("used");
  for (const Digest& digest : {kept, old, used}) SetAge(PathOf(digest), 7200);
  SetAge(PathOf(young), 1800);
  EXPECT_TRUE(store_->Contains(used));  // asking renews the age
  EXPECT_EQ(*store_->Collect({kept}, Seconds(3600)), 1u);
  EXPECT_TRUE(store_->Contains(kept));
  EXPECT_TRUE(store_->Contains(young));
  EXPECT_TRUE(store_->Contains(used));
  EXPECT_FALSE(store_->Contains(old));
  EXPECT_EQ(*store_->Collect({}, Seconds(0)), 3u);
  EXPECT_EQ(*store_->Collect({}, Seconds(0)), 0u);
  EXPECT_THAT(Temporaries(), IsEmpty());
}

TEST_F(BlobStoreTest, OpenRemovesLeftoversOfTheDeadOnly) {
  folder_.Write("blobs/tmp/99999-0", "left by a dead writer");
  auto alive = *store_->Write(Sha256Of("abc"), 3);
  ASSERT_TRUE(alive->Append("abc").ok());
  auto second = *BlobStore::Open(folder_ / "blobs");
  EXPECT_EQ(Temporaries().size(), 1u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "blobs/tmp/99999-0"));
  EXPECT_TRUE(alive->Commit().ok());
  EXPECT_TRUE(second->Contains(Sha256Of("abc")));
}

TEST_F(BlobStoreTest, AKilledWriterLeavesNothingAfterTheNextOpen) {
  const pid_t child = fork();
  if (child == 0) {
    auto writer = *store_->Write(Sha256Of("abc"), 3);
    (void)writer->Append("ab");
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(Temporaries().size(), 1u);
  ASSERT_TRUE(BlobStore::Open(folder_ / "blobs").ok());
  EXPECT_THAT(Temporaries(), IsEmpty());
  EXPECT_FALSE(store_->Contains(Sha256Of("abc")));
}

TEST_F(BlobStoreTest, ConcurrentWritersOfTheSameAndOfOtherBlobs) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        EXPECT_TRUE(store_->Put("same " + std::to_string(i)).ok());
        EXPECT_TRUE(store_->Put("own " + std::to_string(t) + " " + std::to_string(i)).ok());
        EXPECT_TRUE(BlobStore::Open(folder_ / "blobs").ok());  // a cleaner beside the writers
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(ReadAll(Sha256Of("same " + std::to_string(i)), 0).ok());
    for (int t = 0; t < 4; ++t) {
      EXPECT_TRUE(ReadAll(Sha256Of("own " + std::to_string(t) + " " + std::to_string(i)), 0).ok());
    }
  }
  EXPECT_THAT(Temporaries(), IsEmpty());
}

TEST_F(BlobStoreTest, AFullDiskIsResourceExhaustedAndLeavesNothing) {
  const std::string data(100'000, 'x');
  folder_.Write("f", data);
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{5000, 5000};
    setrlimit(RLIMIT_FSIZE, &limit);
    uint64_t size = 0;
    // A chunk that failed half-way can't be tried again: its first part is in the file.
    auto writer = *store_->Write(Sha256Of(data.substr(0, 6000)), 6000);
    bool good = writer->Append(data.substr(0, 6000)).code() == absl::StatusCode::kResourceExhausted &&
                writer->Append("x").code() == absl::StatusCode::kFailedPrecondition &&
                writer->Commit().code() == absl::StatusCode::kFailedPrecondition;
    good = good && store_->Put(data).status().code() == absl::StatusCode::kResourceExhausted &&
           store_->PutFile(folder_ / "f", &size).status().code() == absl::StatusCode::kResourceExhausted;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(store_->Contains(Sha256Of(data)));
  EXPECT_THAT(Temporaries(), IsEmpty());
}

}  // namespace
}  // namespace pyptox
