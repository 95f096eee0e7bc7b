// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// A snapshot with the token that names it.
///
/// Holding a version keeps its nodes in the file. It never changes, so any thread may read it.
///
/// The token is made by the engine, because storage does not know when a file was opened.
package final class Version: Sendable {
    /// The data.
    package let snapshot: Snapshot
    /// The name of this state of the data.
    package let token: VersionToken
    /// The text of `token`; made once because every answer carries it.
    package let tokenText: String
    /// What other layers derive from this version.
    package let derived = DerivedValues()

    /// A version that `token` names.
    package init(_ snapshot: Snapshot, _ token: VersionToken) {
        self.snapshot = snapshot
        self.token = token
        tokenText = token.text
    }
}
