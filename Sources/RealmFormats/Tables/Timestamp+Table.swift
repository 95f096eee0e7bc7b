// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
internal import RealmStorage

extension Timestamp {
    /// The date as text: RFC 3339, or for years that it cannot express, the JSON of the instant.
    var text: String {
        rfc3339 ?? "{\"$instant\":{\"seconds\":\"\(seconds)\",\"nanoseconds\":\(nanoseconds)}}"
    }
}
