// SPDX-License-Identifier: Apache-2.0

package import RealmStorage

/// One commit: the versions before and after it, and what was done in between.
package struct Commit: Sendable {
    /// The version that the transaction began from.
    package let previous: Version
    /// The version that it made, which is the newest by now.
    package let version: Version
    /// In the order in which it was done.
    package let changes: [ObjectChange]
    /// What its writer wants done when observers have been notified. Such a commit has one writer.
    package let mark: CommitMark?
}
