import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CoreDataToolkit

@Suite struct ThumbnailerTests {
    private static func makeStack(_ grocery: Grocery, pictures: [Data]) async throws -> CoreDataStack {
        let stack = try await grocery.makeStack()
        try await stack.performImport { context in
            for (index, picture) in pictures.enumerated() {
                let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
                item.setValue("item \(index)", forKey: "name")
                let photo = NSEntityDescription.insertNewObject(forEntityName: "Item_Photo", into: context)
                photo.setValue(picture, forKey: "data")
                item.setValue(photo, forKey: "photo")
            }
            _ = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
        }
        return stack
    }

    @Test func everyPictureGetsASmallOneOnce() async throws {
        let grocery = try Grocery()
        let pictures = (0..<40).map { SmallPicture($0 * 1000, size: 16).png }
        let stack = try await Self.makeStack(grocery, pictures: pictures)
        let calls = Mutex(0)
        let thumbnailer = try Thumbnailer(stack, entity: "Item", picture: "photo.data", thumbnail: "thumbnail") {
            image, width, height in
            calls.withLock { $0 += 1 }
            #expect(width == 66 && height == 66)
            return image.prefix(20)
        }
        let told = Mutex<[Int]>([])
        let summary = try await thumbnailer.run { progress in told.withLock { $0.append(progress.count) } }
        #expect(summary.made == 40 && summary.failures.isEmpty)
        #expect(told.withLock { $0 } == [15, 30, 40])
        #expect(try await stack.count("Item", "thumbnail != nil") == 40)
        #expect(try await thumbnailer.run().made == 0)
        #expect(calls.withLock { $0 } == 40)
    }

    @Test func whatIsNoPictureIsListedAndTheOthersGoOn() async throws {
        let grocery = try Grocery()
        let stack = try await Self.makeStack(
            grocery, pictures: [SmallPicture(1, size: 8).png, Data("no picture".utf8), SmallPicture(2, size: 8).png])
        let thumbnailer = try Thumbnailer(stack, entity: "Item", picture: "photo.data", thumbnail: "thumbnail") {
            image, _, _ in
            _ = try ImageHeader(image)
            return image
        }
        let summary = try await thumbnailer.run()
        #expect(summary.made == 2)
        #expect(
            summary.failures.map(\.message) == ["These 10 bytes are no picture: PNG, JPEG, GIF and WebP are known."])
    }

    @Test func attributesThatDoNotFitAreTold() async throws {
        let grocery = try Grocery()
        let stack = try await grocery.makeStack()
        for (picture, thumbnail) in [("name", "thumbnail"), ("photo.data", "name"), ("photo.dta", "thumbnail")] {
            #expect(throws: ToolkitError.self) {
                try Thumbnailer(stack, entity: "Item", picture: picture, thumbnail: thumbnail) { image, _, _ in image }
            }
        }
    }
}

@Suite struct ImageScalerTests {
    private static let headers: [([UInt8], String?)] = [
        (
            [
                0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 1, 0, 0, 0,
                0, 9,
            ], "png 256 9"
        ),
        (Array("GIF89a".utf8) + [3, 0, 4, 0], "gif 3 4"),
        ([0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1, 2, 0xFF, 0xC2, 0, 11, 8, 0, 7, 1, 1], "jpeg 257 7"),
        ([0xFF, 0xD8, 0xFF, 0xD9], nil), ([0xFF, 0xD8, 0xFF, 0xE0, 0, 0], nil), ([], nil), (Array("<svg/>".utf8), nil),
        (Array("GIF89a".utf8) + [0, 0, 4, 0], nil), (Array("GIF89a".utf8), nil),
        (Array("RIFF____WEBPVP8X____".utf8) + [0, 0, 0, 0, 9, 0, 0, 19, 0, 0], "webp 10 20"),
    ]

    @Test(arguments: headers)
    func headersTellFormatAndSize(bytes: [UInt8], expected: String?) {
        let header = try? ImageHeader(Data(bytes))
        #expect(header.map { "\($0.format) \($0.width) \($0.height)" } == expected)
    }

