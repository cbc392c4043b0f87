import Foundation
import LivePages
import LivePagesTesting
import Testing

@testable import GroceryDude

/// Stored photos do not contain where and when they were taken.
@Suite(.timeLimit(.minutes(2))) struct PictureMetadataTests {
    /// What must not be sent.
    private static let secret = ascii("SECRET-52.5N-13.4E")

    private static func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap { $0 } }

    /// A directory as EXIF has it, with an entry for the orientation.
    private static func directory(_ orientation: UInt8, isLittle: Bool = false) -> [UInt8] {
        if isLittle {
            return [
                0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0,
            ]
        }
        return [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
    }

    /// A directory that the secret stands behind.
    private static func exif(_ orientation: UInt8, isLittle: Bool = false) -> [UInt8] {
        joined(directory(orientation, isLittle: isLittle), secret)
    }

    // MARK: JPEG

    private static func segment(_ kind: UInt8, _ content: [UInt8]...) -> [UInt8] {
        let all = content.flatMap { $0 }
        return joined([0xFF, kind, UInt8((all.count + 2) >> 8), UInt8((all.count + 2) & 255)], all)
    }

    /// The structure of a JPEG; its scan has a stuffed byte and a restart.
    private static func jpeg(_ middle: [UInt8]...) -> Data {
        let start = joined([0xFF, 0xD8], segment(0xE0, ascii("JFIF\0")))
        let frame = segment(0xC0, [8, 0, 2, 0, 3, 1, 1, 0x11, 0])
        let scan = joined(segment(0xDA, [1, 1, 0, 0, 63, 0]), [0x12, 0xFF, 0x00, 0x34, 0xFF, 0xD0, 0x56, 0xFF, 0xD9])
        return Data(joined(start, middle.flatMap { $0 }, frame, scan))
    }

    private static let marker = ascii("Exif\0\0")
    private static let profile = segment(0xE2, ascii("ICC_PROFILE\0"))

    private static var camera: Data {
        let directory = segment(0xE1, marker, exif(6))
        let preview = segment(0xE2, ascii("MPF\0"), secret)
        return jpeg(directory, segment(0xE1, secret), segment(0xFE, secret), preview, profile) + Data(secret)
    }

    // MARK: The others

    private static func png(_ chunks: [UInt8]...) -> Data {
        let picture = [UInt8](TestPicture.png(width: 4, height: 4))
        return Data(joined(Array(picture[..<33]), chunks.flatMap { $0 }, Array(picture[33...])))
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        joined([0, 0, UInt8(content.count >> 8), UInt8(content.count & 255)], ascii(name), content, [1, 2, 3, 4])
    }

    private static func webp(_ flags: UInt8, _ chunks: [UInt8]...) -> Data {
        let extended = joined(ascii("VP8X"), [10, 0, 0, 0, flags, 0, 0, 0, 3, 0, 0, 1, 0, 0])
        let pixels = joined(ascii("VP8L"), [3, 0, 0, 0, 0x2F, 1, 2, 0])
        let body = joined(ascii("WEBP"), extended, pixels, chunks.flatMap { $0 })
        return Data(joined(ascii("RIFF"), [UInt8(body.count), 0, 0, 0], body))
    }

    private static func webpChunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        joined(ascii(name), [UInt8(content.count), 0, 0, 0], content, content.count % 2 == 1 ? [0] : [])
    }

    private static func gif(_ blocks: [UInt8]...) -> Data {
        let head = joined(ascii("GIF89a"), [2, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255])
        let picture: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 1, 0, 0, 2, 2, 0x44, 0x01, 0, 0x3B]
        return Data(joined(head, blocks.flatMap { $0 }, picture))
    }

    /// Names, pictures, and the same ones without metadata.
    static let pictures: [(String, Data, Data)] = {
        let onItsSide = segment(0xE1, marker, directory(6))
        let comment = joined([0x21, 0xFE, UInt8(secret.count)], secret, [0])
        let text = png(chunk("tEXt", secret), chunk("iTXt", secret)) + Data(secret)
        let tagged = webp(0x1C, webpChunk("EXIF", exif(1)), webpChunk("XMP ", joined(secret, [1])))
        var all: [(String, Data, Data)] = []
        all.append(("a JPEG as a camera makes it", camera, jpeg(onItsSide, profile)))
        all.append(("an upright JPEG", jpeg(segment(0xE1, marker, exif(1))), jpeg()))
        all.append(
            ("a JPEG of the other byte order", jpeg(segment(0xE1, marker, exif(6, isLittle: true))), jpeg(onItsSide)))
        all.append(("a PNG with text", text, png()))
        all.append(("a PNG with EXIF", png(chunk("eXIf", exif(1))), png()))
        all.append(("a PNG with colours", png(chunk("gAMA", [0, 0, 1, 2])), png(chunk("gAMA", [0, 0, 1, 2]))))
        all.append(("a WebP with EXIF and XMP", tagged, webp(0x10)))
        all.append(
            ("a WebP on its side", webp(0x08, webpChunk("EXIF", exif(6))), webp(0x08, webpChunk("EXIF", directory(6)))))
        all.append(("a GIF with a comment", gif(comment), gif()))
        return all
    }()

    @Test(arguments: pictures)
    func metadataIsRemovedAndTheOrientationStays(_ name: String, _ picture: Data, _ clean: Data) {
        let result = PictureMetadata.removed(from: picture)
        #expect(result == clean)
        #expect(result?.range(of: Data(Self.secret)) == nil)
        // What is clean stays as it is.
        #expect(PictureMetadata.removed(from: clean) == clean)
    }

    @Test func brokenPicturesAreNone() {
        for (name, picture, _) in Self.pictures {
            for count in stride(from: 0, to: picture.count, by: 5) {
                // Whatever is left of it, nothing crashes, and no secret is in it.
                let result = PictureMetadata.removed(from: picture.prefix(count))
                #expect(result?.range(of: Data(Self.secret)) == nil, "\(name), \(count)")
            }
        }
        #expect(PictureMetadata.removed(from: Self.png().prefix(50)) == nil)
    }

    /// Also where another program stored the picture as the camera made it.
    @Test func noPhotoIsServedWithMetadata() async throws {
        let picture = Self.pictures[0]
        try await TestServer.run(
            Filling { groceries in
                try groceries.fillSmall()
                try groceries.perform("Picture") {
                    let photo = Item_Photo(context: groceries.view)
                    photo.data = picture.1
                    groceries.item(1)?.photo = photo
                }
            }
        ) { server in
            let answer = try await server.browser.get("/items/1/photo")
            #expect(answer.header("Content-Type") == "image/jpeg")
            #expect(answer.body == picture.2)
        }
    }

    @Test(.enabled(if: Pictures.scaler != nil, "there is neither vipsthumbnail nor convert"))
    func noPhotoIsStoredWithMetadata() async throws {
        let picture = Self.pictures[3]
        try await TestServer.run(.small) { server in
            let answer = try await server.browser.upload("/items/1/photo", field: "photo", file: picture.1)
            #expect(answer.status == 303)
            let stored = await MainActor.run { server.app.groceries.picture(of: server.app.groceries.item(1)) }
            #expect(stored == picture.2)
        }
    }
}
