// SPDX-License-Identifier: Apache-2.0
#include "xshards/memory/nontemporal_copy.h"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace xshards {
namespace {

TEST(StreamCopy, CopiesAnyLengthAtAnyAlignment) {
  std::vector<uint8_t> source((1 << 20) + 300);
  std::iota(source.begin(), source.end(), uint8_t{3});
  for (const size_t length :
       {0, 1, 63, 4097, (256 << 10) - 1, 256 << 10, (1 << 20) + 5}) {
    for (const size_t from : {0, 1, 17}) {
      for (const size_t to : {0, 1, 63, 64}) {
        std::vector<uint8_t> target(source.size() + 200, uint8_t{0});
        StreamCopy(target.data() + to, source.data() + from, length);
        std::vector<uint8_t> expected(target.size(), uint8_t{0});
        std::copy_n(source.data() + from, length, expected.data() + to);
        ASSERT_EQ(target, expected) << length << " bytes, " << from << " to " << to;
      }
    }
  }
}

}  // namespace
}  // namespace xshards