    /// A tool of the test's own, which does what the script says.
    private static func scaler(
        _ script: String, _ grocery: Grocery, tool: String = "vipsthumbnail"
    ) throws -> SystemImageScaler {
        let url = try grocery.write("#!/bin/sh\n\(script)\n", to: tool)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: url.path)
        return try SystemImageScaler(path: "/nowhere:\(grocery.folder.path)")
    }

    @Test func theToolIsGivenAFileAndMakesOne() throws {
        let grocery = try Grocery()
        let scaler = try Self.scaler(
            #"[ "$1 $2 $3 $4 $5" = "in.png --size 66x50> -o out.png[strip]" ] && cp in.png out.png"#, grocery)
        let picture = SmallPicture(77, size: 12).png
        #expect(try scaler.thumbnail(of: picture, width: 66, height: 50) == picture)
    }

    @Test func anotherProgramThatIsCalledConvertIsNotTaken() throws {
        let grocery = try Grocery()
        let scaler = try Self.scaler("echo Version: ImageMagick 6.9.11-60 Q16", grocery, tool: "convert")
        #expect(scaler.tool == .convert)
        for script in ["echo converts volumes to NTFS", "echo Version: ImageMagick; exit 1", "exit 0"] {
            #expect(throws: ToolkitError.self) { try Self.scaler(script, grocery, tool: "convert") }
        }
    }

    @Test func whatTheToolCannotDoIsTold() throws {
        let grocery = try Grocery()
        let picture = SmallPicture(77, size: 12).png
        let scripts = [
            ("echo bad picture >&2; exit 1", "bad picture"), ("exit 0", "made no picture"),
            ("echo nothing > out.png", "made no picture"), ("sleep 60", "took longer"),
        ]
        for (script, message) in scripts {
            var scaler = try Self.scaler(script, grocery)
            scaler.timeout = script.hasPrefix("sleep") ? 0.2 : 30
            let error = #expect(throws: ToolkitError.self) { try scaler.thumbnail(of: picture, width: 66, height: 66) }
            #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test func whatIsTooLargeOrNoPictureIsRefusedBeforeTheToolRuns() throws {
        let grocery = try Grocery()
        var scaler = try Self.scaler("touch \(grocery.folder.path)/ran; exit 1", grocery)
        scaler.maximumBytes = 1000
        scaler.maximumPixels = 100 * 100
        // 60,000 × 60,000 in a few bytes.
        let huge = Data([
            0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13, 0x49, 0x48, 0x44, 0x52, 0, 0, 0xEA, 0x60, 0, 0,
            0xEA, 0x60,
        ])
        for (data, message) in [
            (Data("push graphic-context".utf8), "no picture"), (Data(count: 2000), "maximumBytes"),
            (huge, "maximumPixels"),
        ] {
            let error = #expect(throws: ToolkitError.self) { try scaler.thumbnail(of: data, width: 66, height: 66) }
            #expect(error?.message.contains(message) == true)
        }
        #expect(!FileManager.default.fileExists(atPath: "\(grocery.folder.path)/ran"))
        #expect(throws: ToolkitError.self) { try SystemImageScaler(path: "/nowhere") }
    }

    private static let missing = "no vipsthumbnail, magick or convert in PATH (Debian: apt-get install libvips-tools)"

    @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
    func aToolForPicturesIsInstalled() { #expect((try? SystemImageScaler()) != nil, "\(Self.missing)") }

    @Test(.enabled(if: (try? SystemImageScaler()) != nil, "\(missing)"))
    func theSystemsToolMakesAPictureOfAPicture() throws {
        let scaler = try SystemImageScaler()
        let header = try ImageHeader(
            try scaler.thumbnail(of: SmallPicture(0xFF8800, size: 100).png, width: 66, height: 40))
        #expect(header.format == .png && header.width == 40 && header.height == 40)
    }
}
