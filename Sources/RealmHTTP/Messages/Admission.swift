// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The decision about a request whose header section is complete and whose body has not been read.
///
/// A `RequestHandler` makes it on a thread of the daemon; `Exchange` acts on it.
package enum Admission: Sendable {
    /// The body is to be received, if there is one.
    ///
    /// `bodyLimit` is the largest number of bytes that it may have, as sent and after its content
    /// coding is undone. `spoolFolders` are folders for a temporary file: a long body goes to the
    /// first of them in which a file can be made. Without folders every body stays in memory.
    case accept(bodyLimit: Int, spoolFolders: [String] = [])
    /// The request is answered with this response, and its body is not used.
    case refuse(Response)
}
