// SPDX-License-Identifier: Apache-2.0

internal import RealmPlatform
package import RealmStorage

/// The view of a principal on the versions of a realm.
package protocol VersionScope: AnyObject, Sendable {
    /// A text that two scopes share exactly when they show the same of every version. Views and observations are shared by it.
    var identity: String { get }

    /// Returns what of a version is shown; nil when all of it is.
    ///
    /// - Parameter snapshot: A version of the realm, or the uncommitted state of a transaction.
    func shown(of snapshot: Snapshot) -> SnapshotScope?
}

extension Version {
    /// Returns the version as a scope shows it: a version with the same token, without hidden contents.
    ///
    /// The view is made once for each identity, and kept as long as this version.
    ///
    /// - Parameter scope: The view; nil for everything.
    /// - Complexity: Linear in the number of properties when the view is made; objects are not read.
    package func shown(by scope: (any VersionScope)?) -> Version {
        guard let scope else { return self }
        let views = derived.value { ScopedVersions() }
        switch views[scope.identity] {
        case .part(let view)?: return view
        case .everything?: return self
        case nil: break
        }
        let view = scope.shown(of: snapshot).map { Version(Snapshot($0), token) }
        return views.keep(view.map { .part($0) } ?? .everything, for: scope.identity).view ?? self
    }
}

/// The views that were made of one version.
private final class ScopedVersions: Sendable {
    enum View {
        case part(Version)
        /// All of it. The version itself is not named here, because it must not keep itself.
        case everything

        /// The view that shows a part; nil for one that shows everything.
        var view: Version? {
            guard case .part(let view) = self else { return nil }
            return view
        }
    }

    /// The number of views that are kept; beyond it each request makes its own.
    private static let limit = 256

    /// The views by the identity of their scope.
    private let views = RankedMutex(.leaf, [ByteText: View]())

    /// The view of a scope; nil when none is kept.
    subscript(identity: String) -> View? { views.withLock { $0[identity] } }

    /// Keeps a view, unless another thread has kept one of the same scope meanwhile.
    ///
    /// - Returns: The view that is kept.
    func keep(_ view: View, for identity: String) -> View {
        views.withLock { views in
            if let known = views[identity] { return known }
            if views.count < ScopedVersions.limit { views[identity] = view }
            return view
        }
    }
}
