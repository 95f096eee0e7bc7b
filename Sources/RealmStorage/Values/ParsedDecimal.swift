// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform

/// A decimal that was read from text, with a note whether the text was kept exactly.
///
/// A text that is not exact is rejected as the value of a property; a comparison in a query rounds
/// it.
package struct ParsedDecimal: Sendable {
    /// The number, rounded if needed.
    package let value: Decimal128
    /// Whether no digit was lost. It is false when digits after the 34th were rounded away, the
    /// number became infinite because of its size, or digits were lost below the smallest exponent.
    package let isExact: Bool
}
