// SPDX-License-Identifier: Apache-2.0

internal import MicroHTTP
internal import RealmAccess
internal import RealmCalls
internal import RealmEngine
internal import RealmFormats
internal import RealmHosting
internal import RealmPlatform
internal import RealmReplica
internal import RealmStorage
internal import Synchronization

/// Reads that do not take the newest version as it is: those inside an interactive transaction, and
/// those that wait for a version.
extension ReadDispatcher {
    /// Answers a read that requests another state than that of the newest version.
    ///
    /// - Parameters:
    ///   - database: The open realm.
    ///   - route: The route of the path; transactions matter only where it reads the contents of
    ///     a realm.
    ///   - endpoint: The function that answers.
    /// - Returns: The reply; nil for a read of the newest version, or when the realm has already
    ///   reached the version that `Realm-Min-Version` requests.
    /// - Throws: A `Problem` of the header fields.
    func otherVersion(
        for call: Call, of database: Database, _ route: Route, endpoint: @escaping RouteOperation.Function
    ) throws(Problem) -> Reply? {
        if let id = call.request[.realmTransaction], route.traits.contains(.readsContents) {
            return read(call, inTransaction: id, of: database, endpoint)
        }
        if let text = call.request[.realmRead] {
            guard text == "linear" else { throw .invalidHeader("Realm-Read", "the header field can only be 'linear'") }
            if let cluster { return linearRead(call, of: database, cluster, endpoint) }
        }
        guard let text = call.request[.realmMinVersion], database.isWritable, let wanted = VersionToken(text) else {
            return nil
        }
        guard wanted.epoch == database.epoch.text else {
            // The log may have begun another history that has not arrived here.
            guard let replica = cluster?.replica(of: database) else { return nil }
            return read(call, .head, of: replica, endpoint)
        }
        guard wanted.version > database.current.token.version else { return nil }
        if let replica = cluster?.replica(of: database) { return read(call, .version(wanted.version), of: replica, endpoint) }
        return read(call, waitingFor: wanted.version, of: database, endpoint)
    }

    /// Answers a read that belongs to an interactive transaction, from its uncommitted state.
    ///
    /// That state can be read only on the writer's thread, so the whole response is made there,
    /// streams included, within the deadline that the session has.
    ///
    /// - Parameters:
    ///   - id: The id of the transaction, from `Realm-Transaction`.
    ///   - database: The open realm.
    ///   - endpoint: The function that answers.
    /// - Returns: A reply that the writer's thread completes; 404 when the client has no
    ///   transaction of this id.
    private func read(
        _ call: Call, inTransaction id: String, of database: Database, _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        guard let info = database.transaction(id, owner: call.ownerScope) else {
            return .now(
                Response(
                    Problem(.notFound, "there is no transaction of this id").with("header", "Realm-Transaction"),
                    for: call))
        }
        return .later { promise in
            database.perform(
                in: id, owner: call.ownerScope, .read, deadline: .now().adding(seconds: Double(call.limits.readSeconds)),
                { session in
                    call.request.deadline = session.deadline
                    call.version = Version(try session.view(), info.version)
                    defer { call.version = nil }
                    return self.finished(call, endpoint)
                },
                completion: { (result: Result<Response, WriteError>) in
                    switch result {
                    case .success(let response): promise.complete(response)
                    case .failure(let error): promise.complete(Response(Problem(error), for: call))
                    }
                })
        }
    }

    /// Returns the complete response with its body in memory, on the writer's thread.
    ///
    /// It must not be stored by caches, since the transaction may be rolled back. Problems become responses.
    private func finished(_ call: Call, _ endpoint: RouteOperation.Function) -> Response {
        var response: Response
        do throws(Problem) {
            switch try endpoint(call) {
            case .now(let done): response = done
            case .work(let work), .attend(let work): response = work()
            case .later: throw Problem(.internalError, "the read has no answer inside a transaction")
            }
            if case .stream(let producer) = response.body, producer.completeByteCount == nil {
                response.body = .bytes(try ReadDispatcher.drain(producer, call.limits))
            }
        } catch {
            return Response(error, for: call)
        }
        response.headers = response.headers.map { field in
            field.name.description == "Cache-Control" ? HeaderField("Cache-Control", "no-store") : field
        }
        return response
    }

    /// Collects the chunks of a stream into one buffer.
    ///
    /// - Parameters:
    ///   - producer: The stream.
    ///   - limits: The limits of the server, of which the length of a response and the time of a
    ///     read apply.
    /// - Returns: The whole body.
    /// - Throws: A `Problem` when the body is too long, takes too long or cannot be read.
    private static func drain(_ producer: any ChunkProducer, _ limits: Limits) throws(Problem) -> OutputBuffer {
        let end = Instant.now().adding(seconds: Double(limits.readSeconds))
        let buffer = OutputBuffer(capacity: Streaming.chunkBytes)
        do {
            // Producers make about one chunk per call and check the length of the buffer for that.
            while true {
                let chunk = OutputBuffer(capacity: Streaming.chunkBytes)
                let isLast = try producer.produce(into: chunk)
                guard buffer.count + chunk.count <= limits.answerBytes else {
                    throw Problem(WorkStop.tooManyBytes(limit: limits.answerBytes))
                }
                guard Instant.now() < end else { throw Problem(WorkStop.expired) }
                buffer.append(chunk)
                if isLast { return buffer }
            }
        } catch let error as Problem {
            throw error
        } catch let error as StorageError {
            throw Problem(serving: error)
        } catch {
            throw Problem(.internalError, "the answer could not be made")
        }
    }

