// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The users that may open the file of a Unix socket.
package struct SocketAccess: Sendable, Equatable {
    /// The permissions of the file, such as 0o660.
    package var mode: UInt32 = 0o600
    /// The name of the user who owns it; nil for the user of the process.
    package var owner: String?
    /// The name of its group; nil for that of the process.
    package var group: String?

    /// Lets only the user of the process open it.
    package init() {}

    /// Reads permissions as three or four octal digits; nil for another text.
    package static func mode(_ text: String) -> UInt32? {
        guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x37).contains($0) }),
            let mode = UInt32(text, radix: 8), mode <= 0o777
        else { return nil }
        return mode
    }
}
