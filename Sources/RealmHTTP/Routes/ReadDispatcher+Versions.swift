// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Reads that do not take the newest version as it is: those inside a transaction, and those that wait for a version.
extension ReadDispatcher {
    /// A read that asks for another state than the newest version as it is now; nil for all others.
    func otherVersion(
        for call: Call, of database: Database, _ route: Route, endpoint: @escaping Endpoint
    ) throws(Problem) -> Reply? {
        if let id = call.request.headers[.realmTransaction], route.traits.contains(.readsContents) {
            return read(call, inTransaction: id, of: database, endpoint)
        }
        guard let text = call.request.headers[.realmMinVersion], database.isWritable, let wanted = VersionToken(text),
            wanted.epoch == database.epoch.text, wanted.version > database.current.token.version
        else { return nil }
        return read(call, waitingFor: wanted.version, of: database, endpoint)
    }

    /// Answers a read that belongs to an interactive transaction, from its uncommitted state.
    ///
    /// The state is that of the writer's thread: the answer is complete, streams too, when the thread goes on.
    private func read(
        _ call: Call, inTransaction id: String, of database: Database, _ endpoint: @escaping Endpoint
    ) -> Reply {
        guard let info = database.transaction(id, owner: Principal.none) else {
            return .now(
                Response(
                    Problem(.notFound, "there is no transaction of this id").with("header", "Realm-Transaction"),
                    for: call.request))
        }
        return .later { promise in
            database.perform(
                in: id, owner: Principal.none, .read, deadline: .now().adding(seconds: Double(limits.readSeconds)),
                { session in
                    call.request.deadline = session.deadline
                    var inner = call
                    inner.version = Version(try session.view(), info.version)
                    return self.finished(inner, endpoint)
                },
                completion: { (result: Result<Response, WriteError>) in
                    switch result {
                    case .success(let response): promise.complete(response)
                    case .failure(let error): promise.complete(Response(Problem(error), for: call.request))
                    }
                })
        }
    }

    /// The whole answer, in memory.
    private func finished(_ call: Call, _ endpoint: Endpoint) -> Response {
        var response: Response
        do throws(Problem) {
            switch try endpoint(call) {
            case .now(let done): response = done
            case .work(let work), .attend(let work): response = work()
            case .later: throw Problem(.internalError, "the read has no answer inside a transaction")
            }
            if case .stream(let producer) = response.body { response.body = .bytes(try ReadDispatcher.drain(producer, limits)) }
        } catch {
            return Response(error, for: call.request)
        }
        response.headers = response.headers.map { field in
            field.name.description == "Cache-Control" ? HeaderField("Cache-Control", "no-store") : field
        }
        return response
    }

    private static func drain(_ producer: any ChunkProducer, _ limits: Limits) throws(Problem) -> OutputBuffer {
        let end = Instant.now().adding(seconds: Double(limits.readSeconds))
        let buffer = OutputBuffer(capacity: Streaming.chunkBytes)
        do {
            // Producers make about one chunk at a time and look at how much is there.
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

    /// Answers a read when the version that it asks for is there, at the latest at its deadline.
    private func read(
        _ call: Call, waitingFor wanted: UInt64, of database: Database, _ endpoint: @escaping Endpoint
    ) -> Reply {
        .later { promise in
            let wait = VersionWait {
                workers.submit(for: call.request, to: promise) { answer(call, promise, endpoint) }
            }
            wait.begin(wanted, database, alarm, until: call.request.deadline)
        }
    }

    private func answer(_ call: Call, _ promise: any ResponsePromise, _ endpoint: Endpoint) {
        // Whoever waited to the end of the deadline has some time for the answer itself.
        call.request.deadline = Instant.now().adding(seconds: Double(limits.readSeconds))
        do throws(Problem) {
            try endpoint(call).resolve(promise)
        } catch {
            promise.complete(Response(error, for: call.request))
        }
    }
}
