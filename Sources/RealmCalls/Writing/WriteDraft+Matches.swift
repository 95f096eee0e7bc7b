// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
package import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// Makes the response to a write of all objects that match a query.
extension WriteDraft {
    /// Returns the response to a write of many objects: `{"matched":count,"version":…}`.
    ///
    /// - Parameter count: The number of objects that matched the query.
    package static func matched(_ count: Int) -> WriteDraft {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.member("matched", int: count)
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }
}

/// Checks the conditions of a write of many objects.
extension WriteContext {
    /// Throws `precondition_failed` when the request has a condition on an object.
    ///
    /// A request that writes many objects has no single object to compare with; only the version of the realm can be demanded.
    package func requireNoObjectCondition() throws(Problem) {
        guard options.condition.concernsObject else { return }
        throw Problem(.preconditionFailed, "only a version condition (If-Match: \"v.…\") is supported here")
    }
}
