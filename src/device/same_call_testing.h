// SPDX-FileCopyrightText: The Stoker authors
// SPDX-License-Identifier: Apache-2.0
//
// Compares declarations of a library's functions with those of its header.
#pragma once
#include <type_traits>

namespace stoker {

// True for types that are passed alike: pointers, or numbers of the same size.
template <class A, class B>
constexpr bool kSameKind = std::is_pointer_v<A> == std::is_pointer_v<B> && sizeof(A) == sizeof(B);

template <class A, class B>
struct SameCall : std::false_type {};
template <class A, class... As, class B, class... Bs>
struct SameCall<A (*)(As...), B (*)(Bs...)>
    : std::bool_constant<sizeof...(As) == sizeof...(Bs) &&
                         std::conjunction_v<std::bool_constant<kSameKind<A, B>>,
                                            std::bool_constant<kSameKind<As, Bs>>...>> {};

}  // namespace stoker
