import Foundation
import Testing

@Suite struct PortTests {
    private static let book = """
        import CoreData

        @objc(Book)
        class Book: NSManagedObject {
            static let key = #keyPath(Book.author.name)
        }

        """
    private static let ported = """
        import CoreData

        class Book: NSManagedObject {
            static let key = "author.name"
        }

        """

    /// A folder of sources, and where it is.
    private func makeSources(in scratch: Scratch) throws -> String {
        let folder = scratch.folder.appendingPathComponent("Model/Shelf")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        _ = try scratch.write(Self.book, to: "Model/Book.swift")
        _ = try scratch.write("struct Plain {}\n", to: "Model/Shelf/Plain.swift")
        let version = folder.appendingPathComponent("Shelf.xcdatamodeld/Shelf.xcdatamodel")
        try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
        try "<model/>".write(to: version.appendingPathComponent("contents"), atomically: true, encoding: .utf8)
        _ = try scratch.write("import UIKit\nfinal class Screen: UIViewController {}\n", to: "Model/Screen.swift")
        return scratch.path("Model")
    }

    @Test func changesAreListedAndNothingIsWritten() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let run = try CommandRun.coredata("port", path)
        #expect(run.status == 0, "\(run.error)")
        #expect(
            run.output == """
                \(path)/Book.swift:3:1: removed @objc(Book)
                \(path)/Book.swift:5:22: #keyPath(Book.author.name) -> "author.name"
                \(path)/Screen.swift:2:21: warning: left out: 'UIViewController' needs UIKit, which does not exist here
                    final class Screen: UIViewController {}
                                        ^
                2 changes in 1 of 3 files, 1 place to see to, 1 file left out; nothing written

                """)
        #expect(try scratch.read("Model/Book.swift") == Self.book)
    }

    private struct Report: Decodable {
        struct File: Decodable {
            var path: String
            var written: String?
            var isLeftOut: Bool
            var neededFrameworks: [String]
            var changes: [Change]
            var remarks: [Remark]
        }
        struct Change: Decodable, Equatable {
            var line: Int
            var column: Int
            var kind: String
            var summary: String
            var before: String
            var after: String
        }
        struct Remark: Decodable, Equatable {
            var line: Int?
            var column: Int?
            var severity: String
            var message: String
            var hint: String?
        }
        struct Module: Decodable { var name: String }
        var changeCount: Int
        var changedFileCount: Int
        var remarkCount: Int
        var leftOutFileCount: Int
        var files: [File]
        var modules: [Module]
        var models: [String]
    }

    @Test func aReportForProgramsHasChangesAndWhatIsLeftOut() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        _ = try scratch.write(
            "import Alamofire\nimport CoreData\nstruct A {}\n#Preview { Screen() }\n", to: "Model/Shelf/Plain.swift")
        let run = try CommandRun.coredata("port", path, "--output", scratch.path("Ported"), "--json")
        #expect(run.status == 0 && run.error.isEmpty, "\(run.error)")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(report.changeCount == 3 && report.changedFileCount == 2)
        #expect(report.remarkCount == 1 && report.leftOutFileCount == 1)
        #expect(report.modules.map(\.name) == ["Alamofire"] && report.models == ["Shelf/Shelf.xcdatamodeld"])
        let book = try #require(report.files.first { $0.path.hasSuffix("Book.swift") })
        #expect(
            book.changes == [
                .init(
                    line: 3, column: 1, kind: "objectiveCAttribute", summary: "removed @objc(Book)",
                    before: "@objc(Book)", after: ""),
                .init(
                    line: 5, column: 22, kind: "keyPath", summary: #"#keyPath(Book.author.name) -> "author.name""#,
                    before: "#keyPath(Book.author.name)", after: #""author.name""#),
            ])
        #expect(!book.isLeftOut && book.remarks.isEmpty && book.written == scratch.path("Ported/Book.swift"))
        let screen = try #require(report.files.first { $0.path.hasSuffix("Screen.swift") })
        #expect(screen.isLeftOut && screen.written == nil && screen.changes.isEmpty)
        #expect(screen.neededFrameworks == ["UIKit"])
        #expect(
            screen.remarks == [
                .init(
                    line: 2, column: 21, severity: "warning",
                    message: "left out: 'UIViewController' needs UIKit, which does not exist here")
            ])
        let plain = try #require(report.files.first { $0.path.hasSuffix("Plain.swift") })
        #expect(plain.changes.map(\.kind) == ["leftOut"] && plain.changes.map(\.line) == [4])
        #expect(plain.remarks.map(\.severity) == ["note"])
    }

    @Test func aReportForProgramsOfACheckWritesNothing() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let run = try CommandRun.coredata("port", path, "--check", "--json")
        let report = try JSONDecoder().decode(Report.self, from: Data(run.output.utf8))
        #expect(run.status == 1 && report.changeCount == 2 && report.models.isEmpty)
        #expect(report.files.allSatisfy { $0.written == nil })
        let settled = try CommandRun.coredata("port", path + "/Shelf", "--check", "--json")
        #expect(settled.status == 0, "\(settled.output)")
        let wrong = try CommandRun.coredata("port", scratch.path("Nowhere"), "--json")
        #expect(wrong.status == 2 && wrong.output.isEmpty && !wrong.error.isEmpty)
    }

    @Test func checkFailsWhereSomethingWouldChange() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        #expect(try CommandRun.coredata("port", "--check", path).status == 1)
        #expect(try CommandRun.coredata("port", "--check", path + "/Shelf").status == 0)
        #expect(try CommandRun.coredata("port", "--check", path + "/Screen.swift").status == 0)
        #expect(try scratch.read("Model/Book.swift") == Self.book)
    }

    @Test func checkFailsWhereAPlaceMustBeSeenToByHand() throws {
        let scratch = try Scratch()
        _ = try scratch.write(
            "import Foundation\nlet known = NSHashTable<NSObject>.weakObjects()\n",
            to: "Add.swift")
        let run = try CommandRun.coredata("port", "--check", scratch.path("Add.swift"))
        #expect(run.status == 1)
        #expect(run.output.contains("place to see to"), "\(run.output)")
    }

    @Test func sourcesAreWrittenToAFolder() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let run = try CommandRun.coredata("port", path, "--output", scratch.path("Ported"))
        #expect(run.status == 0, "\(run.error)")
        #expect(try scratch.read("Ported/Book.swift") == Self.ported)
        #expect(try scratch.read("Ported/Shelf/Plain.swift") == "struct Plain {}\n")
        #expect(try scratch.read("Ported/Shelf/Shelf.xcdatamodeld/Shelf.xcdatamodel/contents") == "<model/>")
        #expect(run.lines.last?.hasSuffix(", 1 model copied") == true, "\(run.output)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("Ported/Screen.swift")))
        #expect(try CommandRun.coredata("port", "--check", scratch.path("Ported")).status == 0)
        // What is there by now may have been edited.
        let edited = try scratch.write("// Edited.\n", to: "Ported/Shelf/Plain.swift")
        try FileManager.default.removeItem(atPath: scratch.path("Ported/Book.swift"))
        let again = try CommandRun.coredata("port", path, "--output", scratch.path("Ported"))
        #expect(
            again.status == 2 && again.error == "error: There is something at \(edited) already; --force replaces it.\n"
        )
        #expect(!FileManager.default.fileExists(atPath: scratch.path("Ported/Book.swift")))
        #expect(try CommandRun.coredata("port", path, "--output", scratch.path("Ported"), "--force").status == 0)
        #expect(try scratch.read("Ported/Shelf/Plain.swift") == "struct Plain {}\n")
        #expect(try scratch.read("Ported/Book.swift") == Self.ported)
        #expect(try CommandRun.coredata("port", path, "--force").status != 0)
    }

    @Test func folderOfResultsInsideTheSourcesIsNoSource() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        for _ in 0..<2 {
            let run = try CommandRun.coredata("port", path, "--output", path + "/Ported", "--force")
            #expect(run.lines.last?.hasPrefix("2 changes in 1 of 3 files") == true)
        }
    }

    @Test func filesAreReplacedInPlace() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let file = scratch.path("Model/Book.swift")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        #expect(try CommandRun.coredata("port", "--in-place", path).status == 0)
        #expect(try scratch.read("Model/Book.swift") == Self.ported)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
        #expect(try scratch.read("Model/Screen.swift").hasPrefix("import UIKit\nfinal"))
        let again = try CommandRun.coredata("port", "--in-place", path)
        #expect(again.lines.last?.hasPrefix("0 changes in 0 of 3 files") == true)
    }

    @Test func wrongInputIsRefused() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        #expect(try CommandRun.coredata("port", scratch.path("Nowhere")).error.contains("There is no file or folder"))
        #expect(try CommandRun.coredata("port", path, "--output", path + "/").status == 2)
        #expect(try CommandRun.coredata("port", path, "--in-place", "--check").status == 2)
        let empty = scratch.folder.appendingPathComponent("Empty")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        #expect(try CommandRun.coredata("port", empty.path).error.contains("no Swift files"))
        try Data([0x66, 0xFF]).write(to: URL(fileURLWithPath: scratch.path("Empty/a.swift")))
        #expect(try CommandRun.coredata("port", empty.path).error.contains("is not UTF-8"))
    }

    // MARK: The program that does the work

    /// `coredata` in a folder of its own, without `coredata-port` beside it.
    private func lonelyTool(in scratch: Scratch) throws -> URL {
        let tool = scratch.folder.appendingPathComponent("bin/coredata")
        try FileManager.default.createDirectory(
            at: tool.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: CommandRun.executable(), to: tool)
        return tool
    }

    @Test func whereNobodyReadsSwiftTheMessageSaysWhatToBuild() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let run = try CommandRun.run(lonelyTool(in: scratch), ["port", path], environment: ["PATH": "/nowhere"])
        #expect(run.status == 2 && run.output.isEmpty)
        #expect(run.error.hasPrefix("error: coredata port needs the program 'coredata-port'"), "\(run.error)")
        #expect(run.error.contains("make install") && run.error.contains("swift build --product coredata-port"))
        let other = try Scratch()
        let model = try CommandRun.run(
            lonelyTool(in: other), ["model", "hash", path + "/Book.swift"], environment: ["PATH": ""])
        #expect(model.status == 2 && model.error.contains("a model in Swift needs the program 'coredata-port'"))
    }

    @Test func theProgramIsFoundInThePathAndThroughALink() throws {
        let scratch = try Scratch()
        let path = try makeSources(in: scratch)
        let built = try CommandRun.executable()
        let inPath = try CommandRun.run(
            lonelyTool(in: scratch), ["port", "--check", path],
            environment: ["PATH": "/nowhere:" + built.deletingLastPathComponent().path])
        #expect(inPath.status == 1, "\(inPath.error)")
        let link = scratch.folder.appendingPathComponent("link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: built)
        #expect(try CommandRun.run(link, ["port", "--check", path], environment: ["PATH": ""]).status == 1)
    }

    /// The program beside `coredata` is the one that was built with it.
    @Test func theProgramBesideTheToolComesBeforeThePath() throws {
        let scratch = try Scratch()
        let tool = try lonelyTool(in: scratch)
        let port = tool.deletingLastPathComponent().appendingPathComponent("coredata-port")
        try "#!/bin/sh\necho \"$@\"\nexit 1\n".write(to: port, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: port.path)
        let run = try CommandRun.run(tool, ["port", "a b", "--output", "c"])
        #expect(run.output == "port a b --output c\n" && run.status == 1)
    }
}
