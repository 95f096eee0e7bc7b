// SPDX-License-Identifier: Apache-2.0

package import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// Defines the names of properties in JSON documents.
extension MemberNaming {
    /// The naming in JSON documents of this interface: `$$x` is the name of a property `$x`, and
    /// `$meta` holds facts about the object, which are ignored on input.
    package static let documents = MemberNaming(escape: UInt8(ascii: "$"), ignored: "$meta")
}
