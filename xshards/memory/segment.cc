// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/segment.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <arrow/io/interfaces.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/options.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/io_util.h>

#include "xshards/memory/mapping_cache.h"
#include "xshards/memory/nontemporal_copy.h"
#include "xshards/memory/segment_pool.h"

namespace xshards {

namespace {

/// A mapped buffer: the memory is unmapped when the buffer is destroyed, and the segment
/// is not recycled before.
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

/// Writes at a position of a descriptor; within its first bytes, to `mapped`.
class PositionedOutput final : public arrow::io::OutputStream {
 public:
  PositionedOutput(int fd, int64_t position, std::span<uint8_t> mapped)
      : fd_(fd), position_(position), mapped_(mapped) {}

  arrow::Status Write(const void* data, int64_t num_bytes) override {
    const auto* bytes = static_cast<const uint8_t*>(data);
    const int64_t num_mapped =
        std::clamp<int64_t>(std::ssize(mapped_) - position_, 0, num_bytes);
    if (num_mapped > 0) {
      StreamCopy(mapped_.data() + position_, bytes, static_cast<size_t>(num_mapped));
      bytes += num_mapped;
      num_bytes -= num_mapped;
      position_ += num_mapped;
    }
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
  const std::span<uint8_t> mapped_;
  bool closed_ = false;
};

// 64 bytes: mapped columns have the SIMD alignment of freshly allocated ones.
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

// Invalid if a segment has not all bytes of a range.
arrow::Status CheckRange(const Segment::Range& range, int64_t size) {
  if (range.offset >= 0 && range.length >= 0 && range.length <= size &&
      range.offset <= size - range.length) {
    return arrow::Status::OK();
  }
  return arrow::Status::Invalid("Expected bytes of a segment of ", size, ", got ",
                                range.length, " from byte ", range.offset, " on");
}

}  // namespace

Segment::Segment(SegmentKind kind, int fd, int64_t size, SegmentPool* pool,
                 MemoryBudget* budget)
    : kind_(kind), fd_(fd), size_(size), pool_(pool), budget_(budget) {
  if (pool_ != nullptr) pool_->CountOpen(1);
}

Segment::~Segment() {
  if (pool_ == nullptr) {
    close(fd_);
    if (budget_ != nullptr) budget_->Add(-accounted_);
    return;
  }
  pool_->CountOpen(-1);
  const SegmentPool::Idle own{.fd = fd_, .num_bytes = accounted_, .writer = writer_};
  // The pages of a recycled segment stay, and stay counted.
  if (kind_ == SegmentKind::kMemory && lent_ == 0 && pool_->Recycle(own)) return;
  // Bytes not written yet are never read, by any process.
  pool_->Close(own, /*unseen=*/lent_ == 0 || size() == 0);
}

void Segment::LendBlank(int64_t writer) {
  writer_ = writer;
  Lend();
}

arrow::Result<std::shared_ptr<Segment>> Segment::Adopt(SegmentKind kind, int fd,
                                                       int64_t size,
                                                       SegmentMapping mapping) {
  auto segment = std::shared_ptr<Segment>(new Segment(kind, fd, size, nullptr, nullptr));
  segment->mapping_kind_ = mapping;
  return segment;
}

void Segment::SetWritten(int64_t size) {
  size_ = size;
  AccountUpTo(size);
}

int64_t Segment::num_warm_bytes() const {
  struct stat status{};
  // Pages of a memfd are never freed individually, so it has all up to its end.
  return fstat(fd_, &status) == 0 ? status.st_size : 0;
}

void Segment::AccountUpTo(int64_t size) {
  if (budget_ == nullptr || kind_ != SegmentKind::kMemory || size <= accounted_) return;
  budget_->Add(size - accounted_);
  accounted_ = size;
}

template <typename Write>
arrow::Result<Segment::Range> Segment::AppendWith(const Write& write) {
  std::lock_guard lock(appending_);
  const int64_t begin = AlignUp(size());
  PositionedOutput output(fd_, begin,
                          warm_ == nullptr ? std::span<uint8_t>() : warm_->Map(*this));
  ARROW_RETURN_NOT_OK(write(&output));
  ARROW_ASSIGN_OR_RAISE(int64_t end, output.Tell());
  Grow(begin, end);
  return Range{.offset = begin, .length = end - begin};
}

arrow::Result<Segment::Range> Segment::Append(const arrow::RecordBatch& batch) {
  auto options = arrow::ipc::IpcWriteOptions::Defaults();
  options.alignment = kAlignment;
  options.use_threads = false;
  return AppendWith([&](arrow::io::OutputStream* output) -> arrow::Status {
    ARROW_ASSIGN_OR_RAISE(auto writer,
                          arrow::ipc::MakeStreamWriter(output, batch.schema(), options));
    ARROW_RETURN_NOT_OK(writer->WriteRecordBatch(batch));
    return writer->Close();
  });
}

arrow::Result<Segment::Range> Segment::Append(const arrow::Buffer& bytes) {
  return AppendWith([&](arrow::io::OutputStream* output) {
    return output->Write(bytes.data(), bytes.size());
  });
}

void Segment::Grow(int64_t begin, int64_t end) {
  size_ = end;
  AccountUpTo(end);
  if (kind_ == SegmentKind::kDisk && budget_ != nullptr) {
    budget_->CountSpilled(end - begin);
  }
}

arrow::Result<std::shared_ptr<arrow::Buffer>> Segment::Map(
    const std::shared_ptr<Segment>& segment) {
  // A segment that still grows is mapped to its final capacity, so that one mapping
  // suffices.
  const int64_t size = std::max(segment->size(), segment->capacity_);
  std::lock_guard lock(segment->mutex_);
  auto mapping = segment->mapping_.lock();
  if (mapping != nullptr && mapping->size() >= size) return mapping;
  // To read what is mapped and not there would be a signal.
  if (const int64_t found = segment->num_warm_bytes(); found < segment->size()) {
    return arrow::Status::IOError("Expected a segment of ", segment->size(),
                                  " bytes, got ", found);
  }
  const bool is_private = segment->mapping_kind_ == SegmentMapping::kPrivate;
  void* address = mmap(
      nullptr, static_cast<size_t>(size), is_private ? PROT_READ | PROT_WRITE : PROT_READ,
      is_private ? MAP_PRIVATE | MAP_NORESERVE : MAP_SHARED, segment->fd_, 0);
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
  ARROW_RETURN_NOT_OK(CheckRange(range, segment->size()));
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
  // Its disk may be at fault, its writer may have died: sizes and ends of offsets.
  ARROW_RETURN_NOT_OK(batch->Validate());
  return batch;
}

}  // namespace xshards
