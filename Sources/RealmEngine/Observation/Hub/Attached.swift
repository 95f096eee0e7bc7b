// SPDX-License-Identifier: Apache-2.0

/// A target as it is when its observation begins.
package struct Attached: Sendable {
    /// The hold; events come for as long as it is kept.
    package let attachment: Attachment
    /// The first event begins at this version.
    package let version: Version
    /// The state at `version`.
    package let contents: ObservedContents
}
