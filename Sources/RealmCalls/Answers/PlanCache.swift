// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmFormats
internal import RealmPlatform
internal import RealmStorage

/// The plans by which whole objects of one version are written, compiled once for each class.
///
/// It is kept with the version, so it lives exactly as long. Any number of threads may use it.
final class PlanCache: Sendable {
    /// The plans by class. The lock is held for a look-up only, never while a plan is compiled.
    private let plans = RankedMutex<[TableKey: ObjectPlan]>(.leaf, [:])
    /// Plans of embedded classes, which the plans of all classes share.
    private let embedded: EmbeddedPlans

    /// Creates a cache without plans for a version.
    private init(_ snapshot: Snapshot) { embedded = EmbeddedPlans(snapshot) }

    /// Returns the cache of a version, which is made when it is first needed.
    static func of(_ version: Version) -> PlanCache {
        version.derived.value { PlanCache(version.snapshot) }
    }

    /// Returns the plan for whole objects of a class.
    ///
    /// Two threads may compile the same plan at a time; both results are equal, and one of them is kept.
    ///
    /// - Parameters:
    ///   - table: The class, in the cache's version.
    ///   - snapshot: The cache's version.
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
