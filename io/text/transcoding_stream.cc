// SPDX-License-Identifier: Apache-2.0
#include "io/text/transcoding_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "io/text/parse_error.h"

namespace xshards::io {
namespace {

constexpr size_t kInputBytes = 64 << 10;
constexpr std::ptrdiff_t kMaxCharacterBytes = 4;

// The characters of bytes 0x80 to 0x9F in cp1252; 0: undefined.
constexpr uint16_t kCp1252[32] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020,
                                  0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
                                  0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D,
                                  0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
                                  0x0153, 0,      0x017E, 0x0178};

char* PutCharacter(uint32_t code, char* out) {
  const auto put = [&](uint32_t byte) { *out++ = static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6);
    put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
    put(0x80 | (code & 0x3F));
  }
  return out;
}

}  // namespace

TranscodingStream::TranscodingStream(std::shared_ptr<arrow::io::InputStream> input,
                                     TextEncoding encoding, int64_t position)
    : TextStream(std::move(input)),
      encoding_(encoding),
      bytes_(kInputBytes),
      position_(position) {}

arrow::Status TranscodingStream::Refill() {
  std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(begin_),
            bytes_.begin() + static_cast<std::ptrdiff_t>(end_), bytes_.begin());
  end_ -= std::exchange(begin_, 0);
  ARROW_ASSIGN_OR_RAISE(
      const int64_t got,
      input().Read(static_cast<int64_t>(bytes_.size() - end_), bytes_.data() + end_));
  end_ += static_cast<size_t>(got);
  is_at_end_ = got == 0;
  return arrow::Status::OK();
}

arrow::Status TranscodingStream::TakeMark() {
  constexpr uint32_t kMark = 0xFEFF;
  if (UnitAt(begin_) == kMark) {
    encoding_ = TextEncoding::kUtf16Le;
  } else {
    encoding_ = TextEncoding::kUtf16Be;
    if (UnitAt(begin_) != kMark) {
      return arrow::Status::Invalid(
          "Expected utf-16 text that begins with a byte order mark; without one, pass "
          "utf-16-le or utf-16-be as its encoding");
    }
  }
  begin_ += 2;
  position_ += 2;
  return arrow::Status::OK();
}

arrow::Status TranscodingStream::NoCharacter(size_t num_bytes) const {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string shown;
  for (size_t i = begin_; i < begin_ + num_bytes; ++i) {
    shown.append(" 0x");
    shown += kDigits[bytes_[i] >> 4];
    shown += kDigits[bytes_[i] & 15];
  }
  return Undecodable(
      "Expected text in " + NameOf(encoding_) + ", got" + shown + " at byte " +
          std::to_string(position_) + ", which is not a valid character",
      NameOf(encoding_),
      std::string(reinterpret_cast<const char*>(&bytes_[begin_]), num_bytes));
}

arrow::Result<char*> TranscodingStream::DecodeBytes(char* out, char* end) {
  const size_t start = begin_;
  while (begin_ < end_ && end - out >= kMaxCharacterBytes) {
    // Eight at a time, as most are ASCII.
    constexpr uint64_t kHighBits = 0x8080808080808080;
    uint64_t word = kHighBits;
    if (end_ - begin_ >= sizeof(word)) std::memcpy(&word, &bytes_[begin_], sizeof(word));
    if ((word & kHighBits) == 0 && end - out >= std::ptrdiff_t{sizeof(word)}) {
      std::memcpy(out, &word, sizeof(word));
      out += sizeof(word);
      begin_ += sizeof(word);
      continue;
    }
    uint32_t code = bytes_[begin_];
    if (encoding_ == TextEncoding::kCp1252 && code >= 0x80 && code < 0xA0) {
      code = kCp1252[code - 0x80];
      if (code == 0) {
        position_ += static_cast<int64_t>(begin_ - start);
        return NoCharacter(1);
      }
    }
    out = PutCharacter(code, out);
    ++begin_;
  }
  position_ += static_cast<int64_t>(begin_ - start);
  return out;
}

uint32_t TranscodingStream::UnitAt(size_t at) const {
  const uint32_t first = bytes_[at];
  const uint32_t second = bytes_[at + 1];
  return encoding_ == TextEncoding::kUtf16Be ? first << 8 | second : second << 8 | first;
}

arrow::Result<char*> TranscodingStream::DecodeUnits(char* out, char* end) {
  while (end_ - begin_ >= 2 && end - out >= kMaxCharacterBytes) {
    uint32_t code = UnitAt(begin_);
    size_t num_bytes = 2;
    if ((code & 0xF800) == 0xD800) {
      const bool is_first = code < 0xDC00;
      if (is_first && end_ - begin_ < 4 && !is_at_end_) break;
      const uint32_t second =
          is_first && end_ - begin_ >= 4 ? UnitAt(begin_ + 2) : uint32_t{0};
      if ((second & 0xFC00) != 0xDC00) return NoCharacter(2);
      code = 0x10000 + ((code & 0x3FF) << 10) + (second & 0x3FF);
      num_bytes = 4;
    }
    out = PutCharacter(code, out);
    begin_ += num_bytes;
    position_ += static_cast<int64_t>(num_bytes);
  }
  return out;
}

arrow::Result<char*> TranscodingStream::Decode(char* out, char* end) {
  if (HasOneByteCharacters(encoding_)) return DecodeBytes(out, end);
  if (encoding_ == TextEncoding::kUtf16) {
    if (end_ - begin_ < 2) return out;
    ARROW_RETURN_NOT_OK(TakeMark());
  }
  return DecodeUnits(out, end);
}

arrow::Result<int64_t> TranscodingStream::Fill(int64_t num_bytes, char* out) {
  char* const end = out + num_bytes;
  char* at = out;
  while (at < end) {
    if (character_begin_ < character_end_) {
      *at++ = character_[character_begin_++];
      continue;
    }
    if (end - at >= kMaxCharacterBytes) {
      ARROW_ASSIGN_OR_RAISE(char* const next, Decode(at, end));
      if (next != at) {
        at = next;
        continue;
      }
    } else {
      ARROW_ASSIGN_OR_RAISE(
          const char* const next,
          Decode(character_.data(), character_.data() + kMaxCharacterBytes));
      character_begin_ = 0;
      character_end_ = static_cast<size_t>(next - character_.data());
      if (character_end_ > 0) continue;
    }
    if (is_at_end_) {
      if (begin_ < end_) return NoCharacter(end_ - begin_);
      break;
    }
    ARROW_RETURN_NOT_OK(Refill());
  }
  return at - out;
}

}  // namespace xshards::io
