import ArgumentParser
import CoreDataPorting
import Foundation

/// `coredata port`
struct PortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "port",
        abstract: "Rewrites Swift sources for Apple's Core Data so that they compile here.",
        discussion: """
            Rewrites what needs the Objective-C runtime or a module that exists on Apple's platforms only: @objc, \
            #keyPath, #selector of observers and properties, override init(entity:insertInto:), overrides in \
            extensions, imports; adds imports that are missing. Everything else stays byte for byte; what is in \
            #if canImport(UIKit), #if os(macOS) and the like, too. Lists each change and what cannot be \
            changed, with file, line and column. Sources of one module are ported together. A file that needs a \
            user interface is left out.

            Without --output and --in-place it lists and writes nothing. To compile one source tree on both sides \
            use the build plug-in CoreDataPortPlugin instead.

            EXAMPLES
              coredata port Sources/Model
              coredata port Sources/Model --output Ported/Model
              coredata port Sources/Model --in-place
              coredata port Sources/Model --check
            """)

    @Argument(help: "A Swift file, or a folder with all Swift files of a module.", completion: .file())
    var path: String

    @Option(help: "Write the sources to this folder, changed or not.")
    var output: String?

    @Flag(help: "Write each changed source to its own file, in one step.")
    var inPlace = false

    @Flag(help: "Write nothing; exit with 1 when something would change.")
    var check = false

    func validate() throws {
        if [output != nil, inPlace, check].count(where: { $0 }) > 1 {
            throw ValidationError("Give one of --output, --in-place and --check.")
        }
    }

    func run() throws {
        if let output, Self.isSame(output, path) { throw ToolFailure("To write to \(path) itself use --in-place.") }
        let folder = try SourceFolder(at: path, excluding: output)
        guard !folder.sources.isEmpty else { throw ToolFailure("There are no Swift files in \(path).") }
        let ported = Porter.port(folder.sources)
        for source in ported { list(source) }
        try write(ported, at: folder.relativePaths)
        print(summary(of: ported))
        if check, ported.contains(where: { $0.isChanged && !$0.isLeftOut }) { throw ExitCode(1) }
    }

    private func list(_ source: PortedSource) {
        // What is left out is told in one remark; its changes are not made.
        for change in source.changes where !source.isLeftOut {
            print("\(source.path):\(change.location.line):\(change.location.column): \(change.summary)")
        }
        if !source.remarks.isEmpty { print(source.remarks.rendered) }
    }

    private func write(_ ported: [PortedSource], at relativePaths: [String]) throws {
        for (source, relativePath) in zip(ported, relativePaths) where !source.isLeftOut {
            if let output {
                let url = URL(fileURLWithPath: output).appendingPathComponent(relativePath)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Self.write(source.written, to: url.path)
            } else if inPlace, source.isChanged {
                try Self.write(source.written, to: source.path)
            }
        }
    }

    /// Puts the text in a file's place in one step; its permissions stay.
    private static func write(_ text: String, to path: String) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let permissions = try? FileManager.default.attributesOfItem(atPath: target)[.posixPermissions]
        let file = try TextOutput(path: target)
        do {
            try file.write(text)
            try file.finish()
        } catch {
            file.cancel()
            throw error
        }
        if let permissions {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: target)
        }
    }

    private func summary(of ported: [PortedSource]) -> String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
        let changed = ported.filter { $0.isChanged && !$0.isLeftOut }
        var text = counted(changed.map(\.changes.count).reduce(0, +), "change", "changes")
        text += " in \(changed.count) of \(counted(ported.count, "file", "files"))"
        let remarks = ported.map(\.remarks.count).reduce(0, +)
        if remarks > 0 { text += ", \(counted(remarks, "place", "places")) to see to" }
        let leftOut = ported.count(where: \.isLeftOut)
        if leftOut > 0 { text += ", \(counted(leftOut, "file", "files")) left out" }
        if output == nil, !inPlace, !changed.isEmpty { text += "; nothing written" }
        return text
    }

    private static func isSame(_ a: String, _ b: String) -> Bool {
        URL(fileURLWithPath: a).resolvingSymlinksInPath().path
            == URL(fileURLWithPath: b).resolvingSymlinksInPath().path
    }
}
