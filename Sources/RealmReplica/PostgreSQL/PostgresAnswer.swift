// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What a statement has answered.
struct PostgresAnswer: Sendable, Equatable {
    /// What was done, such as `INSERT 0 1`.
    let tag: String
    let rows: [PostgresRow]

    /// The number of rows that were changed.
    var changedCount: Int { tag.split(separator: " ").last.flatMap { Int($0) } ?? 0 }
}
