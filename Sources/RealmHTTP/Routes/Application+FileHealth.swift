// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage

/// Answers about realms whose file may change underneath.
extension Application {
    /// The state of a realm for a request that comes now: one that failed is opened again soon, and one whose file is no
    /// longer what it was has failed.
    func checked(_ state: Catalog.State?, _ request: Request) -> Catalog.State? {
        switch state {
        case .ready(let database)?:
            guard let failure = database.health.lookIfDue(request.arrival) else { return state }
            caretaker.fail(database, failure)
            return .failed(failure)
        case .failed?:
            if let name = request.match.realmName { caretaker.noteWish(name, request.arrival) }
            return state
        case .opening?, nil: return state
        }
    }

    /// What a refused write to a realm is told that is only read.
    static func readOnlyDetail(_ realm: Catalog.State?) -> String {
        let detail = "this realm is served for reading only"
        guard case .ready(let database)? = realm, let reason = database.readOnlyReason else { return detail }
        return "\(detail): \(reason)"
    }

    /// What letting go of a realm answers is not read from its file, which may be gone by then, and rightly so.
    private static func removesRealm(_ request: Request) -> Bool { request.route == .realm && request.method == .delete }

    /// Nothing is sent that was read from a file that is not what it was. Read before it is known, it might be zeros in place
    /// of what is gone.
    func replaceUnsound(_ response: inout Response, _ request: Request) {
        guard case .ready(let database)? = request.realm, !Application.removesRealm(request) else { return }
        var isWorthALook = response.status >= 500
        if case .stream = response.body { isWorthALook = true }
        // What looks like damage may be a file that somebody is writing to; a long answer is better refused than cut off.
        guard let failure = isWorthALook ? database.health.look() : database.health.failure else {
            if case .stream(let producer) = response.body { response.body = .stream(CheckedProducer(producer, database)) }
            return
        }
        caretaker.fail(database, failure)
        response = self.response(to: Problem(unavailable: failure), for: request)
    }
}
