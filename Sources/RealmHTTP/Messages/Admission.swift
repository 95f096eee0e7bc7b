// SPDX-License-Identifier: Apache-2.0

/// What is decided about a request when its headers are there.
package enum Admission: Sendable {
    /// Take the body, of at most so many bytes before and after inflating.
    ///
    /// With folders a long body goes to a file in the first that takes one, and else into memory.
    case accept(bodyLimit: Int, spoolFolders: [String] = [])
    case refuse(Response)
}
