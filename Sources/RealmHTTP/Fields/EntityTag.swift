// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

/// Entity tags of what is answered.
package enum EntityTag {
    /// The tag of the packed form of what `etag` names.
    static func packed(_ etag: String) -> String { etag.hasSuffix("\"") ? etag.dropLast() + "z\"" : etag }
}
