import Foundation
import TestSupport
import Testing

@testable import CoreDataZip

@Suite struct ZipTests {
    private static func withFolder<R>(_ body: (URL) throws -> R) throws -> R {
        let folder = try Fixtures.temporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// What is read of an archive: names and contents, or why it is not.
    private static func read(_ data: Data, limit: Int = 1 << 20) throws -> String {
        try withFolder { folder in
            let file = folder.appendingPathComponent("a.zip")
            try data.write(to: file)
            do {
                let reader = try ZipReader(file, limits: .init(bytes: limit, entries: 100))
                return try reader.entries.map { entry in
                    "\(entry.name)=" + String(decoding: try reader.data(of: entry, limit: limit), as: UTF8.self)
                }.joined(separator: " ")
            } catch let failure as ZipFailure { return failure.message }
        }
    }

    @Test func filesComeBackAsTheyWere() throws {
        try Self.withFolder { folder in
            var numbers = SystemRandomNumberGenerator()
            let contents: [String: Data] = [
                "empty": Data(), "text.txt": Data("Grüße".utf8), "folder/zeros": Data(count: 3_000_000),
                "noise": Data((0..<700_000).map { _ in UInt8.random(in: 0...255, using: &numbers) }),
            ]
            let archive = folder.appendingPathComponent("a.zip")
            let writer = try ZipWriter(to: archive)
            for (name, data) in contents {
                let file = folder.appendingPathComponent("source")
                try data.write(to: file)
                try writer.add(file, as: name)
            }
            try writer.finish()
            let reader = try ZipReader(archive)
            #expect(reader.entries.count == contents.count)
            for entry in reader.entries {
                let data = try reader.data(of: entry, limit: 1 << 30)
                #expect(data == contents[entry.name])
            }
            let zeros = try #require(reader.entries.first { $0.name == "folder/zeros" })
            #expect(zeros.compressedSize < 10_000)
        }
    }

    @Test(.enabled(if: ContinuousIntegration.isOn, "\(ContinuousIntegration.isOff)"))
    func pythonIsInstalled() { #expect(Python.isInstalled, "\(Python.missing)") }

    @Test(.enabled(if: Python.isInstalled, "\(Python.missing)"))
    func anotherProgramReadsWhatIsWritten() throws {
        let python = URL(fileURLWithPath: try #require(Python.path))
        try Self.withFolder { folder in
            let archive = folder.appendingPathComponent("a.zip")
            let writer = try ZipWriter(to: archive)
            try writer.add(Data("one".utf8), as: "größe/one.txt")
            try writer.add(Data(count: 100_000), as: "two")
            try writer.finish()
            let process = Process()
            process.executableURL = python
            process.arguments = [
                "-c",
                "import sys,zipfile;z=zipfile.ZipFile(sys.argv[1]);print(z.testzip(), z.namelist(), z.read('größe/one.txt'))",
                archive.path,
            ]
            let pipe = Pipe()
            process.standardOutput = pipe
            try process.run()
            let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            #expect(output == "None ['größe/one.txt', 'two'] b'one'\n")
        }
    }

    @Test func anHonestArchiveIsRead() throws {
        #expect(try Self.read(RawZip(.init(name: "a"), .init(name: "b/c", bytes: [120])).data) == "a=hello b/c=x")
        let deflated = Array(try Deflate.compress(Data("hello".utf8)))
        var entry = RawZip.Entry(name: "a", bytes: deflated, method: 8, size: 5)
        var crc = CRC32()
        crc.add(Array("hello".utf8)[...])
        entry.crc = crc.value
        #expect(try Self.read(RawZip(entry).data) == "a=hello")
    }

    private static let liars: [(RawZip, String)] = [
        (RawZip(.init(name: "../evil")), "leads out of its folder"),
        (RawZip(.init(name: "a/../../evil")), "leads out of its folder"),
        (RawZip(.init(name: "/etc/passwd")), "leads out of its folder"),
        (RawZip(.init(name: "a\\..\\evil")), "leads out of its folder"),
        (RawZip(.init(name: "a\u{0}b")), "leads out of its folder"),
        (RawZip(.init(name: "folder/")), "leads out of its folder"),
        (RawZip(.init(name: "a"), .init(name: "a")), "two files of the archive have the name 'a'"),
        (RawZip(.init(name: "a", kind: 0o120777)), "'a' is a link or a device"),
        (RawZip(.init(name: "a", crc: 1)), "the checksum of 'a' is wrong"),
        (RawZip(.init(name: "a", size: 4)), "claims to be larger than it can be"),
        (RawZip(.init(name: "a", localName: "b")), "has another name before its bytes"),
        (RawZip(.init(name: "a", method: 9)), "a method that is not known (9)"),
        (RawZip(.init(name: "a", flags: 1)), "'a' is encrypted"),
        (RawZip(.init(name: "a", bytes: [1, 2, 3], method: 8, size: 1_000_000)), "larger than it can be"),
        (RawZip(.init(name: "a", bytes: [9, 9, 9], method: 8, size: 100)), "damaged"),
        (RawZip(.init(name: "a", bytes: Array(repeating: 0, count: 2_000_000))), "holds more than 1048576 bytes"),
    ]

    @Test(arguments: liars.indices)
    func liarsAreRefused(index: Int) throws {
        let (archive, message) = Self.liars[index]
        let result = try Self.read(archive.data)
        #expect(result.contains(message), "\(result)")
    }

    @Test func entriesThatShareBytesAreRefused() throws {
        var archive = RawZip(.init(name: "a"), .init(name: "b"))
        archive.offsets = [1: 0]
        let result = try Self.read(archive.data)
        #expect(result.contains("shares its bytes") || result.contains("another name"), "\(result)")
    }

    /// A bomb says that it is small.
    @Test func bytesBeyondTheSizeAreRefused() throws {
        let bomb = Array(try Deflate.compress(Data(count: 500_000)))
        let result = try Self.read(RawZip(.init(name: "a", bytes: bomb, method: 8, size: 10)).data)
        #expect(result.contains("holds more bytes than it says"), "\(result)")
    }

    @Test func whatIsNoArchiveIsTold() throws {
        #expect(try Self.read(Data()).contains("no zip archive"))
        #expect(try Self.read(Data("hello, this is a text and no archive at all".utf8)).contains("no zip archive"))
        let whole = RawZip(.init(name: "a"), .init(name: "b")).data
        // Cut anywhere, it is refused, and nothing stops the program.
        for count in 0..<whole.count {
            let result = try Self.read(whole.prefix(count))
            #expect(!result.contains("=hello"), "\(count): \(result)")
        }
        var zip64 = RawZip(.init(name: "a"))
        zip64.countAtEnd = 0xFFFF
        #expect(try Self.read(zip64.data).contains("zip64"))
    }

    /// Each byte in turn is another one: read as it was, or refused.
    @Test func damagedBytesAreNoticedOrMeanNothing() throws {
        let whole = RawZip(.init(name: "ab"), .init(name: "cd")).data
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0x41
            let result = try Self.read(damaged)
            // Times and versions mean nothing here.
            #expect(result == "ab=hello cd=hello" || !result.contains("="), "\(index): \(result)")
        }
    }

    @Test func limitsHoldForWholeData() throws {
        let data = try Deflate.compress(Data(count: 1000))
        #expect(try Deflate.decompress(data, limit: 1000).count == 1000)
        #expect(throws: ZipFailure.self) { try Deflate.decompress(data, limit: 999) }
        #expect(throws: ZipFailure.self) { try Deflate.decompress(data.dropLast(2), limit: 1000) }
    }
}
