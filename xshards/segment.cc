// SPDX-License-Identifier: Apache-2.0
#include "xshards/segment.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/io_util.h>

namespace xshards {

namespace {

/// Memory freed by MADV or munmap only when the buffer dies, and the segment not recycled
/// before that.
class MappedBuffer final : public arrow::Buffer {
 public:
  MappedBuffer(const uint8_t* data, int64_t size, std::shared_ptr<Segment> segment)
      : arrow::Buffer(data, size), segment_(std::move(segment)) {}
  ~MappedBuffer() override {
    munmap(const_cast<uint8_t*>(data_), static_cast<size_t>(size_));
  }

 private:
  std::shared_ptr<Segment> segment_;
};

/// Writes at a position of a descriptor.
class PositionedOutput final : public arrow::io::OutputStream {
 public:
  PositionedOutput(int fd, int64_t position) : fd_(fd), position_(position) {}

  arrow::Status Write(const void* data, int64_t num_bytes) override {
    const auto* bytes = static_cast<const uint8_t*>(data);
    while (num_bytes > 0) {
      ssize_t written = pwrite(fd_, bytes, static_cast<size_t>(num_bytes), position_);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        return arrow::Status::IOError(
            "Could not write ", num_bytes,
            " bytes of spilled or shared data: ", std::strerror(errno));
      }
      bytes += written;
      num_bytes -= written;
      position_ += written;
    }
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }

 private:
  const int fd_;
  int64_t position_;
  bool closed_ = false;
};

// 64 bytes, so that mapped columns are aligned for SIMD as freshly allocated ones are.
constexpr int32_t kAlignment = 64;

int64_t AlignUp(int64_t position) {
  return (position + kAlignment - 1) / kAlignment * kAlignment;
}

arrow::Status ReadFully(int fd, int64_t offset, int64_t length, uint8_t* out) {
  while (length > 0) {
    ssize_t count = pread(fd, out, static_cast<size_t>(length), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return arrow::Status::IOError("Could not read spilled data back: ",
                                    std::strerror(errno));
    }
    if (count == 0) {
      return arrow::Status::IOError("Spilled data ends ", length, " bytes early");
    }
    out += count;
    length -= count;
    offset += count;
  }
  return arrow::Status::OK();
}

arrow::Result<int> OpenUnnamedFile(const std::string& directory) {
  int fd = open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) return fd;
  // Not every file system has O_TMPFILE.
  std::string path = directory + "/xshards-XXXXXX";
  fd = mkostemp(path.data(), O_CLOEXEC);
  if (fd < 0) {
    return arrow::Status::IOError("Cannot write to the spill directory '", directory,
                                  "': ", std::strerror(errno),
                                  ". Pass a directory that exists and is writable");
  }
  unlink(path.c_str());
  return fd;
}

arrow::Result<int> OpenMemory() {
  int fd = memfd_create("xshards", MFD_CLOEXEC);
  if (fd < 0) {
    return arrow::Status::IOError("memfd_create failed: ", std::strerror(errno));
  }
  return fd;
}

}  // namespace

Segment::Segment(SegmentKind kind, int fd, int64_t size, SegmentPool* pool,
                 MemoryBudget* budget)
    : kind_(kind), fd_(fd), size_(size), pool_(pool), budget_(budget) {}

Segment::~Segment() {
  const bool recycled = pool_ != nullptr && kind_ == SegmentKind::kMemory && !exported_ &&
                        pool_->Recycle(fd_, accounted_);
  if (recycled) return;  // its pages stay, and stay counted
  close(fd_);
  if (budget_ != nullptr) budget_->Add(-accounted_);
}

arrow::Result<std::shared_ptr<Segment>> Segment::Adopt(SegmentKind kind, int fd,
                                                       int64_t size) {
  auto segment = std::shared_ptr<Segment>(new Segment(kind, fd, size, nullptr, nullptr));
  segment->MarkExported();
  return segment;
}

void Segment::Account(MemoryBudget* budget) {
  budget_ = budget;
  AccountUpTo(size());
}

void Segment::AccountUpTo(int64_t size) {
  if (budget_ == nullptr || kind_ != SegmentKind::kMemory || size <= accounted_) return;
  budget_->Add(size - accounted_);
  accounted_ = size;
}

