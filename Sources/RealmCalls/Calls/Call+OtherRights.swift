// SPDX-License-Identifier: Apache-2.0

internal import RealmAccess
package import RealmFormats
internal import RealmPlatform
package import RealmStorage

extension Call {
    /// Throws `forbidden` where a class that is not shown to the sender is one in which it has other rights than the request
    /// needs, so that it may know of the class; clients without a credential are asked for one.
    ///
    /// - Parameters:
    ///   - name: The name of a class that is not in the view.
    ///   - snapshot: The view of the version that the request reads.
    package func requireNoOtherRights(on name: String, in snapshot: Snapshot) throws(Problem) {
        guard let scope = scope as? RightsScope, scope.hasOtherRights(on: name),
            (snapshot.scope?.base ?? snapshot).classTable(named: name) != nil
        else { return }
        guard caller.principal.kind != .anonymous else { throw Problem.unauthenticated(request, hasCredentials: true) }
        throw AccessPolicy.forbiddenByRoles
    }
}
