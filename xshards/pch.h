// SPDX-License-Identifier: Apache-2.0
// The headers that cost most to parse, precompiled once per preset. Every file still
// includes what it uses and compiles without this one (-DXSHARDS_USE_PCH=OFF).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <arrow/api.h>
#include <arrow/compute/api.h>
#include <arrow/compute/expression.h>
