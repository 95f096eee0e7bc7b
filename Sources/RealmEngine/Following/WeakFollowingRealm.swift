// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// A reference to a realm that does not keep it. It is set once, when it is made.
struct WeakFollowingRealm: Sendable {
    /// The realm; nil when nothing else refers to it any more.
    private(set) weak var value: (any FollowingRealm)?

    /// Refers to a realm.
    init(_ realm: any FollowingRealm) { value = realm }
}