    /// Answers a read when the realm has reached a version, or at the deadline with the newest version by then.
    ///
    /// No thread waits: a commit or the timer continues the request on a worker.
    ///
    /// - Parameters:
    ///   - wanted: The commit number that the version must have at least.
    ///   - database: The open realm.
    ///   - endpoint: The function that answers.
    private func read(
        _ call: Call, waitingFor wanted: UInt64, of database: Database, _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        .later { promise in
            let wait = VersionWait {
                workers.submit(for: call, to: promise) { answer(call, promise, endpoint) }
            }
            wait.begin(wanted, database, timers, until: call.request.deadline)
        }
    }

    /// Answers a read that has to see everything that was acknowledged before it came, also by other nodes. A worker asks the log.
    ///
    /// - Parameters:
    ///   - database: The open realm.
    ///   - cluster: This server as a node of a cluster.
    ///   - endpoint: The function that answers.
    private func linearRead(
        _ call: Call, of database: Database, _ cluster: ClusterService, _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        if let replica = cluster.replica(of: database) { return read(call, .everything(cluster), of: replica, endpoint) }
        return workers.reply(to: call) { promise in
            do throws(Problem) {
                guard let wanted = try cluster.confirm(database), wanted > database.current.token.version else {
                    return answer(call, promise, endpoint)
                }
                read(call, waitingFor: wanted, of: database, endpoint).resolve(promise)
            } catch {
                promise.complete(Response(error, for: call))
            }
        }
    }

    /// The state that a read of a realm on another node waits for.
    private enum ReplicaGoal {
        /// A version that the read names. If it does not come in time, the endpoint says so.
        case version(UInt64)
        /// Whatever the log has, because the read names a version of a history that is not known here.
        case head
        /// Everything that was acknowledged before the read came. Without that there is no answer.
        case everything(ClusterService)
    }

    /// Answers a read of a realm that another node writes, when that has come far enough. No thread waits.
    private func read(
        _ call: Call, _ goal: ReplicaGoal, of replica: FollowedLogRealm, _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        let end = call.request.deadline
        let soon = min(end, Instant.now().adding(seconds: ClusterService.lookSeconds))
        return .later { promise in
            let continues: @Sendable (Bool) -> Void = { isReached in
                workers.submit(for: call, to: promise) {
                    if case .everything(let cluster) = goal, !isReached {
                        return retry(call, of: replica, cluster, endpoint).resolve(promise)
                    }
                    answer(call, promise, endpoint)
                }
            }
            switch goal {
            case .version(let version): replica.whenReached(version, until: end, continues)
            case .head, .everything: replica.whenLinear(until: soon, continues)
            }
        }
    }

    /// Answers a linear read of a replica that has not heard from the log in time: as the owner, if this node is the owner by
    /// now.
    private func retry(
        _ call: Call, of replica: FollowedLogRealm, _ cluster: ClusterService, _ endpoint: @escaping RouteOperation.Function
    ) -> Reply {
        guard cluster.replica(of: replica.database) !== replica, Instant.now() < call.request.deadline else {
            return .now(Response(Problem(unavailable: .refused(.logUnavailable(""))), for: call))
        }
        return linearRead(call, of: replica.database, cluster, endpoint)
    }

    /// Answers a read whose wait has ended, on a worker.
    ///
    /// A request that waited until its deadline gets a new one, so that there is time for the response itself.
    private func answer(_ call: Call, _ promise: any ResponsePromise, _ endpoint: RouteOperation.Function) {
        call.request.deadline = Instant.now().adding(seconds: Double(call.limits.readSeconds))
        do throws(Problem) {
            try endpoint(call).resolve(promise)
        } catch {
            promise.complete(Response(error, for: call))
        }
    }
}

/// A wait for a version that occupies no thread: it ends with the commit, or with a timer.
///
/// It serves `Realm-Min-Version`. The observer of commits keeps it alive until its end.
private final class VersionWait: Sendable {
    /// Continues the waiting request; called once, when the wait ends.
    private let action: @Sendable () -> Void
    /// The registration as observer of commits; nil before it begins and after it ended.
    private let token = RankedMutex<Int?>(.leaf, nil)
    /// Whether the action was called, so that commit and timer together call it only once.
    private let isOver = Atomic<Bool>(false)

    /// Creates a wait that has not begun.
    ///
    /// - Parameter action: Called once, on the thread of the writer or of the timer, or on the
    ///   caller's own; it must be brief.
    init(_ action: @escaping @Sendable () -> Void) { self.action = action }

    /// Begins the wait and returns at once. When the version is there already, the action is called before this returns.
    ///
    /// - Parameters:
    ///   - wanted: The commit number that the newest version must have at least.
    ///   - database: The open realm.
    ///   - timers: The timer that ends the wait at the deadline.
    ///   - deadline: The deadline of the wait.
    func begin(_ wanted: UInt64, _ database: Database, _ timers: TimerQueue, until deadline: Instant) {
        let observer = database.commits.add { [self] commit in
            if commit.version.token.version >= wanted { end(database) }
        }
        token.withLock { $0 = observer }
        timers.set(at: deadline) { [self] in end(database) }
        // The version may have been committed before the observer was added.
        if database.current.token.version >= wanted { end(database) }
    }

    /// Ends the wait: the observer is removed, and the first call also calls the action.
    private func end(_ database: Database) {
        let observer = token.withLock { token in
            defer { token = nil }
            return token
        }
        if let observer { database.commits.remove(observer) }
        guard !isOver.exchange(true, ordering: .acquiringAndReleasing) else { return }
        action()
    }
}
