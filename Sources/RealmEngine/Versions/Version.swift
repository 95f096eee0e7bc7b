// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// A snapshot together with the token that identifies it.
///
/// While a version is referenced, its nodes remain in the file. It never changes, so all threads may read
/// it. The token is made by the engine, because the storage layer does not know when a file was opened.
package final class Version: Sendable {
    /// The data of this version.
    package let snapshot: Snapshot
    /// The token that identifies this state of the data.
    package let token: VersionToken
    /// The text of `token`, made once because every response contains it.
    package let tokenText: String
    /// Values that other layers derive from this version.
    package let derived = DerivedValues()

    /// Makes a version.
    ///
    /// - Parameters:
    ///   - snapshot: The data.
    ///   - token: The token that identifies it.
    package init(_ snapshot: Snapshot, _ token: VersionToken) {
        self.snapshot = snapshot
        self.token = token
        tokenText = token.text
    }
}
