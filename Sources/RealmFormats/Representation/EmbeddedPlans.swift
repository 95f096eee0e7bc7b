// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// Plans for whole embedded objects of one snapshot: one for each class, shared by all properties that hold its objects.
///
/// The cost of planning therefore depends on the number of classes, and not on the number of ways
/// through them, which can be exponential. Any thread may use it.
package final class EmbeddedPlans: Sendable {
    /// A plan with the number of embedded levels that it covers.
    private struct Made {
        /// The plan for writing a whole object of the embedded class.
        let plan: ObjectPlan
        /// The number of levels of embedded classes that the plan covers; 1 when no other is inside the class.
        let height: Int
    }

    /// The number of levels of embedded objects that are shown at most. Schemas that this server makes have fewer.
    private static let maximumHeight = 120

    /// The version of the realm whose classes are planned.
    private let snapshot: Snapshot
    /// Whether members are in the order of their names, and not in that of the schema.
    private let isInOrderOfNames: Bool
    /// The plans made so far, by the key of the embedded class's table.
    private let plans = RankedMutex<[TableKey: Made]>(.leaf, [:])

    /// Creates an empty set of plans; each is compiled when it is first needed.
    ///
    /// - Parameters:
    ///   - snapshot: The version with the classes.
    ///   - isInOrderOfNames: Whether members are in the order of their names, so that objects of two schemas can be compared.
    package init(_ snapshot: Snapshot, isInOrderOfNames: Bool = false) {
        self.snapshot = snapshot
        self.isInOrderOfNames = isInOrderOfNames
    }

    /// Returns how a property that holds whole embedded objects is shown.
    func member(_ column: Column, of target: Table) -> ObjectPlan.Member {
        plans.withLock { plans in
            if plans[target.key] == nil { make(target, &plans) }
            return EmbeddedPlans.member(column, plans[target.key])
        }
    }

    /// Returns the member for a property and the plan of its target.
    ///
    /// Only in a damaged file embedded classes contain each other; there a link that leads back has no plan and stays a stub.
    private static func member(_ column: Column, _ made: Made?) -> ObjectPlan.Member {
        ObjectPlan.Member(column, links: made == nil ? .stubs : .embedded, embeddedPlan: made?.plan)
    }

    /// A class whose plan has to wait for those of the classes inside it.
    private struct Waiting {
        /// The embedded class whose plan is being made.
        let table: Table
        /// The embedded classes inside it that were not considered yet.
        var inner: [Table]
    }

    /// Makes the plan of a class after those of all classes inside it.
    ///
    /// A schema decides how deep they are nested, so they wait in a list and not on the stack of
    /// the thread. Called under the lock.
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

    /// Returns the embedded classes of all properties of a class.
    private func embeddedClasses(in table: Table) -> [Table] { table.columns.compactMap(embeddedClass) }

    /// Returns the embedded class whose objects a column holds; nil for any other column.
    private func embeddedClass(_ column: Column) -> Table? {
        guard column.type == .link, let target = column.targetTable.flatMap({ snapshot.table($0) }), target.kind == .embedded
        else { return nil }
        return target
    }

    /// Compiles the plan of one class from those of the classes inside it.
    private func made(_ table: Table, _ plans: [TableKey: Made]) -> Made {
        var height = 1
        let columns = isInOrderOfNames ? table.columns.sorted { $0.name < $1.name } : table.columns
        let members = columns.map { column in
            if let target = embeddedClass(column) {
                // A plan contains those below it, so their depth has to be bounded.
                let inner = plans[target.key].flatMap { $0.height < EmbeddedPlans.maximumHeight ? $0 : nil }
                height = max(height, 1 + (inner?.height ?? 0))
                return EmbeddedPlans.member(column, inner)
            }
            let hasLinks = column.type == .link || column.type == .mixed
            return ObjectPlan.Member(column, links: hasLinks ? .stubs : .none, embeddedPlan: nil)
        }
        return Made(plan: ObjectPlan(table: table, members: members, isWhole: !isInOrderOfNames), height: height)
    }
}
