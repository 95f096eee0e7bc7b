// SPDX-License-Identifier: Apache-2.0

/// What the writing of a response found out that a header has to tell.
package struct RepresentationNotes: Sendable, Equatable {
    /// An integer beyond ±(2^53 − 1) was written as a number.
    package var hasUnsafeIntegers = false
    /// A date lost digits.
    package var hasLossyDates = false

    /// Nothing to note.
    package init() {}
}
