// SPDX-License-Identifier: Apache-2.0

internal import CCurl
internal import Glibc
package import RealmPlatform

/// The bridge to libcurl: requests to other servers, one after another over connections that are kept.
///
/// Redirects are not followed.
///
/// Bodies pass through memory in pieces of some kilobytes. One thread uses it, and waits for the network.
@safe package final class CurlTransfer {
    /// The reason why a request got no response.
    package enum Failure: Error {
        /// The work was stopped, or a file could not be read or written to.
        case stopped(StorageError)
        /// The network or the server failed, as a sentence without a full stop. With `isLasting` another
        /// attempt would not help.
        case network(String, isLasting: Bool)
    }

    /// The number of seconds in which a connection has to be made.
    private static let connectSeconds = 10

    /// The handle of the library, which this object owns.
    private let handle: UnsafeMutableRawPointer

    /// Whether the library can be used in this process.
    private static let isReady = realm_rest_curl_start() != 0

    /// Makes a client without connections.
    ///
    /// - Throws: `StorageError.io` when the library lacks memory.
    package init() throws(StorageError) {
        guard CurlTransfer.isReady, let handle = unsafe curl_easy_init() else {
            throw .io(operation: "curl_easy_init", errno: ENOMEM)
        }
        unsafe self.handle = unsafe handle
    }

    deinit { unsafe curl_easy_cleanup(handle) }

    /// Sends a request, and waits for the whole response.
    ///
    /// - Parameters:
    ///   - control: Ends the transfer when it is cancelled; nil when nothing does.
    /// - Returns: The response, with any status.
    /// - Throws: `Failure` when there is no complete answer.
    package func send(_ request: WebRequest, _ control: WorkControl?) throws(Failure) -> WebAnswer {
        let progress = Progress(request, control)
        unsafe curl_easy_reset(handle)
        var lines: UnsafeMutablePointer<curl_slist>?
        defer { unsafe curl_slist_free_all(lines) }
        for (name, value) in request.fields { unsafe lines = unsafe curl_slist_append(lines, "\(name): \(value)") }
        var message = [CChar](repeating: 0, count: Int(realm_rest_curl_error_size))
        let code = unsafe message.withUnsafeMutableBufferPointer { room -> CURLcode in
            // The library keeps addresses of these values, so they outlive the transfer: the list and the context until the end
            // of this function, the room until that of this closure.
            guard prepare(request), unsafe realm_rest_curl_set_headers(handle, lines) != 0,
                unsafe realm_rest_curl_set_error_room(handle, room.baseAddress) != 0, connect(progress)
            else { return CURLE_FAILED_INIT }
            defer { unsafe _ = realm_rest_curl_set_error_room(handle, nil) }
            return withExtendedLifetime(progress) { unsafe curl_easy_perform(handle) }
        }
        if let error = progress.error { throw .stopped(error) }
        guard code != CURLE_OK else { return progress.answer }
        let text = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let sentence = text.isEmpty ? unsafe String(cString: curl_easy_strerror(code)) : text
        // The user of a stream has typed the name of the host.
        let isUnknown = request.stream != nil && code == CURLE_COULDNT_RESOLVE_HOST
        throw .network(sentence, isLasting: isUnknown || CurlTransfer.lasting.contains(code.rawValue))
    }

    /// The codes of failures that another attempt would repeat.
    private static let lasting: Set<UInt32> = Set(
        [CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT, CURLE_FAILED_INIT, CURLE_PEER_FAILED_VERIFICATION].map(\.rawValue))

    /// Sets everything that needs no address to outlive the call; returns whether it was accepted.
    private func prepare(_ request: WebRequest) -> Bool {
        var isSet =
            text(CURLOPT_URL, request.url) && text(CURLOPT_CUSTOMREQUEST, request.method)
            && text(CURLOPT_PROTOCOLS_STR, "http,https") && text(CURLOPT_USERAGENT, "realm-rest")
            && number(CURLOPT_NOSIGNAL, 1) && number(CURLOPT_CONNECTTIMEOUT, CurlTransfer.connectSeconds)
            && number(CURLOPT_LOW_SPEED_LIMIT, 1) && number(CURLOPT_LOW_SPEED_TIME, request.silentSeconds)
        if let signature = request.signature {
            isSet =
                isSet && text(CURLOPT_AWS_SIGV4, "aws:amz:\(signature.region):s3")
                && text(CURLOPT_USERNAME, signature.id) && text(CURLOPT_PASSWORD, signature.secret)
        }
        if let authority = request.certificateAuthority {
            // Without the second option the authorities of the system would be trusted as well.
            isSet = isSet && text(CURLOPT_CAINFO, authority) && text(CURLOPT_CAPATH, nil)
        }
        if let seconds = request.seconds { isSet = isSet && number(CURLOPT_TIMEOUT, seconds) }
        if request.isDirect { isSet = isSet && text(CURLOPT_NOPROXY, "*") }
        switch request.method {
        case "PUT", "POST":
            isSet = isSet && number(CURLOPT_UPLOAD, 1)
            isSet = unsafe isSet && realm_rest_curl_set_body_size(handle, curl_off_t(request.body.byteCount)) != 0
        case "HEAD": isSet = isSet && number(CURLOPT_NOBODY, 1)
        default: break
        }
        return isSet
    }

    /// Sets a string option, which the library copies; nil restores the default.
    private func text(_ option: CURLoption, _ text: String?) -> Bool {
        unsafe realm_rest_curl_set_text(handle, option, text) != 0
    }

    private func number(_ option: CURLoption, _ number: Int) -> Bool {
        unsafe realm_rest_curl_set_number(handle, option, number) != 0
    }

    /// Sets the functions that the library calls; `progress` has to live until the transfer has ended.
    private func connect(_ progress: Progress) -> Bool {
        var callbacks = unsafe realm_rest_curl_callbacks()
        unsafe callbacks.context = Unmanaged.passUnretained(progress).toOpaque()
        unsafe callbacks.read = { target, size, count, context in
            guard let target = unsafe target else { return 0 }
            let bytes = unsafe Progress.of(context).next(size * count)
            guard let bytes else { return Int(CURL_READFUNC_ABORT) }
            // `next` returns no more bytes than there is room for.
            for (index, byte) in bytes.enumerated() { unsafe target[index] = CChar(bitPattern: byte) }
            return bytes.count
        }
        unsafe callbacks.seek = { context, offset, origin in
            guard origin == 0 else { return CURL_SEEKFUNC_CANTSEEK }
            unsafe Progress.of(context).position = Int(offset)
            return CURL_SEEKFUNC_OK
        }
        unsafe callbacks.write = { source, size, count, context in
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: source, count: size * count))
            return unsafe Progress.of(context).take(bytes) ? bytes.count : 0
        }
        unsafe callbacks.header = { source, size, count, context in
            let bytes = unsafe Array(UnsafeRawBufferPointer(start: source, count: size * count))
            unsafe Progress.of(context).takeField(String(decoding: bytes, as: UTF8.self))
            return bytes.count
        }
        unsafe callbacks.progress = { context, _, _, _, _ in unsafe Progress.of(context).isStopped ? 1 : 0 }
        return unsafe realm_rest_curl_set_callbacks(handle, &callbacks) != 0
    }
}

