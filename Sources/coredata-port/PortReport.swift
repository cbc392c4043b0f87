import CoreDataPorting
import CoreDataPrimitives
import Foundation

/// What was changed, what is left out and why, for programs.
struct PortReport: Encodable {
    struct File: Encodable {
        var path: String
        /// Where it was written; `nil` where nothing was.
        var written: String?
        var isLeftOut: Bool
        /// The frameworks that the file cannot do without, where it is left out.
        var neededFrameworks: [String]
        /// Those that are made: none of a file that is left out.
        var changes: [Change]
        /// What is left out and why, and what could not be changed.
        var remarks: [Remark]
    }

    struct Change: Encodable {
        var line: Int
        var column: Int
        /// `keyPath`, `leftOut`, `conditionalImport` …
        var kind: String
        var summary: String
        var before: String
        var after: String
    }

    struct Remark: Encodable {
        var line: Int?
        var column: Int?
        var severity: String
        var message: String
        var hint: String?
    }

    /// A module of another package or target, on which the target that compiles the result has to depend.
    struct Module: Encodable {
        var name: String
        var path: String?
        var line: Int
        var column: Int
    }

    var changeCount: Int
    var changedFileCount: Int
    /// The number of remarks that require work: all but notes.
    var remarkCount: Int
    var leftOutFileCount: Int
    var files: [File]
    var modules: [Module]
    /// Models that were copied to the output, relative to it.
    var models: [String]

    /// - Parameters:
    ///   - written: where each source was written, in the order of the sources.
    ///   - models: the models that were copied.
    init(
        _ ported: [PortedSource], written: [String?], modules: [PortedSource.OtherModule], models: [String]
    ) {
        let changed = ported.filter { $0.isChanged && !$0.isLeftOut }
        changeCount = changed.map(\.changes.count).reduce(0, +)
        changedFileCount = changed.count
        remarkCount = ported.map(\.placesToSeeTo).reduce(0, +)
        leftOutFileCount = ported.count(where: \.isLeftOut)
        files = zip(ported, written).map { source, written in
            File(
                path: source.path, written: written, isLeftOut: source.isLeftOut,
                neededFrameworks: source.neededFrameworks,
                changes: source.isLeftOut ? [] : source.changes.map(Self.change),
                remarks: source.remarks.map(Self.remark))
        }
        self.modules = modules.map { module in
            let place = module.location
            return Module(name: module.name, path: place.file, line: place.line, column: place.column)
        }
        self.models = models
    }

    private static func change(_ change: PortChange) -> Change {
        Change(
            line: change.location.line, column: change.location.column, kind: change.kind.identifier,
            summary: change.summary, before: change.before, after: change.after)
    }

    private static func remark(_ remark: Diagnostic) -> Remark {
        Remark(
            line: remark.location?.line, column: remark.location?.column, severity: remark.severity.rawValue,
            message: remark.message, hint: remark.hint)
    }

    /// The report as JSON, keys sorted.
    var json: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
