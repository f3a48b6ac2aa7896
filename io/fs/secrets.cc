// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

#include "io/fs/file_system.h"

namespace xshards::io {
namespace {

// What ends a URI in a message, where it may be quoted or part of a sentence.
constexpr std::string_view kUriEnds = "'\" \t\r\n<>";
constexpr std::string_view kHidden = "***";

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= '0' && c <= '9'; });
}

// Whether a URI's scheme, which ends its text, has servers with ports and no passwords.
bool HasPortsOnly(std::string_view scheme) {
  return scheme.ends_with("hdfs") || scheme.ends_with("viewfs");
}

// The characters of a URI, after "://", that are or may be a user and a password. A
// password is found even if a '/' in it is not quoted, as in s3://key:a/b@bucket. An '@'
// further on in a path is then taken to end it: better too little is shown.
size_t SizeOfUserInfo(std::string_view scheme, std::string_view uri) {
  const std::string_view authority = uri.substr(0, uri.find_first_of("/?#"));
  const size_t at = authority.rfind('@');
  if (at != std::string_view::npos) return at + 1;
  const size_t colon = authority.find(':');
  if (colon == std::string_view::npos) return 0;
  if (HasPortsOnly(scheme) && IsPort(authority.substr(colon + 1))) return 0;
  const size_t last = uri.rfind('@');
  if (last == std::string_view::npos) return 0;
  // An '@' of the query only: http://host:80/?q=a@b has no password, if that is a port.
  const bool in_query =
      uri.find('?') < last && uri.rfind('@', uri.find('?')) == std::string_view::npos;
  return in_query && IsPort(authority.substr(colon + 1)) ? 0 : last + 1;
}

bool IsSecretName(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string_view part :
       {"key", "secret", "token", "sig", "password", "passwd", "pwd", "credential",
        "auth", "sas", "accessid"}) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return false;
}

// A query without the values of parameters that are secrets by their names, such as the
// signature of a shared link, or that hold a user and a password themselves.
std::string ShownQuery(std::string_view query) {
  std::string shown;
  while (!query.empty()) {
    const size_t end = std::min(query.find_first_of("&;"), query.size());
    const std::string_view parameter = query.substr(0, end);
    const size_t equals = parameter.find('=');
    const std::string_view value =
        equals == std::string_view::npos ? "" : parameter.substr(equals + 1);
    const bool has_user = value.find("%40") != std::string_view::npos &&
                          value.find("%3A") != std::string_view::npos;
    if (!value.empty() && (IsSecretName(parameter.substr(0, equals)) || has_user)) {
      shown.append(parameter.substr(0, equals + 1)).append(kHidden);
    } else {
      shown.append(parameter);
    }
    if (end < query.size()) shown += query[end];
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return shown;
}

// `uri` is what follows "://".
std::string ShownUri(std::string_view scheme, std::string_view uri) {
  uri.remove_prefix(SizeOfUserInfo(scheme, uri));
  const size_t question = uri.find('?');
  if (question == std::string_view::npos) return std::string(uri);
  std::string shown(uri.substr(0, question + 1));
  return shown.append(ShownQuery(uri.substr(question + 1)));
}

// The whole text as one path or URI, whatever characters are in it.
std::string ShownPath(const std::string& path) {
  if (!IsUri(path)) return path;
  const size_t begin = path.find("://") + 3;
  const std::string_view whole = path;
  return path.substr(0, begin) +
         ShownUri(whole.substr(0, begin - 3), whole.substr(begin));
}

}  // namespace

arrow::Status CheckSecretsQuoted(const std::string& path) {
  if (!IsUri(path)) return arrow::Status::OK();
  const std::string_view whole = path;
  const size_t begin = path.find("://") + 3;
  const std::string_view scheme = whole.substr(0, begin - 3);
  const std::string_view uri = whole.substr(begin);
  const std::string_view authority = uri.substr(0, uri.find_first_of("/?#"));
  const bool is_web = scheme.starts_with("http") || scheme.starts_with("ftp");
  const size_t colon = authority.find(':');
  if (SizeOfUserInfo(scheme, uri) <= authority.size() ||
      (is_web && IsPort(authority.substr(colon + 1)))) {
    return arrow::Status::OK();
  }
  return arrow::Status::Invalid(
      "Expected a URI whose user and password are quoted (%2F for a slash, %40 for an @, "
      "or storage_options), got '",
      ShownPath(path), "' with a '/', '?' or '#' in them");
}

std::string WithoutSecrets(std::string_view text) {
  std::string shown;
  for (size_t colon = text.find("://"); colon != std::string_view::npos;
       colon = text.find("://")) {
    const std::string_view scheme = text.substr(0, colon);
    shown += text.substr(0, colon + 3);
    text.remove_prefix(colon + 3);
    const size_t end = std::min(text.find_first_of(kUriEnds), text.size());
    shown += ShownUri(scheme, text.substr(0, end));
    text.remove_prefix(end);
  }
  return shown.append(text);
}

arrow::Status WithPath(const arrow::Status& status, std::string_view what,
                       const std::string& path) {
  if (status.ok()) return status;
  const std::string shown = ShownPath(path);
  std::string message = status.message();
  // First as it was given: in a message, a quote or a space would end it too early.
  for (size_t at = message.find(path); at != std::string::npos && shown != path;
       at = message.find(path, at + shown.size())) {
    message.replace(at, path.size(), shown);
  }
  return status.WithMessage(what, " '", shown, "': ", WithoutSecrets(message));
}

}  // namespace xshards::io
