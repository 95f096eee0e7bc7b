// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Plans for whole objects, compiled once per version and class.
final class PlanCache: Sendable {
    private struct Plans {
        let token: VersionToken
        var byTable: [TableKey: ObjectPlan] = [:]
    }

    /// By epoch: one entry per open file, replaced when a newer version is asked for.
    private let plans = Mutex<[String: Plans]>([:])

    func wholeObjects(of table: Table, in version: Database.Version) throws(Problem) -> ObjectPlan {
        let known = plans.withLock { plans -> ObjectPlan? in
            guard let entry = plans[version.token.epoch], entry.token == version.token else { return nil }
            return entry.byTable[table.key]
        }
        if let known { return known }
        let plan: ObjectPlan
        do throws(ObjectPlanner.UnknownPath) {
            plan = try ObjectPlanner(version.snapshot).plan(table)
        } catch {
            throw Problem(error)
        }
        plans.withLock { plans in
            if plans[version.token.epoch]?.token != version.token { plans[version.token.epoch] = Plans(token: version.token) }
            plans[version.token.epoch]?.byTable[table.key] = plan
        }
        return plan
    }
}
