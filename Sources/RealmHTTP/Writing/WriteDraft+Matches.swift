// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine

extension WriteDraft {
    /// How many objects there were.
    static func matched(_ count: Int) -> WriteDraft {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.member("matched", int: count)
        return WriteDraft(status: 200, content: .members(writer.buffer))
    }
}

extension WriteContext {
    /// Of many objects, only the version of the realm can be a condition.
    func requireNoObjectCondition() throws(Problem) {
        guard options.condition.concernsObject else { return }
        throw Problem(.preconditionFailed, "the only condition that can hold here is the version of the realm")
    }
}
