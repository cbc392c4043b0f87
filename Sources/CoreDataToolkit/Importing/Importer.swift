import CoreData
import Foundation

/// Makes objects of the records of a file, or finds and changes them: nothing is there twice.
///
///     let importer = try Importer(stack, unique: ["Item": "name", "Unit": "name"])
///     let summary = try await importer.importRecords(
///         from: .file(url), as: "Item", map: ["unit": "unit.name"])
///     print("\(summary.records) records, \(summary.entities["Item"]?.created ?? 0) new items")
///
/// A field is for the property of its name, in any case. Names with dots, and the map, lead to properties of related objects,
/// which are found by their unique attributes, or made. A field for a to-one relationship itself takes the value of its
/// destination's one unique attribute. Fields that a record lacks are left as they are.
///
/// Objects are looked up with one statement for each entity and batch, not one for each record, and memory is bounded by the batch.
public struct Importer: Sendable {
    /// How many records are saved at once; a batch is saved whole or not at all.
    public var batchSize = 500
    /// Whether invalid records are left out and listed in the summary; else the first one stops the import.
    public var skipsInvalid = false
    /// Whether objects that are there stay as they are, and records only make those that are not.
    public var keepsExisting = false

    let coordinator: NSPersistentStoreCoordinator
    let uniques: UniqueAttributes
    private let stack: CoreDataStack?

    /// Makes an importer for a stack, whose view context has everything when an import returns.
    ///
    /// - Parameter unique: by the name of the entity, the attribute that tells its objects apart. Without one the uniqueness
    ///   constraints of the model count; an entity with neither gets a new object for every record.
    /// - Throws: a ``ToolkitError`` for an entity or attribute that the model has not.
    public init(_ stack: CoreDataStack, unique: [String: String] = [:]) throws {
        try self.init(stack, unique: unique.mapValues { [$0] })
    }

    /// Makes an importer for a stack; several attributes of one entity tell its objects apart together.
    public init(_ stack: CoreDataStack, unique: [String: [String]]) throws {
        coordinator = stack.coordinator
        uniques = try UniqueAttributes(unique, in: stack.model)
        self.stack = stack
    }

    /// Makes an importer for the stores of a coordinator.
    public init(_ coordinator: NSPersistentStoreCoordinator, unique: [String: [String]] = [:]) throws {
        self.coordinator = coordinator
        uniques = try UniqueAttributes(unique, in: coordinator.managedObjectModel)
        stack = nil
    }

    // MARK: Records

    /// Where records come from.
    public struct Source: Sendable {
        var records: RecordSource?
        var name: String

        /// A file. Without a format the end of its name tells.
        public static func file(_ url: URL, format: RecordFormat? = nil) -> Source {
            let format = format ?? RecordFormat(fileName: url.lastPathComponent)
            var source = Source(records: nil, name: url.lastPathComponent)
            if let format { source.records = RecordSource(path: url.path, format: format) }
            if url.pathExtension.lowercased() == "tsv" { source.delimiter = "\t" }
            return source
        }

        /// Data that is in memory, such as what was uploaded or fetched.
        ///
        /// - Parameter name: what messages call it.
        public static func data(_ data: Data, format: RecordFormat, name: String = "data") -> Source {
            Source(records: RecordSource(path: name, format: format, contents: data), name: name)
        }

        /// XML: the name of the repeated element, where the root has several kinds.
        public var element: String? {
            get { records?.element }
            set { records?.element = newValue }
        }

        /// CSV: the character between fields, one of ASCII; a comma unless set.
        public var delimiter: Character {
            get { records.map { Character(Unicode.Scalar($0.delimiter)) } ?? "," }
            set { records?.delimiter = newValue.asciiValue ?? UInt8(ascii: ",") }
        }

        /// Whether an empty field of XML or CSV is an empty text; else it is no value, and for a related object no object.
        public var keepsEmpty: Bool {
            get { records?.keepsEmpty ?? false }
            set { records?.keepsEmpty = newValue }
        }
    }

    /// Imports all records, in batches, on a queue of its own.
    ///
    /// - Parameters:
    ///   - source: a file or data, of XML, JSON, NDJSON or CSV.
    ///   - entity: the entity that the records are of; `nil` where each tells, as what `coredata export` wrote does.
    ///   - map: which property a field is for, as a key path; with an empty one the field is left out.
    ///   - progress: told after each batch.
    /// - Throws: a ``RecordFailure`` that names line, entity and attribute; a ``ToolkitError`` for what is wrong with entity or
    ///   map; `CancellationError` after the task was cancelled. Batches that were saved before stay: import again to go on.
    @discardableResult
    public func importRecords(
        isolation: isolated (any Actor)? = #isolation, from source: Source, as entity: String? = nil,
        map: [String: String] = [:], progress: ProgressHandler? = nil
    ) async throws -> ImportSummary {
        guard var records = source.records else {
            throw ToolkitError(
                "The name of '\(source.name)' does not tell its format; give one: .xml, .json, .ndjson or .csv.")
        }
        let model = coordinator.managedObjectModel
        let description = try entity.map { try model.entity(called: $0) }
        records.entity = description?.name
        let builders = Passed(try DraftBuilders(model, uniques: uniques, entity: description, maps: map))
        let origin = ImportSource(records: records)
        do {
            let summary = try await BackgroundWork.run { cancellation in
                var run = ImportRun(
                    [origin], builders: builders.value, into: makeContext(), uniques: uniques,
                    batchSize: max(1, batchSize), skipsInvalid: skipsInvalid,
                    keepsExisting: keepsExisting)
                run.progress = { fraction, count in
                    progress?(ToolkitProgress(fractionCompleted: fraction, count: count))
                }
                run.checkContinuing = { try cancellation.check() }
                try run.run()
                return run.summary
            }
            await stack?.mergeNow()
            return summary
        } catch {
            await stack?.mergeNow()
            throw error
        }
    }

    private func makeContext() -> NSManagedObjectContext {
        if let stack { return stack.newImportContext() }
        let context = NSManagedObjectContext(.privateQueue)
        context.persistentStoreCoordinator = coordinator
        return context
    }
}
