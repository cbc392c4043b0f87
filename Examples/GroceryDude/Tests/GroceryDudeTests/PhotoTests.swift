import Foundation
import Testing

@testable import GroceryDude

/// Pictures.
@Suite(.timeLimit(.minutes(2))) struct PhotoTests {
    @Test(.enabled(if: Thumbnails.program != nil, "there is neither vipsthumbnail nor convert"))
    func aPictureIsShownAndGetsASmallOne() async throws {
        try await TestServer.run(.small) { server in
            let browser = try server.browser
            let picture = TestPicture.png(width: 300, height: 200)
            let answer = try await browser.upload("/items/1/photo", field: "photo", file: picture)
            #expect(answer.status == 303, "\(answer.words)")
            let full = try await browser.get("/items/1/photo")
            #expect(full.header("Content-Type") == "image/png")
            #expect(full.body == picture)
            let small = try await browser.get("/items/1/thumbnail")
            #expect(small.header("Content-Type") == "image/jpeg")
            #expect(small.body.count < picture.count)
            #expect(try await browser.get("/prepare").text.contains("<img src=\"/items/1/thumbnail?v="))
            #expect(try await browser.get("/items/1").text.contains("<img src=\"/items/1/photo?v="))
            #expect(try await browser.submit("/undo").status == 200)
            #expect(try await browser.get("/items/1/photo").status == 404)
            #expect(try await browser.get("/items/1/thumbnail").status == 404)
        }
    }

    @Test(arguments: [
        (Data("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>".utf8), "That is no picture"),
        (Data("GIF".utf8), "That is no picture"), (Data(), "Choose a picture first."),
        (Data("<html><script>alert(1)</script>".utf8), "That is no picture"),
    ])
    func whatIsNoPictureIsRefused(_ file: Data, _ message: String) async throws {
        try await TestServer.run(.small) { server async throws in
            let page = try await server.browser.upload("/items/1/photo", field: "photo", file: file)
            #expect(page.status == 422)
            #expect(page.words.contains(message))
            #expect(try await server.browser.get("/items/1/photo").status == 404)
        }
    }

    @Test(.enabled(if: Thumbnails.program != nil, "there is neither vipsthumbnail nor convert"))
    func aBrokenPictureIsRefused() async throws {
        try await TestServer.run(.small) { server in
            let broken = TestPicture.png(width: 30, height: 20).prefix(40) + Data(repeating: 7, count: 100)
            let page = try await server.browser.upload("/items/1/photo", field: "photo", file: Data(broken))
            #expect(page.status == 422)
            #expect(page.words.contains("That picture is broken"))
        }
    }

    @Test func aLargeUploadIsRefused() async throws {
        try await TestServer.run(.small) { server async throws in
            let file = Data([0xFF, 0xD8, 0xFF]) + Data(count: Pictures.largest + 100_000)
            #expect(try await server.browser.upload("/items/1/photo", field: "photo", file: file).status == 413)
        }
    }

    @Test(arguments: [
        "", "x", "--x-boundary-x", "--x-boundary-x\r\nContent-Disposition: form-data; name=\"photo\"\r\n\r\n",
    ])
    func aBrokenUploadIsAPage(_ body: String) async throws {
        try await TestServer.run(.small) { server in
            let page = try await server.browser.send(
                "POST", "/items/1/photo", ["Content-Type": "multipart/form-data; boundary=x-boundary-x"],
                Data(body.utf8))
            #expect(page.status == 400 || page.status == 403)
            #expect(page.text.contains("<h1>"))
        }
    }
}

/// Pictures for tests, and for the demo's like.
enum TestPicture {
    /// A PNG of one colour's shades, not compressed.
    static func png(width: Int, height: Int) -> Data {
        func chunk(_ name: String, _ content: [UInt8]) -> Data {
            let body = Array(name.utf8) + content
            return bytes(UInt32(content.count)) + Data(body) + bytes(crc(body))
        }
        var rows: [UInt8] = []
        for y in 0..<height {
            rows.append(0)
            for x in 0..<width { rows += [UInt8(x * 255 / width), UInt8(y * 255 / height), 90] }
        }
        var stream: [UInt8] = [0x78, 0x01]
        var rest = rows[...]
        while !rest.isEmpty {
            let part = rest.prefix(65535)
            rest = rest.dropFirst(part.count)
            let length = UInt16(part.count)
            stream += [
                rest.isEmpty ? 1 : 0, UInt8(length & 255), UInt8(length >> 8), UInt8(~length & 255),
                UInt8(~length >> 8),
            ]
            stream += part
        }
        var (a, b) = (UInt32(1), UInt32(0))
        for byte in rows {
            a = (a + UInt32(byte)) % 65521
            b = (b + a) % 65521
        }
        stream += [UInt8](bytes(b << 16 | a))
        var file = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A])
        var size = [UInt8](bytes(UInt32(width)))
        size += [UInt8](bytes(UInt32(height)))
        size += [8, 2, 0, 0, 0]
        file += chunk("IHDR", size)
        file += chunk("IDAT", stream)
        file += chunk("IEND", [])
        return file
    }

    private static func bytes(_ number: UInt32) -> Data { withUnsafeBytes(of: number.bigEndian) { Data($0) } }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        var crc = ~UInt32(0)
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
        }
        return ~crc
    }
}
