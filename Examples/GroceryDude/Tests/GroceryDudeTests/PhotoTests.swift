import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Pictures.
@Suite(.timeLimit(.minutes(2))) struct PhotoTests {
    @Test(.enabled(if: Pictures.scaler != nil, "there is neither vipsthumbnail nor convert"))
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
            #expect(small.header("Content-Type") == "image/png")
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

    @Test(.enabled(if: Pictures.scaler != nil, "there is neither vipsthumbnail nor convert"))
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
