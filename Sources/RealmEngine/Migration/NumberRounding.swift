// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// How a conversion treats a number that the new type cannot hold exactly. The raw values are those of the
/// member `rounding`.
package enum NumberRounding: String, Sendable, CaseIterable {
    /// The conversion of the value fails.
    case exact
    /// The nearest number of the new type is taken; of two that are equally near, the even one.
    case nearest
    /// The fraction is cut off when the new type is a whole number; otherwise like `nearest`.
    case truncate
}
