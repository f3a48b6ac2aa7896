// SPDX-License-Identifier: Apache-2.0
#include "io/options/option_map.h"

#include <algorithm>
#include <charconv>

#include "io/options/quoted_names.h"

namespace xshards::io {

std::string EncodeList(const std::vector<std::string>& items) {
  std::string text;
  for (const auto& item : items) {
    text += std::to_string(item.size());
    text += ':';
    text += item;
  }
  return text;
}

arrow::Result<std::vector<std::string>> DecodeList(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    size_t length = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), length);
    const auto prefix = static_cast<size_t>(end - text.data());
    if (error != std::errc() || prefix == text.size() || *end != ':' ||
        length > text.size() - prefix - 1) {
      return arrow::Status::Invalid("Expected a list as '<length>:<bytes>...', got '",
                                    std::string(text), "'");
    }
    items.emplace_back(text.substr(prefix + 1, length));
    text.remove_prefix(prefix + 1 + length);
  }
  return items;
}

std::string EncodePairs(const std::map<std::string, std::string>& pairs) {
  std::vector<std::string> items;
  for (const auto& [key, value] : pairs) {
    items.push_back(key);
    items.push_back(value);
  }
  return EncodeList(items);
}

std::string EncodeNumbers(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    const int64_t first = numbers[i];
    while (i + 1 < numbers.size() && numbers[i + 1] - 1 == numbers[i]) ++i;
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (numbers[i] != first) text.append("-").append(std::to_string(numbers[i]));
  }
  return text;
}

arrow::Result<std::vector<int64_t>> GetNumbers(const OptionMap& map,
                                               const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::vector<int64_t>{};
  const std::string& text = found->second;
  const char* at = text.data();
  const char* const end = at + text.size();
  std::vector<int64_t> numbers;
  while (true) {
    int64_t first = 0;
    auto [next, error] = std::from_chars(at, end, first);
    int64_t last = first;
    if (error == std::errc() && next < end && *next == '-') {
      const auto second = std::from_chars(next + 1, end, last);
      next = second.ptr;
      error = second.ec;
    }
    const bool is_last = next == end;
    if (error != std::errc() || last < first || (!is_last && *next != ',')) {
      return arrow::Status::Invalid("Option '", key, "' must be numbers as 3,7-9, got '",
                                    text, "'");
    }
    // Not up to `last + 1`, which may be no number.
    for (; first < last; ++first) numbers.push_back(first);
    numbers.push_back(last);
    if (is_last) return numbers;
    at = next + 1;
  }
}

std::optional<std::string> GetString(const OptionMap& map, const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

arrow::Result<std::optional<char>> GetChar(const OptionMap& map, const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  if (found->second.size() != 1) {
    return arrow::Status::Invalid("Option '", key, "' must be one byte, got '",
                                  found->second, "'");
  }
  return found->second[0];
}

arrow::Result<std::optional<bool>> GetBool(const OptionMap& map, const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  if (found->second == "true") return true;
  if (found->second == "false") return false;
  return arrow::Status::Invalid("Option '", key, "' must be 'true' or 'false', got '",
                                found->second, "'");
}

arrow::Result<std::optional<int64_t>> GetInt(const OptionMap& map,
                                             const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  const std::string& text = found->second;
  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return arrow::Status::Invalid("Option '", key, "' must be an integer, got '", text,
                                  "'");
  }
  return value;
}

arrow::Result<std::optional<std::vector<std::string>>> GetList(const OptionMap& map,
                                                               const std::string& key) {
  const auto found = map.find(key);
  if (found == map.end()) return std::nullopt;
  return DecodeList(found->second);
}

arrow::Result<std::map<std::string, std::string>> GetPairs(const OptionMap& map,
                                                           const std::string& key) {
  ARROW_ASSIGN_OR_RAISE(const auto items, GetList(map, key));
  std::map<std::string, std::string> pairs;
  if (!items.has_value()) return pairs;
  if (items->size() % 2 != 0) {
    return arrow::Status::Invalid("Option '", key, "' must be a list of pairs, got ",
                                  items->size(), " items");
  }
  for (size_t i = 0; i < items->size(); i += 2) pairs[(*items)[i]] = (*items)[i + 1];
  return pairs;
}

arrow::Status CheckKeys(const OptionMap& map, const std::vector<std::string>& known,
                        std::string_view owner) {
  for (const auto& [key, value] : map) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      return arrow::Status::Invalid("Unknown option of ", owner, ": '", key,
                                    "'; expected one of ", QuotedNames(known));
    }
  }
  return arrow::Status::OK();
}

}  // namespace xshards::io
