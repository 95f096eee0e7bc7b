// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Plans for whole objects of one version, compiled once per class and kept with the version.
final class PlanCache: Sendable {
    private let plans = RankedMutex<[TableKey: ObjectPlan]>(.leaf, [:])
    private let embedded: EmbeddedPlans

    private init(_ snapshot: Snapshot) { embedded = EmbeddedPlans(snapshot) }

    /// The cache of a version.
    static func of(_ version: Version) -> PlanCache {
        version.derived.value { PlanCache(version.snapshot) }
    }

    /// The plan for whole objects of a class. Two threads may compile the same plan at a time; either is as good.
    func wholeObjects(of table: Table, in snapshot: Snapshot) throws(Problem) -> ObjectPlan {
        if let known = plans.withLock({ $0[table.key] }) { return known }
        let plan: ObjectPlan
        do throws(ObjectPlanner.UnknownPath) {
            plan = try ObjectPlanner(snapshot, embedded: embedded).plan(table)
        } catch {
            throw Problem(error)
        }
        plans.withLock { $0[table.key] = plan }
        return plan
    }
}
