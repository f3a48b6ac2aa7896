// SPDX-License-Identifier: Apache-2.0
#include "learn/ps/region/shared_region.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include "xshards/memory/huge_pages.h"

namespace xshards::learn {

namespace {

arrow::Status Failed(const char* what, int64_t size) {
  return arrow::Status::IOError("Could not ", what, " ", size,
                                " bytes of shared memory: ", std::strerror(errno));
}

}  // namespace

SharedRegion::SharedRegion(int fd, int64_t size, std::byte* data,
                           std::shared_ptr<MemoryBudget> budget)
    : fd_(fd), size_(size), data_(data), budget_(std::move(budget)) {
  if (budget_ != nullptr) budget_->Add(size_);
}

SharedRegion::~SharedRegion() {
  munmap(data_, static_cast<size_t>(size_));
  close(fd_);
  if (budget_ != nullptr) budget_->Add(-size_);
}

arrow::Result<std::shared_ptr<SharedRegion>> SharedRegion::Create(
    int64_t size, std::shared_ptr<MemoryBudget> budget) {
  const int fd = memfd_create("xshards-parameters", MFD_CLOEXEC);
  if (fd < 0) return Failed("make", size);
  void* data = MAP_FAILED;
  if (ftruncate(fd, size) == 0) {
    data = MapForHugePages(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  }
  if (data == MAP_FAILED) {
    const auto status = Failed("map", size);
    close(fd);
    return status;
  }
  return std::shared_ptr<SharedRegion>(
      new SharedRegion(fd, size, static_cast<std::byte*>(data), std::move(budget)));
}

arrow::Result<std::shared_ptr<SharedRegion>> SharedRegion::Open(int fd) {
  struct stat about{};
  if (fstat(fd, &about) != 0 || about.st_size == 0) {
    return arrow::Status::IOError("Descriptor ", fd, " is not a parameter region");
  }
  const int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (own < 0) return Failed("share", about.st_size);
  void* data = MapForHugePages(about.st_size, PROT_READ, MAP_SHARED, own, 0);
  if (data == MAP_FAILED) {
    const auto status = Failed("map", about.st_size);
    close(own);
    return status;
  }
  return std::shared_ptr<SharedRegion>(
      new SharedRegion(own, about.st_size, static_cast<std::byte*>(data), nullptr));
}

arrow::Status SharedRegion::AllowWrites(int64_t offset, int64_t length) {
  if (length == 0) return arrow::Status::OK();
  if (mprotect(data_ + offset, static_cast<size_t>(length), PROT_READ | PROT_WRITE) !=
      0) {
    return Failed("make writable", length);
  }
  return arrow::Status::OK();
}

int64_t SharedRegion::PageSize() { return sysconf(_SC_PAGESIZE); }

int64_t SharedRegion::AlignToPage(int64_t bytes) {
  const int64_t page = PageSize();
  return (bytes + page - 1) / page * page;
}

}  // namespace xshards::learn
