// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts from outside, such as names of files, as messages show them: valid UTF-8, and short.
#pragma once
#include <string>
#include <string_view>

namespace stoker {

bool is_utf8(std::string_view text);
// The text, where each byte that is not UTF-8 is escaped: "caf\xe9", as Python does it. Zero bytes
// are escaped, too, because C would end the text there.
std::string valid_utf8(std::string_view text);
// The beginning of valid_utf8(text) in at most so many bytes, and "..." if that is not all of it.
// Characters and escapes stay whole.
std::string shortened(std::string_view text, size_t most);

}  // namespace stoker
