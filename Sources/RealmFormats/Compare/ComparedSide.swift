// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmPlatform
internal import RealmStorage

/// One side of a comparison, with what writes its objects. It is used by one thread at a time.
final class ComparedSide {
    let version: ComparedVersion
    var snapshot: Snapshot { version.snapshot }
    /// Writes values for the output.
    let shown: ObjectEncoder
    /// Writes values for being compared: embedded objects in the order of names, and links by what identifies their targets.
    let compared: ObjectEncoder
    private let shownPlanner: ObjectPlanner
    private let comparedPlanner: ObjectPlanner

    init(_ version: ComparedVersion, _ budget: WorkBudget) {
        self.version = version
        let bare = Representation(includesMeta: false)
        shown = ObjectEncoder(version.snapshot, bare, budget)
        compared = ObjectEncoder(version.snapshot, bare, budget)
        shownPlanner = ObjectPlanner(version.snapshot)
        comparedPlanner = ObjectPlanner(
            version.snapshot, embedded: EmbeddedPlans(version.snapshot, isInOrderOfNames: true))
    }

    /// A class of this side with the plans for its objects.
    struct Class {
        let table: Table
        /// The plan for the output.
        let shown: ObjectPlan
        /// The plan for comparing; its members have the same order.
        let compared: ObjectPlan
    }

    /// Returns a class by its name; nil when this side does not have it.
    func objectClass(named name: String) throws(Problem) -> Class? {
        guard let table = snapshot.classTable(named: name) else { return nil }
        do throws(ObjectPlanner.UnknownPath) {
            return Class(table: table, shown: try shownPlanner.plan(table), compared: try comparedPlanner.plan(table))
        } catch {
            throw Problem(error)
        }
    }
}
