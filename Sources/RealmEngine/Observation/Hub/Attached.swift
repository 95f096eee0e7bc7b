// SPDX-License-Identifier: Apache-2.0

/// A target as it is when its observation begins.
package struct Attached: Sendable {
    package let attachment: Attachment
    /// What listeners are told follows from here.
    package let version: Version
    package let contents: ObservedContents
}
