import CoreDataDigests
import Foundation
import Testing

@testable import CoreDataRemote

/// The examples that Amazon publishes for Signature Version 4, and RFC 4231 for HMAC.
@Suite struct SignatureTests {
    private let signature = S3Signature(
        credentials: S3Credentials(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"),
        region: "us-east-1")

    /// 24 May 2013, midnight.
    private let date = Date(timeIntervalSince1970: 1_369_353_600)
    private static let nothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func sign(
        _ method: String, _ path: String, _ query: [(String, String)], _ headers: [String: String], _ content: String
    ) -> String {
        let all = signature.headers(
            for: S3Signature.Request(
                method: method, path: path, query: query.map { (name: $0.0, value: $0.1) },
                headers: headers.merging(["host": "examplebucket.s3.amazonaws.com"]) { $1 }, content: content), at: date
        )
        return String(all["authorization"]?.suffix(64) ?? "")
    }

    @Test func getOfAPart() {
        #expect(
            sign("GET", "/test.txt", [], ["range": "bytes=0-9"], Self.nothing)
                == "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41")
    }

    @Test func putOfAnObject() {
        let content = Digests.hex(Digests.sha256(Data("Welcome to Amazon S3.".utf8)))
        let path = "/" + RemoteAddress.encoded("test$file.text", keeping: "/")
        #expect(
            sign(
                "PUT", path, [],
                ["date": "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY"], content)
                == "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd")
    }

    @Test func listOfABucket() {
        #expect(
            sign("GET", "/", [("prefix", "J"), ("max-keys", "2")], [:], Self.nothing)
                == "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7")
    }

    @Test func digestsOfFilesAndOfKeys() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        let data = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try data.write(to: file)
        #expect(try DigestStream.sha256(of: file) == Digests.sha256(data))
        #expect(Digests.hex(Digests.sha256(Data())) == Self.nothing)
        #expect(
            Digests.hex(Digests.hmac(Data("what do ya want for nothing?".utf8), key: Data("Jefe".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    @Test func secretsAreNotPrinted() {
        let keys = S3Credentials(accessKey: "AKKEY", secretKey: "hush", sessionToken: "token")
        let password = WebDAVCredentials(user: "ann", password: "hush")
        var text = "\(keys) \(password) \(String(reflecting: keys)) \(String(reflecting: password))"
        dump(keys, to: &text)
        dump(password, to: &text)
        for secret in ["hush", "AKKEY", "token", "ann:", Data("ann:hush".utf8).base64EncodedString()] {
            #expect(!text.contains(secret))
        }
    }
}
