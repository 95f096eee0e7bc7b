// SPDX-License-Identifier: Apache-2.0

package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The decision about a request whose header section is complete and whose body has not been read.
///
/// A `RequestTask` makes it on a thread of the daemon; `Exchange` acts on it.
package enum Admission: Sendable {
    /// The body is to be received, if there is one.
    ///
    /// `bodyLimit` is the largest number of bytes that it may have, as sent and after its content
    /// coding is undone. `spoolFolders` are folders for a temporary file: a long body goes to the
    /// first of them in which a file can be made. Without folders every body stays in memory.
    /// `refusal` returns why no more of the body may be received, for example because the credential has ended; any thread calls it.
    case accept(bodyLimit: Int, spoolFolders: [String] = [], refusal: (@Sendable () -> Problem?)? = nil)
    /// The request is answered with this response, and its body is not used.
    case refuse(Response)
}
