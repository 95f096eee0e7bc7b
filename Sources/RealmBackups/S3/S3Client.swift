// SPDX-License-Identifier: Apache-2.0

internal import RealmFormats
package import RealmPlatform
internal import RealmStorage
package import WebClient

/// Sends the requests of one operation to an S3 store, repeats those that failed for a reason that may pass, and
/// says in a sentence why one failed for good.
///
/// One thread uses it.
package struct S3Client {
    /// The seconds of the pauses before retries.
    private static let pauses = [0.25, 1.0, 2.0]
    /// The seconds after the first attempt from which on no retry begins.
    private static let patienceSeconds = 15.0
    /// The greatest number of characters of a message that the store wrote.
    private static let maximumMessageLength = 300

    private let options: S3BackupStore.Options
    /// The signing credentials.
    private let credentials: S3Credentials
    /// The connections.
    private let transfer: CurlTransfer
    /// Ends the operation when it is cancelled; nil when nothing does.
    private let control: WorkControl?

    /// Makes the client of one operation.
    ///
    /// - Parameters:
    ///   - control: Ends the operation when it is cancelled; nil when nothing does.
    /// - Throws: `StorageError` when there are no credentials, or no memory.
    package init(_ options: S3BackupStore.Options, _ control: WorkControl? = nil) throws(StorageError) {
        self.options = options
        self.control = control
        credentials = try options.credentials.current()
        transfer = try CurlTransfer()
    }

    /// Sends a request until it succeeds.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - accepted: The statuses that are no failures, in addition to 200 and 204.
    /// - Returns: The response.
    /// - Throws: `StorageError.refused(.unsuitable)` with a sentence, or the error of a file.
    package func send(_ call: S3Call, accepting accepted: Set<Int> = []) throws(StorageError) -> WebAnswer {
        let request = try request(call)
        let end = Instant.now().adding(seconds: S3Client.patienceSeconds)
        var pauses = call.isRepeated ? S3Client.pauses[...] : []
        while true {
            switch try attempt(request, call, accepted) {
            case .answered(let answer): return answer
            case .failed(let error, let isLasting):
                guard !isLasting, let pause = pauses.popFirst(), Instant.now() < end else { throw error }
                try wait(pause)
            }
        }
    }

    /// The result of one attempt.
    private enum Outcome {
        /// A response that is no failure.
        case answered(WebAnswer)
        /// A failure, and whether another attempt would not help.
        case failed(StorageError, isLasting: Bool)
    }

    /// Sends a request once.
    ///
    /// - Throws: `StorageError` when it was cancelled, or a file could not be used.
    private func attempt(
        _ request: WebRequest, _ call: S3Call, _ accepted: Set<Int>
    ) throws(StorageError) -> Outcome {
        let answer: WebAnswer
        do throws(CurlTransfer.Failure) {
            answer = try transfer.send(request, control)
        } catch {
            switch error {
            case .stopped(let error): throw error
            case .network(let text, let isLasting): return .failed(refusal("cannot be used: \(text)"), isLasting: isLasting)
            }
        }
        let error = S3Client.error(in: answer, call)
        let isAccepted = answer.status == 200 || answer.status == 204 || accepted.contains(answer.status)
        if isAccepted, error == nil || answer.status != 200 { return .answered(answer) }
        let passes = answer.status >= 500 || answer.status == 429 || answer.status == 200
        return .failed(refusal("answered \(answer.status)\(error ?? "") to \(call.method)"), isLasting: !passes)
    }

    /// Waits, unless the operation is cancelled.
    private func wait(_ seconds: Double) throws(StorageError) {
        let end = Instant.now().adding(seconds: seconds)
        while Instant.now() < end {
            try control?.check()
            Threads.sleep(seconds: 0.05)
        }
    }

    /// Makes the request with the fields that every one has: they are all part of the signature.
    private func request(_ call: S3Call) throws(StorageError) -> WebRequest {
        var request = WebRequest(
            method: call.method, url: options.endpoint.url(call.key, in: options.location.bucket, query: call.query),
            signature: WebRequest.Signature(region: options.region, id: credentials.id, secret: credentials.secret))
        request.fields = [
            ("Host", options.endpoint.hostField), ("x-amz-content-sha256", FileDigest.hex(try call.body.digest())),
        ]
        if let token = credentials.token { request.fields.append(("x-amz-security-token", token)) }
        request.fields += call.fields
        request.body = call.body
        request.target = call.target
        return request
    }

    /// Returns code and message of a response that is an error, as `" Code: message"`; nil for other responses, and
    /// an empty text for an error without them. Some requests are answered with 200 and an error.
    private static func error(in answer: WebAnswer, _ call: S3Call) -> String? {
        guard answer.status != 200 || call.method == "POST" else { return nil }
        guard let root = XMLElement.read(answer.body), root.name == "Error" else { return answer.status < 400 ? nil : "" }
        let text = [root["Code"], root["Message"]].compactMap { $0 }.joined(separator: ": ")
        let printable = text.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : Character($0) }
        return " " + String(printable.prefix(maximumMessageLength))
    }

    /// Makes the error with a sentence about the store.
    package func refusal(_ text: String) -> StorageError {
        .refused(.unsuitable("the S3 store \(options.endpoint.text) with the bucket \(options.location.bucket) \(text)"))
    }
}

/// The operation on an S3 store, without the common parts of requests.
package struct S3Call {
    package let method: String
    /// The key; empty for the bucket.
    package let key: String
    /// The parameters, in the order of their names.
    package var query: [(String, String)] = []
    /// Header fields in addition to those of every request.
    package var fields: [(String, String)] = []
    /// The content of the request.
    package var body = WebRequest.Body.bytes([])
    /// The file that gets the body of the response; nil for memory.
    package var target: WebRequest.Target?
    /// Whether a failure is tried again.
    package var isRepeated = true
}
