// SPDX-License-Identifier: Apache-2.0

import ArgumentParser
internal import RealmPlatform

/// The forms of the output of `realm-rest recover`.
enum RecoveryFormat: String, ExpressibleByArgument, CaseIterable {
    /// A line for each state.
    case ndjson
    /// One document.
    case json
    /// A table of one class.
    case csv
}