arrow::Result<Segment::Range> Segment::Append(const arrow::RecordBatch& batch) {
  const int64_t begin = AlignUp(size());
  PositionedOutput output(fd_, begin);
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.alignment = kAlignment;
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(auto writer,
                        arrow::ipc::MakeStreamWriter(&output, batch.schema(), options));
  ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(batch));
  ARROW_RETURN_NOT_OK(writer->Close());
  ARROW_ASSIGN_OR_RAISE(int64_t end, output.Tell());
  size_ = end;
  AccountUpTo(end);
  if (kind_ == SegmentKind::kDisk && budget_ != nullptr) {
    budget_->CountSpilled(end - begin);
  }
  return Range{.offset = begin, .length = end - begin};
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Segment::Map(
    const std::shared_ptr<Segment>& segment) {
  const int64_t size = segment->size();
  std::lock_guard lock(segment->mutex_);
  auto mapping = segment->mapping_.lock();
  if (mapping != nullptr && mapping->size() >= size) return mapping;
  void* address =
      mmap(nullptr, static_cast<size_t>(size), PROT_READ, MAP_SHARED, segment->fd_, 0);
  if (address == MAP_FAILED) {
    return arrow::Status::IOError("Could not map a segment of ", size,
                                  " bytes: ", std::strerror(errno));
  }
  mapping =
      std::make_shared<MappedBuffer>(static_cast<const uint8_t*>(address), size, segment);
  segment->mapping_ = mapping;
  return mapping;
}

arrow::Result<std::shared_ptr<arrow::RecordBatch>> Segment::Read(
    const std::shared_ptr<Segment>& segment, Range range, arrow::MemoryPool* pool) {
  std::shared_ptr<arrow::Buffer> bytes;
  if (segment->kind() == SegmentKind::kMemory) {
    ARROW_ASSIGN_OR_RAISE(auto mapping, Map(segment));
    bytes = arrow::SliceBuffer(mapping, range.offset, range.length);
  } else {
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateBuffer(range.length, pool));
    ARROW_RETURN_NOT_OK(
        ReadFully(segment->fd(), range.offset, range.length, buffer->mutable_data()));
    bytes = std::move(buffer);
  }
  auto options = arrow::ipc::IpcReadOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  ARROW_ASSIGN_OR_RAISE(auto reader,
                        arrow::ipc::RecordBatchStreamReader::Open(
                            std::make_shared<arrow::io::BufferReader>(bytes), options));
  ARROW_ASSIGN_OR_RAISE(auto batch, reader->Next());
  if (batch == nullptr) return arrow::Status::IOError("A stored block holds no batch");
  return batch;
}

SegmentPool::SegmentPool(std::string spill_directory, MemoryBudget* budget,
                         int64_t max_idle_bytes)
    : spill_directory_(std::move(spill_directory)),
      budget_(budget),
      max_idle_bytes_(max_idle_bytes) {}

SegmentPool::~SegmentPool() { ReleaseIdle(); }

arrow::Result<std::unique_ptr<SegmentPool>> SegmentPool::Make(std::string spill_directory,
                                                              MemoryBudget* budget,
                                                              int64_t max_idle_bytes) {
  ARROW_ASSIGN_OR_RAISE(int probe, OpenUnnamedFile(spill_directory));
  close(probe);
  return std::unique_ptr<SegmentPool>(
      new SegmentPool(std::move(spill_directory), budget, max_idle_bytes));
}

arrow::Result<std::shared_ptr<Segment>> SegmentPool::Create(SegmentKind kind) {
  if (kind == SegmentKind::kDisk) {
    ARROW_ASSIGN_OR_RAISE(int fd, OpenUnnamedFile(spill_directory_));
    return std::shared_ptr<Segment>(new Segment(kind, fd, 0, this, budget_));
  }
  Idle idle{.fd = -1, .num_bytes = 0};
  {
    std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      idle = idle_.back();
      idle_.pop_back();
      idle_bytes_ -= idle.num_bytes;
    }
  }
  if (idle.fd < 0) {
    ARROW_ASSIGN_OR_RAISE(idle.fd, OpenMemory());
  }
  auto segment = std::shared_ptr<Segment>(new Segment(kind, idle.fd, 0, this, budget_));
  segment->accounted_ = idle.num_bytes;
  return segment;
}

bool SegmentPool::Recycle(int fd, int64_t num_bytes) {
  std::lock_guard lock(mutex_);
  if (num_bytes == 0 || idle_bytes_ + num_bytes > max_idle_bytes_) return false;
  idle_.push_back({.fd = fd, .num_bytes = num_bytes});
  idle_bytes_ += num_bytes;
  return true;
}

void SegmentPool::ReleaseIdle() {
  std::lock_guard lock(mutex_);
  for (const Idle& idle : idle_) close(idle.fd);
  if (budget_ != nullptr) budget_->Add(-idle_bytes_);
  idle_.clear();
  idle_bytes_ = 0;
}

}  // namespace xshards
