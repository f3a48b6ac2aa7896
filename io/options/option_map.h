// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/result.h>
#include <arrow/status.h>

namespace xshards::io {

/// A format's options as they travel in a ScanNode or a SinkSpec.
using OptionMap = std::map<std::string, std::string>;

/// Pack strings of any bytes into one: each as its length, a colon and the bytes.
std::string EncodeList(const std::vector<std::string>& items);
arrow::Result<std::vector<std::string>> DecodeList(std::string_view text);
/// The same for a map: key, value, key, value, ...
std::string EncodePairs(const std::map<std::string, std::string>& pairs);
/// Pack ascending numbers, as runs: 3,7-9.
std::string EncodeNumbers(const std::vector<int64_t>& numbers);

/// Read single options. The getters give nullopt where the key is absent, and Invalid,
/// naming the key and the value, where the value is not of the wanted form.
std::optional<std::string> GetString(const OptionMap& map, const std::string& key);
arrow::Result<std::optional<char>> GetChar(const OptionMap& map, const std::string& key);
arrow::Result<std::optional<bool>> GetBool(const OptionMap& map, const std::string& key);
arrow::Result<std::optional<int64_t>> GetInt(const OptionMap& map,
                                             const std::string& key);
arrow::Result<std::optional<std::vector<std::string>>> GetList(const OptionMap& map,
                                                               const std::string& key);
/// Empty where the key is absent.
arrow::Result<std::vector<int64_t>> GetNumbers(const OptionMap& map,
                                               const std::string& key);
arrow::Result<std::map<std::string, std::string>> GetPairs(const OptionMap& map,
                                                           const std::string& key);

/// Invalid names a key that is not among `known`, and lists those.
arrow::Status CheckKeys(const OptionMap& map, const std::vector<std::string>& known,
                        std::string_view owner);

}  // namespace xshards::io
