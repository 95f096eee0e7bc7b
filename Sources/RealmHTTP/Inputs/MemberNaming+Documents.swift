// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension MemberNaming {
    /// How documents of this interface name properties: `$$x` stands for the property `$x`, and `$meta` tells about the
    /// object.
    static let documents = MemberNaming(escape: UInt8(ascii: "$"), ignored: "$meta")
}
