// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Texts from outside, such as names of files, as messages show them: valid UTF-8, and short.
#pragma once
#include <string>
#include <string_view>

namespace stoker {

bool is_utf8(std::string_view text);
// The text, where each zero byte (which would end it in C) and each byte that is not UTF-8 is
// escaped as in Python: "caf\xe9".
std::string valid_utf8(std::string_view text);
// The beginning of valid_utf8(text) in at most so many bytes, and "..." if that is not all of it.
// Characters and escapes stay whole.
std::string shortened(std::string_view text, size_t most);

}  // namespace stoker
