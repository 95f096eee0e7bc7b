// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

/// The result of attaching a listener: the target as it is when its observation begins.
package struct Attached: Sendable {
    /// The attachment of the listener. It ends with `detach`, not by being released.
    package let attachment: Attachment
    /// The version of `contents`, from which the first event starts.
    package let version: Version
    /// The state of the target at `version`.
    package let contents: ObservedContents
    /// The memory in bytes that the observation takes, which all listeners of the target share.
    package let byteCount: Int
}
