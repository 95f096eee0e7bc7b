// SPDX-License-Identifier: Apache-2.0

/// A decimal read from text, and whether the text was kept exactly.
///
/// Writing a property refuses a text that is not exact; comparing with one rounds.
package struct ParsedDecimal: Sendable {
    /// The number, rounded where it has to be.
    package let value: Decimal128
    /// False when digits beyond the 34th were rounded away, the number became infinite because of its size, or
    /// digits were lost below the smallest exponent.
    package let isExact: Bool
}
