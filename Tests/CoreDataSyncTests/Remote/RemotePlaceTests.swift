import CoreDataSync
import Foundation
import RemoteServers
import TestSupport
import Testing

@testable import CoreDataRemoteSync

/// What servers refuse, lose and send instead, and what a place makes of that.
@Suite(.timeLimit(.minutes(Sanitizer.minutes(2)))) struct RemotePlaceTests {
    typealias Kind = StandInPlace.Kind
    private let one = Data("one".utf8)

    private func error(_ body: () async throws -> Void) async -> SyncPlaceError? {
        await #expect(throws: SyncPlaceError.self) { try await body() }
    }

    // MARK: Repetitions

    @Test(arguments: Kind.allCases, [429, 500, 502, 503, 504])
    func aBusyServerIsAskedAgain(kind: Kind, status: Int) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = remote.place
        for method in ["PUT", "MOVE", "HEAD", "PROPFIND", "MKCOL"] {
            remote.faults.set(method, .init(status: status), times: 2)
        }
        #expect(try await place.create("f", in: "a", one))
        remote.faults.set("GET", .init(status: status), times: 3)
        #expect(try await place.read("f", in: "a") == one)
        remote.faults.set("DELETE", .init(status: status), times: 3)
        try await place.delete("f", in: "a")
        #expect(remote.files.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func aServerThatStaysBusyIsAnErrorAfterFourAttempts(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = remote.place
        remote.faults.set("GET", .init(status: 503))
        let error = try #require(await error { _ = try await place.read("f", in: "a") })
        #expect(error.reason == .unavailable && error.path == "a/f")
        #expect(error.message.hasPrefix("'a/f' cannot be read: ") && error.message.contains("503"), "\(error)")
        #expect(remote.server.requests.count == 4)
    }

    @Test(arguments: [("0", 4), ("5", 1), ("Mon, 23 Nov 2026 08:30:05 GMT", 4)])
    func theServerSaysWhenToComeBack(wanted: String, attempts: Int) async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        let place = try StandInPlace.place(
            .s3, remote.server.url, retries: RetryPolicy(attempts: 4, delay: 0.002, longestDelay: 4))
        remote.faults.set("GET", .init(status: 503, headers: ["Retry-After": wanted]))
        _ = await error { _ = try await place.read("f", in: "a") }
        #expect(remote.server.requests.count == attempts, "more than the longest delay is left to the next exchange")
    }

    @Test func delaysDoubleAndAreBounded() {
        let policy = RetryPolicy(attempts: 8, delay: 1, longestDelay: 5)
        for (attempt, greatest) in [(1, 1.0), (2, 2), (3, 4), (4, 5), (7, 5)] {
            let pauses = (0..<50).compactMap { _ in policy.pause(after: attempt) }
            #expect(pauses.count == 50 && pauses.allSatisfy { (greatest / 2...greatest).contains($0) })
            #expect(Set(pauses).count > 1, "devices do not come back together")
        }
        #expect(policy.pause(after: 8) == nil)
    }

    /// The server did the work, but its answer was lost: the second attempt meets the first one's file.
    @Test(arguments: Kind.allCases, ["PUT", "MOVE", "DELETE", "MKCOL"])
    func aLostAnswerIsNoConflict(kind: Kind, method: String) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = remote.place
        // From now on the service is known to observe conditions.
        #expect(try await place.create("e", in: "a", one))
        remote.faults.loseAnswers(method)
        #expect(try await place.create("f", in: "b", one))
        remote.faults.loseAnswers(method)
        try await place.delete("e", in: "a")
        #expect(remote.files == ["b/f": one])
    }

    @Test(arguments: Kind.allCases)
    func anotherDevicesFileStaysWhereAnAnswerWasLost(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = remote.place
        #expect(try await place.create("f", in: "a", Data("other".utf8)))
        remote.faults.set(kind == .s3 ? "PUT" : "MOVE", .init(isLost: true), times: 1)
        #expect(try await !place.create("f", in: "a", one))
        #expect(remote.files == ["a/f": Data("other".utf8)])
    }

    // MARK: Errors

    @Test(
        arguments: Kind.allCases,
        [
            (301, SyncPlaceError.Reason.unavailable, "redirects"), (400, .unavailable, "refuses"),
            (401, .noPermission, "password"), (403, .noPermission, "permission"), (405, .unavailable, "address"),
            (413, .tooLarge, "larger"), (423, .unavailable, "locked"), (500, .unavailable, "failed"),
            (507, .full, "space"),
        ])
    func whateverAServerAnswersIsAClearError(
        kind: Kind, row: (status: Int, reason: SyncPlaceError.Reason, word: String)
    ) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let (place, data) = (remote.place, one)
        remote.faults.set(
            nil,
            .init(
                status: row.status, headers: ["Location": "http://127.0.0.1:1/"],
                body: Data("<html>\(WebDAVStandIn.password)".utf8)))
        for error in [
            await error { _ = try await place.list(nil) }, await error { _ = try await place.list("a") },
            await error { _ = try await place.read("f", in: "a") },
            await error { _ = try await place.create("f", in: "a", data) },
            await error { try await place.delete("f", in: "a") },
        ] {
            let error = try #require(error)
            #expect(error.reason == row.reason && error.message.contains("\(row.status)"), "\(error)")
            #expect(error.message.contains(row.word) && error.message.contains("127.0.0.1"), "\(error)")
            #expect(!error.message.contains(WebDAVStandIn.password))
        }
    }

    @Test(arguments: [
        ("NoSuchBucket", 404, SyncPlaceError.Reason.unavailable, "Create it"),
        ("SignatureDoesNotMatch", 403, .noPermission, "secret key"),
        ("RequestTimeTooSkewed", 403, .noPermission, "Set the clock"),
        ("AccessDenied", 403, .noPermission, "listing the bucket"),
        ("PermanentRedirect", 301, .unavailable, "another region, eu-central-1."),
        ("AuthorizationHeaderMalformed", 400, .unavailable, "region"), ("QuotaExceeded", 403, .full, "quota"),
        ("SlowDown", 503, .unavailable, "503 SlowDown"),
    ])
    func anS3ServicesCodeSaysWhatToDo(
        code: String, status: Int, reason: SyncPlaceError.Reason, words: String
    ) async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        let (place, data) = (remote.place, one)
        let body = "<Error><Code>\(code)</Code><Message>\(S3StandIn.secretKey)</Message></Error>"
        remote.faults.set(
            nil,
            .init(status: status, headers: ["x-amz-bucket-region": "eu-central-1"], body: Data(body.utf8)))
        for error in [
            await error { _ = try await place.list(nil) },
            await error { _ = try await place.read("f", in: "a") },
        ] {
            #expect(error?.reason == reason && error?.message.contains(words) == true, "\(error?.message ?? "")")
            #expect(error?.message.contains(S3StandIn.secretKey) == false)
        }
        remote.faults.set("", nil)
        remote.faults.set("PUT", .init(status: status, body: Data(body.utf8)))
        #expect(await error { _ = try await place.create("f", in: "a", data) }?.reason == reason)
    }

    @Test(arguments: Kind.allCases)
    func wrongSecretsAreAnErrorAndNotRepeated(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = try StandInPlace.place(kind, remote.server.url, secret: "hush/hush")
        let data = one
        for error in [
            await error { _ = try await place.list(nil) },
            await error { _ = try await place.create("f", in: "a", data) },
        ] {
            #expect(error?.reason == .noPermission)
            let text = "\(String(reflecting: error)) \(error?.errorUserInfo ?? [:])"
            for secret in [
                "hush", S3StandIn.secretKey, "Signature=", Data("ann:hush/hush".utf8).base64EncodedString(),
            ] { #expect(!text.contains(secret)) }
        }
        #expect(remote.server.requests.count == 2 && remote.files.isEmpty, "no attempt again")
    }

    @Test func digestAuthenticationIsNamed() async throws {
        let server = try LoopbackServer { _ in
            .init(status: 401, headers: ["WWW-Authenticate": "Digest realm=\"files\", nonce=\"1f\", qop=\"auth\""])
        }
        defer { server.end() }
        let place = try StandInPlace.place(.webDAV, server.url)
        let error = await error { _ = try await place.list(nil) }
        #expect(error?.reason == .noPermission && error?.message.contains("Digest") == true, "\(error?.message ?? "")")
    }

    /// The other server would get the password, or a signature, with the request.
    @Test(arguments: Kind.allCases, [301, 302, 307, 308])
    func redirectsAreNotFollowed(kind: Kind, status: Int) async throws {
        let other = try LoopbackServer { _ in .init() }
        defer { other.end() }
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        remote.faults.set(nil, .init(status: status, headers: ["Location": "http://127.0.0.1:\(other.port)/x"]))
        let (place, data) = (remote.place, one)
        _ = await error { _ = try await place.list(nil) }
        _ = await error { _ = try await place.read("f", in: "a") }
        _ = await error { _ = try await place.create("f", in: "a", data) }
        #expect(other.requests.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func aServerThatIsAwayIsUnavailable(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        remote.end()
        let (place, port) = (remote.place, remote.server.port)
        let error = await error { _ = try await place.list(nil) }
        #expect(error?.reason == .unavailable && error?.message.contains("cannot be reached") == true)
        #expect(error?.message.contains("127.0.0.1:\(port)") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: Kind.allCases)
    func aSilentServerIsGivenUp(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        var limits = RemoteLimits()
        limits.silence = 1
        remote.faults.set(nil, .init(delay: 6))
        let place = try StandInPlace.place(kind, remote.server.url, limits: limits)
        let error = await error { _ = try await place.list(nil) }
        #expect(error?.reason == .unavailable && error?.message.contains("did not answer in time") == true)
        #expect(remote.server.requests.count == 1, "silence is not tried again at once")
    }

    @Test(arguments: Kind.allCases)
    func aRequestHasAnEnd(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        var limits = RemoteLimits()
        limits.total = 0.2
        remote.faults.set(nil, .init(delay: 20))
        let place = try StandInPlace.place(kind, remote.server.url, limits: limits)
        let start = ContinuousClock.now
        let error = await error { _ = try await place.read("f", in: "a") }
        #expect(error?.message.contains("did not answer in time") == true, "\(error?.message ?? "")")
        #expect(ContinuousClock.now - start < .seconds(15))
    }

    @Test(arguments: Kind.allCases)
    func aCancelledTaskIsCancelled(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        remote.faults.set(nil, .init(delay: 4))
        let place = remote.place
        let task = Task { try await place.list(nil) }
        try await Polling.suspend(until: "the server is asked") { !remote.server.requests.isEmpty }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    // MARK: What is read

    @Test(arguments: Kind.allCases)
    func aFileThatIsTooLargeIsNotRead(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        remote.faults.set(
            "GET",
            .init(headers: ["Content-Length": "\((1 << 30) + 1)"], body: Data(count: 100_000)))
        let place = remote.place
        let error = await error { _ = try await place.read("f", in: "a") }
        #expect(error?.reason == .tooLarge && error?.path == "a/f", "\(error?.message ?? "")")
    }

    @Test(arguments: Kind.allCases)
    func aFileThatComesShortIsReadAgain(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let bytes = Data(repeating: 7, count: 100_000)
        let place = remote.place
        #expect(try await place.create("f", in: "a", bytes))
        remote.faults.set(
            "GET", .init(headers: ["Content-Length": "100000"], body: bytes, missing: 400), times: 2)
        #expect(try await place.read("f", in: "a") == bytes)
        remote.faults.set("GET", .init(headers: ["Content-Length": "100000"], body: bytes, missing: 400))
        #expect(await error { _ = try await place.read("f", in: "a") }?.reason == .unavailable)
    }

    @Test(arguments: Kind.allCases, ["", "<a", "<html>Welcome</html>", "<a>&nothing;</a>"])
    func aListThatIsNoneIsAnError(kind: Kind, body: String) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        remote.faults.set(nil, .init(status: kind == .s3 ? 200 : 207, body: Data(body.utf8)))
        let place = remote.place
        let error = await error { _ = try await place.list("a") }
        #expect(error?.message.contains("cannot be read") == true, "\(error?.message ?? "")")
    }

    @Test(arguments: Kind.allCases)
    func foreignFilesAreNotListed(kind: Kind) async throws {
        let remote = try StandInPlace(kind)
        defer { remote.end() }
        let place = remote.place
        #expect(try await place.create("f", in: "a", one))
        for name in ["a/.hidden", "a/x y", "a/ü", "a/b/c", "file", "a/x&y"] { remote.set(name, one) }
        if kind == .s3 {
            remote.s3.set("other/f", one)
            remote.s3.set("my shop2/g", one)
        }
        #expect(try await place.list(nil) == ["a"])
        #expect(try await place.list("a") == ["f"])
        #expect(try await place.list("file") == [])
        remote.set("a/empty", Data())
        #expect(try await place.read("empty", in: "a") == nil)
    }

    @Test(arguments: [1, 7, 100, 1000])
    func aLongListComesInPages(size: Int) async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        for number in 0..<100 { remote.set("a/f-\(number)", one) }
        for number in 0..<20 { remote.set("d-\(number)/f", one) }
        remote.s3.setPageSize(size)
        #expect(Set(try await remote.place.list("a")) == Set((0..<100).map { "f-\($0)" }))
        #expect(try await remote.place.list(nil).count == 21)
        #expect(remote.server.requests.count == (100 + size - 1) / size + (21 + size - 1) / size)
    }

    @Test func aListThatDoesNotEndIsAnError() async throws {
        let remote = try StandInPlace(.s3)
        defer { remote.end() }
        let body =
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>7</NextContinuationToken></ListBucketResult>"
        remote.faults.set("GET", .init(body: Data(body.utf8)))
        let place = remote.place
        #expect(await error { _ = try await place.list(nil) }?.message.contains("does not end") == true)
    }

    // MARK: Addresses

    @Test(arguments: [
        "ftp://example.com", "https://ann:hush@example.com", "file:///tmp", "https://example.com/?x=hush", "nothing",
    ])
    func addressesAreChecked(address: String) throws {
        let url = try #require(URL(string: address))
        let keys = S3Credentials(accessKey: "a", secretKey: "b")
        let folder = #expect(throws: SyncPlaceError.self) { try WebDAVPlace(folder: url, credentials: nil) }
        let bucket = #expect(throws: SyncPlaceError.self) {
            try S3Place(endpoint: url, bucket: "backups", credentials: keys)
        }
        #expect(folder?.message.contains("hush") == false && bucket?.message.contains("hush") == false)
    }

    @Test(arguments: [("", ""), ("Up", ""), ("a/b", ""), ("ok-name", "../x"), ("ok-name", "a//b"), ("ok-name", "/")])
    func bucketsAndPrefixesAreChecked(bucket: String, prefix: String) throws {
        let url = try #require(URL(string: "https://example.com"))
        #expect(throws: SyncPlaceError.self) {
            try S3Place(
                endpoint: url, bucket: bucket, prefix: prefix,
                credentials: S3Credentials(accessKey: "a", secretKey: "b"))
        }
    }
}
