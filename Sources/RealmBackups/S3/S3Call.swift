// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
package import WebClient

/// What is asked of an S3 store, without what every request has.
package struct S3Call {
    package let method: String
    /// The key; empty for the bucket.
    package let key: String
    /// The parameters, in the order of their names.
    package var query: [(String, String)] = []
    /// Header fields beside those that every request has.
    package var fields: [(String, String)] = []
    /// What is sent.
    package var body = WebRequest.Body.bytes([])
    /// The file that gets the body of the answer; nil for memory.
    package var target: WebRequest.Target?
    /// Whether a failure is tried again.
    package var isRepeated = true
}
