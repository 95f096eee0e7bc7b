// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// What a write does to an object, for which somebody has the right or not.
package enum WriteAction: Sendable, CaseIterable {
    /// It makes the object.
    case create
    /// It changes the object, or an embedded object that belongs to it.
    case update
    /// It deletes the object.
    case delete
}
