// SPDX-License-Identifier: Apache-2.0

internal import RealmEngine
internal import RealmStorage
internal import Synchronization

/// Reads that do not take the newest version as it is: those inside a transaction, and those that wait for a version.
extension Application {
    /// Answers a read that belongs to an interactive transaction, from its uncommitted state.
    ///
    /// The state is that of the writer's thread: the answer is complete, streams too, when the thread goes on.
    func readInTransaction(_ call: Call, _ id: String, _ database: Database) -> Reply {
        guard let info = database.transaction(id, owner: Application.nobody) else {
            return .now(
                response(
                    to: Problem(.notFound, "there is no transaction of this id").with("header", "Realm-Transaction"),
                    for: call.request))
        }
        return .later { [self] promise in
            database.perform(
                in: id, owner: Application.nobody, .read, deadline: .now().adding(seconds: Double(self.limits.readSeconds)),
                { session in
                    call.request.deadline = session.deadline
                    var inner = call
                    inner.version = Version(try session.view(), info.version)
                    return self.finished(inner)
                },
                completion: { (result: Result<Response, WriteError>) in
                    switch result {
                    case .success(let response): promise.complete(response)
                    case .failure(let error): promise.complete(self.response(to: Problem(error), for: call.request))
                    }
                })
        }
    }

    /// The whole answer, in memory.
    private func finished(_ call: Call) -> Response {
        var response: Response
        do throws(Problem) {
            switch try reply(of: call) {
            case .now(let done): response = done
            case .work(let work), .attend(let work): response = work()
            case .later: throw Problem(.internalError, "the read has no answer inside a transaction")
            }
            if case .stream(let producer) = response.body { response.body = .bytes(try Application.drain(producer, limits)) }
        } catch {
            return self.response(to: error, for: call.request)
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
    func readWhenReached(_ wanted: UInt64, _ call: Call, _ database: Database) -> Reply {
        .later { [self] promise in
            let wait = VersionWait { [self] in
                let isQueued =
                    self.workers.withLock { $0 }?.submit(for: call.request.client) { self.answer(call, promise) } ?? false
                if !isQueued { promise.complete(self.response(to: Problem.noWorker, for: call.request)) }
            }
            wait.begin(wanted, database, self.alarm, until: call.request.deadline)
        }
    }

    private func answer(_ call: Call, _ promise: any ResponsePromise) {
        // Whoever waited to the end of the deadline has some time for the answer itself.
        call.request.deadline = Instant.now().adding(seconds: Double(limits.readSeconds))
        do throws(Problem) {
            try reply(of: call).resolve(promise)
        } catch {
            promise.complete(response(to: error, for: call.request))
        }
    }
}
