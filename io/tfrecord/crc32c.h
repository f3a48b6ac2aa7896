// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace xshards::io {

/// The CRC-32C (Castagnoli) of bytes, by the processor's instruction where it has one.
uint32_t Crc32c(std::string_view bytes);
/// The same by a table, on every processor.
uint32_t Crc32cByTable(std::string_view bytes);

/// A CRC as TFRecord files store it: rotated and offset, so that the CRC of bytes that
/// contain CRCs is not special.
inline uint32_t MaskedCrc32c(std::string_view bytes) {
  const uint32_t crc = Crc32c(bytes);
  return ((crc >> 15) | (crc << 17)) + 0xa282ead8U;
}

}  // namespace xshards::io
