// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmQuery
internal import RealmStorage

/// A definition whose names were found in a version: what to observe, and what its rows are.
struct ResolvedSubscription: Sendable {
    enum Shape: Sendable {
        case realm
        /// Rows are objects of a class.
        case objects(TableKey)
        case sections(TableKey)
        /// Rows are elements of a list or set that do not stand for themselves, or of a view of a collection of those.
        case values(ObservedProperty)
        /// Rows are entries of a dictionary.
        case entries(ObservedProperty)
        case object(ObservedObject)

        /// Whether change sets have moves, even if there never are any.
        var hasMoves: Bool {
            switch self {
            case .objects, .values: return true
            case .realm, .sections, .entries, .object: return false
            }
        }
    }

    let target: ObservedTarget
    let shape: Shape
}
