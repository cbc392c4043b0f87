import CoreData
import CoreDataServiceClient
import Foundation
import Testing

/// A server that is no service of the model: errors, and no crash.
@Suite struct HostileAnswerTests {
    private static let id = "67BA98BC-3383-4CC6-BDA3-AF688465D885"

    private static func object(_ members: String) -> String {
        #"{"items":[{"_entity":"Item","_id":"\#(id)","_version":"298122069d00ffdc",\#(members)}],"next":null}"#
    }

    static let answers: [(name: String, mode: Proxy.Mode)] = [
        ("no JSON", .answers(200, "text/html", "<html>Welcome to the hotel's network</html>")),
        ("nothing", .answers(200, "application/json", "")),
        ("a list", .answers(200, "application/json", "[]")),
        ("no items", .answers(200, "application/json", #"{"items": 7}"#)),
        ("items of numbers", .answers(200, "application/json", #"{"items":[1,2],"next":null}"#)),
        (
            "an entity of another model",
            .answers(200, "application/json", #"{"items":[{"_entity":"Virus","_id":"\#(id)","_version":"1"}]}"#)
        ),
        (
            "an object of another entity",
            .answers(200, "application/json", #"{"items":[{"_entity":"Unit","_id":"\#(id)","_version":"1"}]}"#)
        ),
        ("no ID", .answers(200, "application/json", #"{"items":[{"_entity":"Item","_id":"7","_version":"1"}]}"#)),
        ("a number for a text", .answers(200, "application/json", object(#""name":7"#))),
        ("a text for a number", .answers(200, "application/json", object(#""name":"Milk","stock":"many""#))),
        ("a date that is none", .answers(200, "application/json", object(#""name":"Milk","day":"yesterday""#))),
        ("a relationship that is none", .answers(200, "application/json", object(#""name":"Milk","unit":[1]"#))),
        (
            "a page that follows itself",
            .answers(200, "application/json", object(#""name":"Milk""#).replacing("null}", with: #""x"}"#))
        ),
        ("deep JSON", .answers(200, "application/json", String(repeating: "[", count: 100_000))),
        ("a problem without a form", .answers(500, "application/problem+json", "{")),
        ("a redirect", .answers("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")),
        ("no HTTP", .answers("SSH-2.0-OpenSSH_9.2p1\r\n")),
        (
            "a short answer",
            .answers("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{")
        ),
    ]

    @Test(arguments: answers.indices)
    func anAnswerOfAnotherKindIsAnError(index: Int) async throws {
        try await Shop.run { shop in
            let device = try shop.device(session: try shop.session(seconds: 5))
            shop.proxy.mode = Self.answers[index].mode
            let error = await #expect(throws: CocoaError.self, "\(Self.answers[index].name)") {
                try await device.names()
            }
            #expect(error?.userInfo[NSUnderlyingErrorKey] is ServiceError, "\(String(describing: error))")
            shop.proxy.mode = .open
            #expect(try await device.names().isEmpty)
        }
    }

    @Test func anAnswerThatIsTooLargeIsRefused() async throws {
        try await Shop.run { shop in
            let device = try shop.device()
            shop.proxy.mode = .answers(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{")
            let error = await #expect(throws: CocoaError.self) { try await device.names() }
            #expect(error?.localizedDescription.contains("bytes that are read") == true)
        }
    }

    @Test func aServiceThatNeverAnswersIsGivenUp() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache", session: try shop.session(seconds: 1))
            try await device.add("Milk")
            shop.proxy.mode = .silent
            #expect(try await device.names() == ["Milk"])
            device.store.cachePolicy = .networkOnly
            let error = await #expect(throws: CocoaError.self) { try await device.names() }
            #expect(error?.errorCode == NSPersistentStoreTimeoutError)
        }
    }

    @Test func aRefusalIsNoReasonToAskTheCache() async throws {
        try await Shop.run { shop in
            let device = try shop.device("cache")
            try await device.add("Milk")
            _ = try await device.names()
            shop.proxy.mode = .answers(
                403, "application/problem+json",
                #"{"type":"urn:coredata:problem:denied","title":"You may not do that","status":403,"detail":"read Item"}"#
            )
            let error = await #expect(throws: CocoaError.self) { try await device.names() }
            #expect((error?.userInfo[NSUnderlyingErrorKey] as? ServiceError)?.type == "denied")
        }
    }
}
