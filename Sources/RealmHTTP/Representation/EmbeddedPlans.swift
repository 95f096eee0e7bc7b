// SPDX-License-Identifier: Apache-2.0

internal import RealmStorage

/// Plans for whole embedded objects of one snapshot: one for every class, shared by all properties that hold its objects.
///
/// So what plans cost depends on the number of classes, and not on the number of ways through them.
final class EmbeddedPlans: Sendable {
    /// A plan, and how many classes lie in each other below it.
    private struct Made {
        let plan: ObjectPlan
        let height: Int
    }

    /// Embedded objects are shown so many levels deep; schemas that are made here have fewer.
    private static let maximumHeight = 120

    private let snapshot: Snapshot
    private let plans = RankedMutex<[TableKey: Made]>(.leaf, [:])

    /// No plans yet; each is compiled when it is first met.
    init(_ snapshot: Snapshot) { self.snapshot = snapshot }

    /// How a property that holds whole objects of the embedded class `target` is shown.
    func member(_ column: Column, of target: Table) -> ObjectPlan.Member {
        plans.withLock { plans in
            if plans[target.key] == nil { make(target, &plans) }
            return EmbeddedPlans.member(column, plans[target.key])
        }
    }

    /// Only a damaged file has embedded classes that hold each other; there what leads back stays a link.
    private static func member(_ column: Column, _ made: Made?) -> ObjectPlan.Member {
        ObjectPlan.Member(column, links: made == nil ? .stubs : .embedded, embeddedPlan: made?.plan)
    }

    /// A class whose plan waits for those of the classes in it.
    private struct Waiting {
        let table: Table
        /// Embedded classes in it that have not been looked at.
        var inner: [Table]
    }

    /// Makes the plan of `table` after those of all classes below. A schema decides how deep they lie, so they wait in a list
    /// and not on the stack.
    private func make(_ table: Table, _ plans: inout [TableKey: Made]) {
        var waiting = [Waiting(table: table, inner: embeddedClasses(in: table))]
        var begun: Set<TableKey> = [table.key]
        while let last = waiting.indices.last {
            if let next = waiting[last].inner.popLast() {
                guard plans[next.key] == nil, begun.insert(next.key).inserted else { continue }
                waiting.append(Waiting(table: next, inner: embeddedClasses(in: next)))
            } else {
                let done = waiting.removeLast().table
                plans[done.key] = made(done, plans)
            }
        }
    }

    private func embeddedClasses(in table: Table) -> [Table] { table.columns.compactMap(embeddedClass) }

    /// The embedded class whose objects a column holds.
    private func embeddedClass(_ column: Column) -> Table? {
        guard column.type == .link, let target = column.targetTable.flatMap({ snapshot.table($0) }), target.kind == .embedded
        else { return nil }
        return target
    }

    private func made(_ table: Table, _ plans: [TableKey: Made]) -> Made {
        var height = 1
        let members = table.columns.map { column in
            if let target = embeddedClass(column) {
                // Plans hold those below them, so their depth has to have an end.
                let inner = plans[target.key].flatMap { $0.height < EmbeddedPlans.maximumHeight ? $0 : nil }
                height = max(height, 1 + (inner?.height ?? 0))
                return EmbeddedPlans.member(column, inner)
            }
            let hasLinks = column.type == .link || column.type == .mixed
            return ObjectPlan.Member(column, links: hasLinks ? .stubs : .none, embeddedPlan: nil)
        }
        return Made(plan: ObjectPlan(table: table, members: members, isWhole: true), height: height)
    }
}
