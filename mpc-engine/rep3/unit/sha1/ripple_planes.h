// SPDX-License-Identifier: Apache-2.0
// The planes of a compression in the shape of the fewest bits, by number (ripple_schedule.h says
// what they are for): a word's 32 planes follow one another. Numbers alone, since the kernels of
// devices know them too.
#pragma once

#include <cstdint>

namespace tkdc::sha1 {

using PlaneNumber = std::uint16_t;

inline constexpr PlaneNumber kWordPlanes = 32;
inline constexpr PlaneNumber kWordsOfA = 8, kScheduleWords = 16, kStateWords = 5, kAdditions = 4;

// A's last 8 values and f's last 2, by step; the schedule; the state, which becomes the result.
inline constexpr PlaneNumber kPlanesOfA = 0;
inline constexpr PlaneNumber kPlanesOfF = kPlanesOfA + kWordsOfA * kWordPlanes;
inline constexpr PlaneNumber kPlanesOfW = kPlanesOfF + 2 * kWordPlanes;
inline constexpr PlaneNumber kPlanesOfState = kPlanesOfW + kScheduleWords * kWordPlanes;
// Carries: of each addition of two steps, of each word of the state. Sums: of a step's bit.
inline constexpr PlaneNumber kPlanesOfCarries = kPlanesOfState + kStateWords * kWordPlanes;
inline constexpr PlaneNumber kPlanesOfStateCarries = kPlanesOfCarries + 2 * kAdditions;
inline constexpr PlaneNumber kPlanesOfSums = kPlanesOfStateCarries + kStateWords;
// What is public: in the ones' every column is 1.
inline constexpr PlaneNumber kPlaneOfZeros = kPlanesOfSums + kAdditions - 1;
inline constexpr PlaneNumber kPlaneOfOnes = kPlaneOfZeros + 1;
inline constexpr PlaneNumber kPlaneCount = kPlaneOfOnes + 1;

}  // namespace tkdc::sha1