extension CurlTransfer {
    /// One transfer while it runs. Only the thread that waits for it uses it.
    private final class Progress {
        private let request: WebRequest
        private let control: WorkControl?
        /// The number of bytes of the body that were sent.
        var position = 0
        /// The response so far.
        var answer = WebAnswer()
        /// The reason why this side ended the transfer; nil while it was not ended.
        var error: StorageError?

        init(_ request: WebRequest, _ control: WorkControl?) {
            self.request = request
            self.control = control
        }

        /// Returns the object whose address the library was given.
        static func of(_ context: UnsafeMutableRawPointer?) -> Progress {
            guard let context = unsafe context else { preconditionFailure("libcurl passed no context") }
            // The function that waits for the transfer holds the object.
            return unsafe Unmanaged<Progress>.fromOpaque(context).takeUnretainedValue()
        }

        /// Whether the transfer has to end.
        var isStopped: Bool {
            if error == nil {
                do throws(StorageError) { try control?.check() } catch { self.error = error }
            }
            return error != nil
        }

        /// Returns the next bytes of the body, at most `byteCount`; nil when they cannot be read.
        func next(_ byteCount: Int) -> [UInt8]? {
            do throws(StorageError) {
                let bytes = try request.body.read(at: position, byteCount: byteCount)
                position += bytes.count
                return bytes
            } catch {
                self.error = error
                return nil
            }
        }

        /// Takes the next bytes of the response; returns whether there was room for them.
        func take(_ bytes: [UInt8]) -> Bool {
            if answer.status == 200, let isWanted = request.stream?(answer, bytes) { return isWanted }
            do throws(StorageError) {
                if let target = request.target, answer.status == 200 {
                    guard answer.storedByteCount + bytes.count <= target.maximumByteCount else {
                        throw .limit("a backup in the S3 store is longer than its list said")
                    }
                    try ByteView.withBytes(of: bytes) { view throws(StorageError) in
                        try System.write(target.descriptor, view, at: answer.storedByteCount)
                    }
                    answer.storedByteCount += bytes.count
                    return true
                }
                guard answer.body.count + bytes.count <= request.maximumAnswerByteCount else {
                    throw .limit("an answer has more than \(request.maximumAnswerByteCount) bytes")
                }
                answer.body += bytes
                return true
            } catch {
                self.error = error
                return false
            }
        }

        /// Takes a line of the head of a response. The last head counts: others are interim.
        func takeField(_ line: String) {
            if line.hasPrefix("HTTP/") {
                answer = WebAnswer()
                answer.status = Int(line.split(separator: " ").dropFirst().first?.prefix(3) ?? "") ?? 0
            } else if let colon = line.firstIndex(of: ":"), answer.fields.count < 100 {
                let value = line[line.index(after: colon)...].drop { $0 == " " }
                answer.fields[line[..<colon].lowercasedASCII] = String(value.prefix { !$0.isNewline })
            }
        }
    }
}
