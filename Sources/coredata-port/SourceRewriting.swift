import CoreDataPorting
import CoreDataPrimitives
import Foundation

/// Ports a file or folder for people: lists each change, and writes where it is told to.
struct SourceRewriting {
    private let path: String
    private var output: String?
    private var isReplacing = false
    private var isInPlace = false
    private var isChecking = false
    private var printsJSON = false

    init(arguments: ArraySlice<String>) throws(UsageFailure) {
        var rest = arguments
        var path: String?
        while let argument = rest.popFirst() {
            switch argument {
            case "--output":
                guard let folder = rest.popFirst() else { throw UsageFailure() }
                output = folder
            case "--force": isReplacing = true
            case "--in-place": isInPlace = true
            case "--check": isChecking = true
            case "--json": printsJSON = true
            default:
                guard path == nil else { throw UsageFailure() }
                path = argument
            }
        }
        guard let path else { throw UsageFailure() }
        self.path = path
    }

    /// Whether nothing was found that should not be there.
    func run() throws -> Bool {
        if let output, Self.isSame(output, path) { throw PortFailure("To write to \(path) itself use --in-place.") }
        let folder = try SourceFolder(at: path, excluding: output)
        guard !folder.sources.isEmpty else { throw PortFailure("There are no Swift files in \(path).") }
        let ported = Porter.port(folder.sources)
        if !printsJSON {
            for source in ported { list(source) }
            for module in otherModules(of: ported) { list(module) }
        }
        let written = try write(ported, at: folder.relativePaths, models: folder.modelPaths)
        if printsJSON {
            let models = output == nil ? [] : folder.modelPaths
            let report = PortReport(ported, written: written, modules: otherModules(of: ported), models: models)
            print(try report.json)
        } else {
            print(summary(of: ported, models: folder.modelPaths.count))
        }
        // A file that is left out needs no work.
        return !isChecking || !ported.contains { !$0.isLeftOut && ($0.isChanged || !$0.isSettled) }
    }

    private func list(_ source: PortedSource) {
        // What is left out is told in one remark; its changes are not made.
        for change in source.changes where !source.isLeftOut {
            print("\(source.path):\(change.location.line):\(change.location.column): \(change.summary)")
        }
        if !source.remarks.isEmpty { print(source.remarks.rendered) }
    }

    /// Each module once: the sources compile here only where it does.
    private func otherModules(of ported: [PortedSource]) -> [PortedSource.OtherModule] {
        var names: Set<String> = []
        return ported.filter { !$0.isLeftOut }.flatMap(\.otherModules).filter { names.insert($0.name).inserted }
    }

    private func list(_ module: PortedSource.OtherModule) {
        let place = module.location
        print(
            "\(place.file ?? ""):\(place.line):\(place.column): note: '\(module.name)' is a module of another package or target: "
                + "the target that compiles the result has to depend on it")
    }

    /// - Returns: where each source was written; `nil` for one that was not.
    private func write(
        _ ported: [PortedSource], at relativePaths: [String], models: [String]
    ) throws -> [String?] {
        let written = zip(ported, relativePaths).filter { !$0.0.isLeftOut }
        if let output, !isReplacing {
            // Before any of them is written.
            for relativePath in written.map(\.1) + models {
                let path = Self.url(relativePath, in: output).path
                guard FileManager.default.fileExists(atPath: path) else { continue }
                throw PortFailure("There is something at \(path) already; --force replaces it.")
            }
        }
        let places = try zip(ported, relativePaths).map { source, relativePath -> String? in
            guard !source.isLeftOut else { return nil }
            if let output {
                let url = Self.url(relativePath, in: output)
                try FileManager.default.createDirectory(
                    at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Self.write(source.written, to: url.path)
                return url.path
            }
            guard isInPlace, source.isChanged else { return nil }
            try Self.write(source.written, to: source.path)
            return source.path
        }
        guard let output else { return places }
        for model in models { try Self.copy("\(path)/\(model)", to: Self.url(model, in: output)) }
        return places
    }

    /// Copies a model as it is; one that is there is replaced when the copy is whole.
    private static func copy(_ model: String, to target: URL) throws {
        let manager = FileManager.default
        let folder = target.deletingLastPathComponent()
        let fresh = folder.appendingPathComponent(".\(UUID().uuidString)")
        defer { try? manager.removeItem(at: fresh) }
        do {
            try manager.createDirectory(at: folder, withIntermediateDirectories: true)
            try manager.copyItem(at: URL(fileURLWithPath: model), to: fresh)
            if manager.fileExists(atPath: target.path) { try manager.removeItem(at: target) }
            try manager.moveItem(at: fresh, to: target)
        } catch {
            throw PortFailure("Cannot write \(target.path): \((error as NSError).localizedDescription)")
        }
    }

    private static func url(_ relativePath: String, in output: String) -> URL {
        URL(fileURLWithPath: output).appendingPathComponent(relativePath)
    }

    /// Puts the text in a file's place in one step; its permissions stay, and a link leads where it did.
    private static func write(_ text: String, to path: String) throws {
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
        let permissions = try? FileManager.default.attributesOfItem(atPath: target.path)[.posixPermissions]
        do {
            try Data(text.utf8).write(to: target, options: .atomic)
        } catch {
            throw PortFailure("Cannot write \(path): \((error as NSError).localizedDescription)")
        }
        if let permissions {
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: target.path)
        }
    }

    private func summary(of ported: [PortedSource], models: Int) -> String {
        func counted(_ count: Int, _ one: String, _ many: String) -> String { "\(count) \(count == 1 ? one : many)" }
        let changed = ported.filter { $0.isChanged && !$0.isLeftOut }
        var text = counted(changed.map(\.changes.count).reduce(0, +), "change", "changes")
        text += " in \(changed.count) of \(counted(ported.count, "file", "files"))"
        let remarks = ported.map(\.placesToSeeTo).reduce(0, +)
        if remarks > 0 { text += ", \(counted(remarks, "place", "places")) to see to" }
        let leftOut = ported.count(where: \.isLeftOut)
        if leftOut > 0 { text += ", \(counted(leftOut, "file", "files")) left out" }
        if output != nil, models > 0 { text += ", \(counted(models, "model", "models")) copied" }
        if output == nil, !isInPlace, !changed.isEmpty { text += "; nothing written" }
        return text
    }

    private static func isSame(_ a: String, _ b: String) -> Bool {
        URL(fileURLWithPath: a).resolvingSymlinksInPath().path
            == URL(fileURLWithPath: b).resolvingSymlinksInPath().path
    }
}
