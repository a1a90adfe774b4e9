#pragma once

#include <string>
#include <string_view>

namespace vram {

/// RFC 3986 percent-decoding; '+' is a plus sign. A '%' without two hexadecimal digits stands for itself.
std::string percent_decode(std::string_view text);

/// What a fragment and a query both take as it is, stays: letters, digits and -._~,:+/ ; the rest is encoded.
std::string percent_encode(std::string_view text);

/// Control characters, those that steer the direction of text, and bytes that are not UTF-8 encoded, all else verbatim:
/// a share string is one line.
std::string one_line(std::string_view text);

/// The share string in a URL: what follows '#', else what follows '?'. A text that has '=' or '&' before either is one.
std::string_view share_of_url(std::string_view text);

/// For people: control characters, those that steer the direction of text, and bytes that are not UTF-8 become U+FFFD,
/// long texts are cut.
std::string printable(std::string_view text, size_t most_bytes);

}  // namespace vram
