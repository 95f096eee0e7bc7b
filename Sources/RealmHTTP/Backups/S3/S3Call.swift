// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage
internal import WebClient

/// What is asked of an S3 store, without what every request has.
struct S3Call {
    /// The method.
    let method: String
    /// The key; empty for the bucket.
    let key: String
    /// The parameters, in the order of their names.
    var query: [(String, String)] = []
    /// Header fields beside those that every request has.
    var fields: [(String, String)] = []
    /// What is sent.
    var body = WebRequest.Body.bytes([])
    /// The file that gets the body of the answer; nil for memory.
    var target: WebRequest.Target?
    /// Whether a failure is tried again.
    var isRepeated = true
}
