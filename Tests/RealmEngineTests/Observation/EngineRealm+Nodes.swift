// SPDX-License-Identifier: Apache-2.0

import RealmEngine
import RealmPlatform
import RealmQuery
import RealmStorage
import RealmTestSupport
import Testing

/// A realm with the classes of `ObservationWorkload`, whose nodes have the keys from 0 and the value 1.
extension EngineRealm {
    static func ofNodes(_ count: Int, _ limits: ObservationLimits) throws -> EngineRealm {
        let realm = try EngineRealm(ObservationWorkload.classes, observation: limits)
        try realm.write { session in
            for id in 0..<count {
                _ = try session.create("Node", ["_id": .integer(Int64(id)), "value": .integer(1), "group": .text("a")])
            }
        }
        return realm
    }

    /// The nodes that match a query.
    func nodes(_ query: String) throws -> ObservedTarget {
        let table = try #require(database.current.snapshot.classTable(named: "Node"))
        return ObservedTarget(.results(table.key, ObservedQuery(try Query.parse(query))), identity: query)
    }

    /// Attaches a listener without keeping the version at which it begins.
    func attach(_ query: String, _ listener: any ObservationListener, isActive: Bool) throws -> RealmEngine.Attachment {
        let answer = Awaited<Result<Attached, ObservationError>>()
        database.observations.attach(try nodes(query), listener, isActive: isActive) { answer.set($0) }
        return try answer.wait().get().attachment
    }

    /// Sets the value of node 1, with a mark in a commit of its own.
    func setValue(_ value: Int, mark: CommitMark? = nil) throws {
        var request = EngineRealm.request()
        request.mark = mark
        request.isAlone = mark != nil
        try write(request) { session in _ = try session.patch("Node", .text("1"), ["value": .integer(Int64(value))]) }
    }
}
