// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The notes for the header of a response on the values that were written.
package struct RepresentationNotes: Sendable, Equatable {
    /// An integer beyond ±(2^53 − 1) was written as a number, which clients with doubles cannot read exactly.
    package var hasUnsafeIntegers = false
    /// A date lost digits, because Extended JSON has milliseconds only.
    package var hasLossyDates = false

    /// Creates notes with nothing to report.
    package init() {}

    /// Adds the notes of other values of the same response.
    package mutating func formUnion(_ other: RepresentationNotes) {
        hasUnsafeIntegers = hasUnsafeIntegers || other.hasUnsafeIntegers
        hasLossyDates = hasLossyDates || other.hasLossyDates
    }

    /// Returns these notes together with those of another part of the response, if there is one.
    package func union(_ other: RepresentationNotes?) -> RepresentationNotes {
        var notes = self
        if let other { notes.formUnion(other) }
        return notes
    }
}
