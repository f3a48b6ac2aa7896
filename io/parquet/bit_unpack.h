// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace xshards::io {

/// Unpack `count` numbers of `width` bits (1 to 32) each, packed from the lowest bit on,
/// the first at `first_bit` of `data`. Never reads past `end`, before which the numbers
/// must end. Uses AVX2 if the processor has it.
void UnpackBits(const uint8_t* data, const uint8_t* end, int64_t first_bit, int width,
                uint32_t* out, int64_t count);

/// The largest of some numbers, 0 if there are none.
uint32_t LargestOf(const uint32_t* numbers, int64_t count);

/// UnpackBits without vector instructions, for other processors and as a reference.
void UnpackBitsBaseline(const uint8_t* data, const uint8_t* end, int64_t first_bit,
                        int width, uint32_t* out, int64_t count);

}  // namespace xshards::io
